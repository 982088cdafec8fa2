-- Lists without end that are made of themselves, or by functions that take their beginning.
module Main where

import Control.Monad

fibs :: [Integer]
fibs = 0 : 1 : zipWith (+) fibs (tail fibs)

primes :: [Int]
primes = 2 : filter isPrime [3, 5 ..]

isPrime :: Int -> Bool
isPrime n = all (\p -> n `mod` p /= 0) (takeWhile (\p -> p * p <= n) primes)

primes' = 2 : [n | n <- [3, 5 ..], all (\p -> n `mod` p /= 0) (takeWhile (\p -> p * p <= n) primes')]

triangles = 1 : zipWith (+) triangles [2 ..]

collatz :: Int -> [Int]
collatz = takeWhile (/= 1) . iterate (\n -> if even n then n `div` 2 else 3 * n + 1)

fizz = zipWith3 choose (cycle ["", "", "Fizz"]) (cycle ["", "", "", "", "Buzz"]) (map show [1 ..])

choose a b c = if null (a ++ b) then c else a ++ b

pascal = iterate (\row -> zipWith (+) (0 : row) (row ++ [0])) [1]

main :: IO ()
main = do
  print (take 10 fibs, fibs !! 100, takeWhile (< 50) fibs)
  print (take 10 primes, takeWhile (< 60) primes, primes !! 300)
  print (take 10 primes', take 6 triangles)
  let powers = 1 : map (* 2) powers
      sums = 0 : scanl (+) 1 sums
      marks = "ab" ++ map succ marks
  print (take 10 powers, takeWhile (< 100) sums, take 7 marks)
  print (collatz 6, map (length . takeWhile (< 50) . iterate (* 2)) [1, 2, 3])
  putStrLn (unwords (take 15 fizz))
  mapM_ print (take 4 pascal)
  zipWithM_ (\i s -> putStrLn (show i ++ ": " ++ s)) [1 ..] ["a", "b"]
  zipWithM (\s i -> print (s, i) >> return (i * 2)) "xy" [10, 20 ..] >>= print
  print (take 2 (zip3 [1 ..] (repeat 'x') (cycle [True, False])), ones 3)
  print (even' 10, head (dropWhile (< 1000) (map (^ 2) (enumFrom 1))))
  where
    ones n = take n xs
      where xs = 1 : xs
    even' n = take n evens
    evens = 0 : map (+ 2) evens
