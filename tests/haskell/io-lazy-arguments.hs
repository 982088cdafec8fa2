{-# LANGUAGE BangPatterns #-}
-- Arguments, fields and elements that are never needed, functions that never end, and lists that they give.
module Main where

import Control.Exception
import Data.List
import Data.Maybe (fromJust, fromMaybe)

from :: Int -> [Int]
from n = n : from (n + 1)

-- Endless by conditions.
hailstone :: Int -> [Int]
hailstone n
  | even n = n : hailstone (n `div` 2)
  | otherwise = n : hailstone (3 * n + 1)

data Stream a = Cons a (Stream a)

nats :: Stream Integer
nats = go 0 where go n = Cons n (go (n + 1))

takeS :: Int -> Stream a -> [a]
takeS 0 _ = []
takeS n (Cons x s) = x : takeS (n - 1) s

data Rose = Rose Int [Rose]

rose :: Int -> Rose
rose n = Rose n [rose (2 * n), rose (2 * n + 1)]

levels :: Rose -> [[Int]]
levels t = map (map top) (iterate (concatMap below) [t])
  where
    top (Rose n _) = n
    below (Rose _ ts) = ts

myIf :: Bool -> a -> a -> a
myIf True x _ = x
myIf False _ y = y

class Default a where
  def :: a
  orElse :: Maybe a -> a
  orElse = fromMaybe def

instance Default Int where def = 7
instance Default [a] where def = error "no list"

data Lazy = Lazy Int Bool

size :: Lazy -> Int
size (Lazy n _) = n

digits :: [Int]
digits = unfoldr (\(a, b) -> Just (a `div` b, (10 * (a `mod` b), b))) (1, 7)

safe :: (Int, Int) -> Int
safe ~(a, _) = 5

main :: IO ()
main = do
  print (take 5 (from 1), takeWhile (/= 1) (hailstone 6), takeS 3 nats)
  print (length [1, undefined, error "no"], fst (1, undefined :: Int), snd (error "x" :: Int, 'c'))
  print (take 4 (levels (rose 1)))
  print (myIf True 1 (error "not needed"), myIf False undefined 'y')
  print (orElse (Nothing :: Maybe Int), take 0 (orElse (Just "abc")), size (Lazy 3 undefined))
  print (take 12 digits, foldr (\x k -> x > 10 || k) False (from 1), any (> 5) (from 0))
  print (zip "abc" (from 0), takeWhile (< 30) (scanl (+) 0 (from 1)), lookup 5 (zip (from 1) (cycle "xy")))
  let (small, large) = span (< 4) (from 1)
      groups = groupBy (\a b -> a `div` 3 == b `div` 3) (from 0)
  print (small, take 2 large, take 3 groups, take 3 (tails (from 1) >>= take 1), take 3 (inits (from 1)))
  print (head (filter ((> 100) . (^ 2)) (from 1)), take 3 (nub (cycle [1, 2, 3])), fromJust (find even (from 3)))
  print (take 3 (map fst (iterate (\(a, b) -> (b, a + b)) (0, 1))), take 5 (intersperse 0 (from 1)), take 4 (concat (repeat [1, 2])))
  print (take 5 (foldr (\x xs -> x : map (* x) xs) [] (from 2)), and (map (< 3) (from 1)), take 2 [(x, y) | x <- from 1, y <- [1 .. x], x + y == 7])
  let x = undefined :: Int
      f y = const y x
  print (f 2)
  r <- try (evaluate (seq (error "needed" :: Int) 1)) :: IO (Either ErrorCall Int)
  putStrLn (either (const "caught") show r)
  let !_ = "bang"
  s <- try (return (error "later" :: Int)) :: IO (Either ErrorCall Int)
  putStrLn (either (const "caught") (const "not yet") s)
  print (sum (take 1000 (from 1)), foldl' (+) 0 (take 100000 (from 1)))
