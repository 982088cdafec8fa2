The place of an error is that in the file.

> module Literate.Wrong where
>
> x = 1 + 'c'
