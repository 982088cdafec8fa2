{-# OPTIONS_GHC -Wall #-}
module Main where
import Data.List (sortBy, intercalate)
import Data.Ord (comparing)
import qualified Data.Set as S

class Show a => Shape a where
  area, perimeter :: a -> Double
  name :: a -> String
  name x = takeWhile (/= ' ') (show x)
  describe :: a -> String
  describe x = name x ++ ": area " ++ show (area x) ++ ", perimeter " ++ show (perimeter x)

data Circle = Circle { radius :: Double } deriving (Show, Read, Eq, Ord)
data Rect = Rect { w, h :: !Double } deriving (Show, Read, Eq, Ord)

instance Shape Circle where
  area c = pi * radius c ^ (2 :: Int)
  perimeter c = 2 * pi * radius c
instance Shape Rect where
  area (Rect a b) = a * b
  perimeter r = 2 * (w r + h r)
  name _ = "Rectangle"

class Container f where
  cempty :: f a
  cinsert :: a -> f a -> f a
  ctoList :: f a -> [a]

newtype Stack a = Stack [a]
data Queue a = Queue [a] [a]

instance Container Stack where
  cempty = Stack []
  cinsert x (Stack xs) = Stack (x : xs)
  ctoList (Stack xs) = xs
instance Container Queue where
  cempty = Queue [] []
  cinsert x (Queue f b) = Queue f (x : b)
  ctoList (Queue f b) = f ++ reverse b

fill :: Container f => [a] -> f a
fill = foldr cinsert cempty

class Monoid' a where
  mzero' :: a
  (<+>) :: a -> a -> a
infixr 6 <+>
instance Monoid' [b] where
  mzero' = []
  (<+>) = (++)
instance (Monoid' a, Monoid' b) => Monoid' (a, b) where
  mzero' = (mzero', mzero')
  (a, b) <+> (c, d) = (a <+> c, b <+> d)
instance Monoid' b => Monoid' (a -> b) where
  mzero' _ = mzero'
  (f <+> g) x = f x <+> g x

data V = V { vx, vy :: Int } deriving (Eq, Ord, Show, Read, Bounded)
instance Num V where
  V a b + V c d = V (a + c) (b + d)
  V a b * V c d = V (a * c) (b * d)
  negate (V a b) = V (negate a) (negate b)
  abs (V a b) = V (abs a) (abs b)
  signum (V a b) = V (signum a) (signum b)
  fromInteger n = V (fromInteger n) (fromInteger n)

data Day = Mon | Tue | Wed | Thu | Fri deriving (Show, Read, Eq, Ord, Enum, Bounded)

main :: IO ()
main = do
  putStrLn (describe (Circle 1.5))
  putStrLn (describe (Rect 2 3))
  print (ctoList (fill "abc" :: Stack Char), ctoList (fill "abc" :: Queue Char))
  print ((show <+> const ", " <+> show . (* 2)) (21 :: Int), ("a", [1 :: Int]) <+> ("b", [2]) <+> mzero')
  print (sum [V 1 2, 3, V 4 5 * 2], maximum [V 1 9, V 2 0], (minBound :: V) == V minBound minBound)
  print (read "Rect {w = 1.0, h = 2.5}" :: Rect)
  print (read " [ V {vx=1,vy=(-2)} , V { vx = 3 , vy = 4 } ]" :: [V])
  print [(d, fromEnum d) | d <- [minBound ..], d /= (Wed :: Day)]
  print ((reads :: ReadS Day) "Tue rest", succ Mon, [Mon, Wed ..], (read "(Mon,Just Fri)" :: (Day, Maybe Day)))
  putStrLn (intercalate "; " (map show (sortBy (comparing negate) [3, 1, 2 :: Int])))
  print (S.toList (S.map (`mod` 3) (S.fromList [1 .. 10 :: Int])))
