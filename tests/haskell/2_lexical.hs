-- Haskell 98 Report, chapter 2: lexical structure.
module Lexical where

{- A nested {- comment -} is one comment -}
infixl 6 --|
(--|) :: Int -> Int -> Int
a --| b = a * 10 + b

infixr 5 |>, `plus'`
(|>) :: Int -> [Int] -> [Int]
x |> xs = (x + 1) : xs
plus' :: Int -> Int -> Int
plus' x y = x - y

-- 2.4 identifiers with primes and underscores
x', x'', _y, aB1 :: Int
x' = 1
x'' = 2
_y = 3
aB1 = 4

-- 2.7 layout: explicit braces, mixed, nested, parse-error(t) rule
explicit :: Int
explicit = let { a = 1; b = 2
  ; c = 3 } in a + b + c

oneLine :: Int
oneLine = let a = 1; b = 2 in a + b

inParens :: (Int, Int)
inParens = (case 1 of 1 -> 2; _ -> 3, let z = 5 in z)

nested :: Int -> Int
nested n = case n of
  0 -> let k = 1
           l = 2
       in k + l
  m | even m -> q
    | otherwise -> q + 1
    where q = m `div` 2

operatorsAtLineStart :: Int
operatorsAtLineStart = 1
  + 2
  * 3

result :: String
result = unlines
  [ show (1 --| 2 --| 3)
  , show (1 |> 2 |> [])
  , show (9 `plus'` 4 `plus'` 1)
  , show (x', x'', _y, aB1)
  -- 2.5 numeric literals
  , show (0, 42, 0xff, 0XFF, 0o17, 0O17)
  , show [1.5, 1e3, 1.0e-2, 2E2, 6.02e+23, 0.1]
  , show (12345678901234567890 * 10, 0xffffffffffffffffffff, -9223372036854775809)
  -- 2.6 characters and strings
  , show ['a', '\'', '"', '\\', '\n', '\t', '\a', '\b', '\f', '\r', '\v', '\0']
  , show ['\65', '\x41', '\o101', '\^A', '\DEL', '\SOH', '\SO', '\ESC', '\1234', '\x10FFFF']
  , show "tab\tquote\"backslash\\ \SO\&H \SOH \1234\&5 \
         \gap"
  , show ("\x41\&1", "\65\&66", "", "\\", length "\&\&")
  , show (explicit, oneLine, inParens, map nested [0, 4, 5], operatorsAtLineStart)
  , show (let (+++) a b = a ++ b; infixr 5 +++ in "a" +++ "b" +++ "c")
  , show (- 2 `mod` 3, (-2) `mod` 3, negate 2 `mod` 3, 5 - 2 - 1, subtract 1 5)
  ]
