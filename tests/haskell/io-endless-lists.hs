-- Lists without end, whose beginning is taken: in one expression, through names, compositions and comprehensions.
module Main (main) where

import Data.List (elemIndex, findIndex, intersect, isPrefixOf)
import qualified Data.Map as M
import Data.Maybe (mapMaybe)

data Colour = Red | Green | Blue deriving (Show, Eq, Enum, Bounded)

colours, shades :: [Colour]
colours = [minBound ..]
shades = [Red ..]

naturals, evens :: [Integer]
naturals = [0 ..]
evens = filter even naturals

squares :: [Integer]
squares = [n ^ (2 :: Int) | n <- naturals]

indices :: [Int]
indices = [0 ..]

pad :: Int -> String -> String
pad n s = take n (s ++ blanks)
  where blanks = repeat ' '

collatz :: Int -> [Int]
collatz n = takeWhile (/= 1) steps ++ [1]
  where
    steps = iterate next n
    next k
      | even k = k `div` 2
      | otherwise = 3 * k + 1

newton :: Double -> Double
newton a = fst (head (dropWhile far (zip guesses (tail guesses))))
  where
    guesses = iterate (\x -> (x + a / x) / 2) 1
    far (x, y) = abs (x - y) > 1.0e-12

primes :: Int -> [Int]
primes n = take n [p | p <- [2 ..], all (\d -> p `mod` d /= 0) (takeWhile (\d -> d * d <= p) [2 ..])]

labels :: [String]
labels = concatMap (\k -> [c : show k | c <- "ab"]) [1 :: Int ..]

main :: IO ()
main = do
  print (colours, shades, length shades, take 2 shades, zip shades [1 :: Int ..])
  print (take 3 evens, takeWhile (< 30) squares, map (indices !!) [3, 1])
  putStrLn (pad 6 "ab" ++ "|" ++ pad 2 "abc" ++ "|")
  print (collatz 6, primes 10, take 5 labels)
  print (map newton [2, 9])
  let ones = repeat (1 :: Int)
      powers = iterate (* 2) 1 :: [Int]
      triangular = scanl1 (+) [1 ..]
  print (zip "ab" ones, take 5 powers, zipWith (+) ones [1, 2])
  print (takeWhile (< 50) squares `intersect` takeWhile (< 50) triangular)
  print (takeWhile (< 40) . filter odd . map (^ (2 :: Int)) $ [1 :: Int ..], (head . filter (> 10)) (iterate (* 3) (1 :: Int)))
  print (any (> 10) powers, elem 64 powers, all (< 100) [1 :: Int ..], [1, 2] `isPrefixOf` powers)
  print (findIndex (> 20) powers, elemIndex 8 powers, lookup 3 (zip [1 :: Int ..] (cycle "xyz")))
  print (take 4 (0 : map (* 2) [1 :: Int ..]), take 3 (mapMaybe (\k -> if even k then Just (k * k) else Nothing) [1 :: Int ..]))
  print (head [(x, y) | x <- [1 :: Int ..], y <- [1 .. x], x * x + y * y > 50])
  print (M.toList (M.fromList (zip "abc" (cycle [True, False]))))
  mapM_ (\(i, c) -> putStrLn (show i ++ [c])) (zip indices "xy")
