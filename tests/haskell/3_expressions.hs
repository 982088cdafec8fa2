-- Haskell 98 Report, chapter 3: expressions and patterns.
module Expressions where

data Point = Point { px :: Int, py :: Int } | Origin deriving (Eq, Show)
data Op = Int :+: Int | Int `Minus` Int deriving (Eq, Show)
infixl 6 :+:
infixl 5 `Minus`
newtype Wrap a = Wrap { unwrap :: a } deriving (Eq, Show)

-- 3.2, 3.3, 3.4: variables, application, operators, negation
applied, negated :: [Int]
applied = [(+) 1 2, negate 3, max 4 5, 7 `div` 2, (`div` 2) 9, (2 ^) 10, (subtract 1) 5]
negated = [- 5, -2 ^ 2, (- 5) + 1, 3 - (-2), negate (-4), let f = \x -> -x in f 3]

-- 3.5 sections
sections :: ([Int], [Int], [Bool], [Int])
sections = (map (subtract 2) [5, 6], map (2 -) [5, 6], map (`elem` [1, 2]) [1, 3], map (+ 1 * 2) [1])

-- 3.6, 3.7, 3.8, 3.9: conditionals, lists, tuples, unit
conditionals :: Int -> String
conditionals n = if n < 0 then "negative" else if n == 0 then "zero" else "positive"

tuples :: ((Int, Char), (,) Int Bool, (,,) Int Int Int)
tuples = ((1, 'a'), (,) 2 True, (,,) 1 2 3)

-- 3.10, 3.11: sequences and comprehensions
sequences :: ([Int], [Int], [Int], [Char], [Double], [Int], [Double])
sequences = ([1 .. 5], [1, 3 .. 9], [10, 8 .. 1], ['a' .. 'f'], [1.0 .. 3.5], [5 .. 1], [0.1, 0.3 .. 1.0])

comprehensions :: ([Int], [(Int, Char)], [Int], [Int], [[Int]])
comprehensions =
  ( [x * x | x <- [1 .. 5], odd x]
  , [(x, c) | x <- [1, 2], c <- "ab"]
  , [y | Just y <- [Just 1, Nothing, Just 3]]
  , [z | x <- [1 .. 3], let z = x * 10, z > 10]
  , [[j | j <- [1 .. i]] | i <- [1 .. 3]] )

-- 3.12, 3.13: let, where, case, guards, nested and irrefutable patterns
lets :: (Int, Int, [Int])
lets = let (a, b) = (b' + 1, 2); b' = 5; f 0 = []; f n = n : f (n - 1) in (a, b, f 3)

cases :: Maybe [Int] -> String
cases m = case m of
  Nothing -> "none"
  Just [] -> "empty"
  Just [x] | x > 100 -> "big"
           | x > 10, even x -> "even"
  Just (x : _ : rest) | null rest -> "two " ++ show x
  Just xs@(_ : _) -> "list " ++ show (length xs)

literals :: Char -> String -> Double -> Int -> Int
literals 'x' "key" 1.5 (-1) = 1
literals _ ('k' : _) _ n | n < 0 = 2
literals c s _ 0 = length (c : s)
literals _ _ _ _ = 4

-- 3.15 fields: construction, selection, update, patterns
fields :: (Int, Point, Point, Int, Point, Wrap Int)
fields = (px p, p { py = 9 }, Point { py = 1, px = 2 }, f p, p { px = 7, py = 8 }, (Wrap 1) { unwrap = 2 })
  where
    p = Point 3 4
    f Point { px = x } = x
    f Origin {} = 0

-- 3.16 type annotations
annotated :: (Int, Double, [Integer])
annotated = ((3 :: Int), (3 :: Double), [x | x <- [1 .. 3 :: Integer]])

-- 3.17 pattern matching: order, as-patterns, wildcards, n of operators
operators :: Op -> Int
operators (a :+: b) = a + b
operators (a `Minus` b) = a - b

result :: String
result = unlines
  [ show applied, show negated, show sections, show (map conditionals [-1, 0, 1]), show tuples, show sequences
  , show comprehensions, show lets
  , show (map cases [Nothing, Just [], Just [101], Just [12], Just [11], Just [1, 2], Just [1, 2, 3]])
  , show [literals 'x' "key" 1.5 (-1), literals 'x' "key" 2 (-1), literals 'a' "bc" 0 0, literals 'a' "" 0 1]
  , show fields, show annotated, show (map operators [1 :+: 2, 5 `Minus` 3])
  , show [1 :+: 2, 3 `Minus` 4], show (Just (1 :+: (-2)))
  , show (let y = 1; z = 2; in y + z, (\(a, _) [b] -> a + b) (1, 2) [3])
  , show (let (x : y : _, Just z) = ([1, 2, 3], Just 4) in x + y + z)
  , show ((\x -> case x of { (a, b) | a > b -> a; (_, b) -> b }) (3, 5))
  ]
