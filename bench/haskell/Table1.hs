{-# LANGUAGE BangPatterns, DeriveTraversable, ExistentialQuantification #-}
{-# OPTIONS_GHC -fno-full-laziness -fno-cse #-} -- a derivative is computed each time that it is asked for
-- The functions of DUAL 2022's Table 1 by Kmett's library `ad`, for bench/haskell.py: Table1 FUNCTION N results, or Table1 FUNCTION N SECONDS. The
-- points are those of bench/ladders.cot. `results` prints all numbers that the derivative gives at all points; SECONDS measures for so long, and
-- prints the processor time of one derivative at all points.
module Main (main) where

import Control.Exception (evaluate)
import Data.Foldable (toList)
import Data.List (foldl')
import Numeric.AD (grad')
import System.CPUTime (getCPUTime)
import System.Environment (getArgs)

-- What the library takes derivatives by: the reals of a point, in order.
data Pair a = Pair a a deriving (Functor, Foldable, Traversable)
data Lists a = Lists [a] [a] deriving (Functor, Foldable, Traversable)
data Matrix a = Matrix [[a]] [a] deriving (Functor, Foldable, Traversable)
data Vec3 a = Vec3 a a a deriving (Functor, Foldable, Traversable)
data Turn a = Turn (Vec3 a) a a a a deriving (Functor, Foldable, Traversable)

scalar :: Num a => Pair a -> a
scalar (Pair x y) = x * y

dot :: Num a => [a] -> [a] -> a
dot xs ys = foldl' (+) 0 (zipWith (*) xs ys)

matvec :: Num a => Matrix a -> a
matvec (Matrix rows v) = foldl' (+) 0 (map (\row -> dot row v) rows)

-- The sum of the components: its gradient is the pullback of (1, 1, 1).
rotate :: Num a => Turn a -> a
rotate (Turn v x y z s) = total (scale (2 * dotVec u v) u `add` scale (s * s - dotVec u u) v `add` scale (2 * s) (cross u v))
  where
    u = Vec3 x y z
    total (Vec3 a b c) = a + b + c
    dotVec (Vec3 px py pz) (Vec3 qx qy qz) = px * qx + py * qy + pz * qz
    add (Vec3 px py pz) (Vec3 qx qy qz) = Vec3 (px + qx) (py + qy) (pz + qz)
    scale k (Vec3 a b c) = Vec3 (k * a) (k * b) (k * c)
    cross (Vec3 ax ay az) (Vec3 bx by bz) = Vec3 (ay * bz - az * by) (az * bx - ax * bz) (ax * by - ay * bx)

number :: Int -> Double
number i = fromIntegral (i * 37 `mod` 101 + 1) / 64

numbers :: Int -> Int -> [Double]
numbers from count = [number i | i <- [from .. from + count - 1]]

-- A derivative, which gives the value and the reals of the gradient, and its points.
data Task = forall p. Task (p -> (Double, [Double])) [p]

task :: String -> Int -> Task
task "scalar" n = Task (\p -> toList <$> grad' scalar p) [Pair (number (2 * i)) (number (2 * i + 1)) | i <- [0 .. n - 1]]
task "dot" n = Task (\p -> toList <$> grad' (\(Lists xs ys) -> dot xs ys) p) [Lists (numbers 0 n) (numbers n n)]
task "matvec" n = Task (\p -> toList <$> grad' matvec p) [Matrix [numbers (side * i) side | i <- [0 .. side - 1]] (numbers (side * side) side)]
  where side = round (sqrt (fromIntegral n :: Double)) :: Int
task "rotate" n = Task (\p -> toList <$> grad' rotate p) (map turn [0 .. n - 1])
  where turn i = let x j = number (7 * i + j) in Turn (Vec3 (x 0) (x 1) (x 2)) (x 3) (x 4) (x 5) (x 6)
task name _ = error ("no function " ++ name)

-- All of a result is evaluated.
forced :: (Double, [Double]) -> Double
forced (y, g) = foldl' (+) y g

-- k rounds over all points.
rounds :: (p -> (Double, [Double])) -> [p] -> Int -> Double -> IO Double
rounds f points k !acc
  | k == 0 = return acc
  | otherwise = through points acc >>= rounds f points (k - 1)
  where
    through [] !sum' = return sum'
    through (p : ps) !sum' = evaluate (forced (f p)) >>= \x -> through ps (sum' + x)
{-# NOINLINE rounds #-}

main :: IO ()
main = do
  [name, size, what] <- getArgs
  case task name (read size) of
    Task f points
      | what == "results" -> print (concatMap (\p -> let (y, g) = f p in y : g) points)
      | otherwise -> rounds f points 1 0 >> measured 1
      where
        measured k = do
          start <- getCPUTime
          _ <- rounds f points k 0
          end <- getCPUTime
          let seconds = fromIntegral (end - start) / 1e12 :: Double
          if seconds < read what then measured (4 * k) else print (seconds / fromIntegral k)
