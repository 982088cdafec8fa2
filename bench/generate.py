#!/usr/bin/env python3
"""bench/generate.py LINES [SEED]: a program of that many lines, of the kinds that people write, for timing the front half.

Always the same text for the same arguments. It has no errors, and its `main` runs.
"""
import random
import sys

DATA = """data Shape{n} = Circle{n} Double | Square{n} Double Double | Group{n} [Shape{n}]
  deriving (Eq, Show)

-- | The area of a shape; groups are the sums of their parts.
area{n} :: Shape{n} -> Double
area{n} (Circle{n} r) = pi * r * r
area{n} (Square{n} a b) = a * b
area{n} (Group{n} shapes) = sum (map area{n} shapes)
"""

RECORD = """data Config{n} = Config{n}
  {{ rate{n} :: Double
  , steps{n} :: Int
  , name{n} :: String
  }}

default{n} :: Config{n}
default{n} = Config{n} {{ rate{n} = {x}, steps{n} = {i}, name{n} = "run {n}" }}

faster{n} :: Config{n} -> Config{n}
faster{n} c = c {{ rate{n} = rate{n} c * 2, steps{n} = steps{n} c `div` 2 }}
"""

TREE = """data Tree{n} a = Leaf{n} | Node{n} (Tree{n} a) a (Tree{n} a)

insert{n} :: Ord a => a -> Tree{n} a -> Tree{n} a
insert{n} x Leaf{n} = Node{n} Leaf{n} x Leaf{n}
insert{n} x t@(Node{n} l y r)
  | x < y = Node{n} (insert{n} x l) y r
  | x > y = Node{n} l y (insert{n} x r)
  | otherwise = t

toList{n} tree = go tree []
  where
    go Leaf{n} rest = rest
    go (Node{n} l x r) rest = go l (x : go r rest)
"""

LOOP = """iterate{n} :: Int -> Double -> Double
iterate{n} n x0 = go n x0 0
  where
    go 0 x acc = acc + x
    go k x acc =
      let y = x * {x} + sin acc
          z = if y > {i} then y - {i} else y
      in go (k - 1) z (acc + y * z)
"""

POLYMORPHIC = """-- No signature: its type is inferred, and it is used at two.
combine{n} f g xs = foldr (\\x acc -> f (g x) acc) [] (filter (const True) xs)

both{n} :: ([Double], [Int])
both{n} = (combine{n} (:) (* {x}) [1, 2, {x}], combine{n} (:) (+ {i}) [{i}, 5])
"""

ARRAYS = """dot{n} :: Array Double -> Array Double -> Double
dot{n} xs ys = sum (zipWith (*) xs ys)

loss{n} :: (Array Double, Double) -> Double
loss{n} (ws, b) = (dot{n} ws (build {i} (\\k -> fromIntegral k / {x})) + b - {x}) ^ 2

gradient{n} ws = grad loss{n} (ws, {x})
"""

CASES = """classify{n} :: Maybe Int -> Either String Double -> Int
classify{n} m e = case (m, e) of
  (Nothing, Left _) -> 0
  (Just k, Right x) | k > {i}, x > 0 -> k + truncate x
                    | otherwise -> {i}
  (Just 0, _) -> 1
  (_, Right x) -> round (x * {x})
  _ -> length (show {i}) + {i}
"""

CLASS = """class Metric{n} a where
  distance{n} :: a -> a -> Double
  norm{n} :: a -> Double
  norm{n} x = distance{n} x x

newtype Point{n} = Point{n} (Double, Double)

instance Metric{n} Point{n} where
  distance{n} (Point{n} (a, b)) (Point{n} (c, d)) = sqrt ((a - c) ^ 2 + (b - d) ^ 2)

instance Metric{n} a => Metric{n} [a] where
  distance{n} xs ys = sum [distance{n} x y | (x, y) <- zip xs ys]
"""

TEXT = """describe{n} :: Show a => String -> [a] -> String
describe{n} title items = title ++ ": " ++ concatMap line (zip [1 :: Int ..  length items] items)
  where line (k, item) = show k ++ ". " ++ show item ++ "\\n"
"""

FORMULA = """formula{n} a b c d =
  a * b + c * d - (a + b) * (c - d) / (1 + a * a) + exp (negate (b * b)) * {x} + log (1 + c * c) - sqrt (1 + d * d)
    + (a - {x}) * (b - {x}) * (c - {x}) + max a (min b (max c d)) + sin (a * b) * cos (c * d) ** 2
"""

CHAIN = """pipeline{n} :: [Double] -> Double
pipeline{n} = sum . map (\\x -> x * {x}) . filter (> 0) . map (subtract {x}) . take {i}
"""

PIECES = [DATA, RECORD, TREE, LOOP, POLYMORPHIC, ARRAYS, CASES, CLASS, TEXT, FORMULA, CHAIN]


def program(lines, seed=1):
    rng = random.Random(seed)
    out = ["-- Made by bench/generate.py.", "module Main where", "", "main = iterate0 10 0.5", ""]
    n = 0
    while len(out) < lines:
        piece = LOOP if n == 0 else rng.choice(PIECES)
        text = piece.format(n=n, x=round(rng.uniform(0.1, 9.9), 3), i=rng.randrange(1, 99))
        out.extend(text.split("\n"))
        n += 1
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.stdout.write(program(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
