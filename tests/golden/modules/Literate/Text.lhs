Literate programs
=================

Lines that begin with > are the program:

> module Literate.Text where
>
> double :: Int -> Int
> double x = 2 * x

\begin{code}
  triple :: Int -> Int
  triple x = 3 * x   -- > is an operator here
  larger a b = a > b
\end{code}

What stands elsewhere, as `wrong = (`, is no part of it.
