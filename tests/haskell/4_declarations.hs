-- Haskell 98 Report, chapter 4: declarations and bindings.
module Declarations where

-- 4.1, 4.2: types, data, synonyms, newtypes
data Tree a = Leaf | Node (Tree a) a (Tree a) deriving (Eq, Ord, Show)
data Strict = Strict !Int !Double deriving (Eq, Show)
data (Eq k) => Assoc k v = Assoc [(k, v)]
type Name = String
type Pair a = (a, a)
type Endo a = a -> a
newtype Age = Age Int deriving (Eq, Ord, Show)
data Rose a = Rose a [Rose a] deriving (Eq, Show)
data Even = Zero | SuccE Odd deriving Show
data Odd = SuccO Even deriving Show

-- 4.3: classes with superclasses and defaults, instances, constructor classes
class Container f where
  empty :: f a
  insert :: a -> f a -> f a
  toL :: f a -> [a]
  size :: f a -> Int
  size = length . toL

instance Container [] where
  empty = []
  insert = (:)
  toL = id

newtype Queue a = Queue ([a], [a])
instance Container Queue where
  empty = Queue ([], [])
  insert x (Queue (f, b)) = Queue (f, x : b)
  toL (Queue (f, b)) = f ++ reverse b

class (Eq a, Show a) => Shape a where
  area :: a -> Double
  describe :: a -> String
  describe s = show s ++ " of area " ++ show (area s)
  scale :: Double -> a -> a

data Square = Square Double deriving (Eq, Show)
data Disc = Disc Double deriving (Eq, Show)
instance Shape Square where
  area (Square a) = a * a
  scale k (Square a) = Square (k * a)
instance Shape Disc where
  area (Disc r) = 3 * r * r
  scale k (Disc r) = Disc (k * r)
  describe d = "round, " ++ show (area d)

instance Functor Tree where
  fmap _ Leaf = Leaf
  fmap f (Node l x r) = Node (fmap f l) (f x) (fmap f r)

instance Num a => Num (Tree a) where
  fromInteger n = Node Leaf (fromInteger n) Leaf
  Node _ a _ + Node _ b _ = Node Leaf (a + b) Leaf
  t + Leaf = t
  Leaf + t = t
  a * _ = a
  negate = fmap negate
  abs = id
  signum = id

class Monoid' a where
  neutral :: a
  (<+>) :: a -> a -> a
  infixr 6 <+>
instance Monoid' [b] where { neutral = []; (<+>) = (++) }
instance Monoid' Int where { neutral = 0; (<+>) = (+) }
instance (Monoid' a, Monoid' b) => Monoid' (a, b) where
  neutral = (neutral, neutral)
  (a, b) <+> (c, d) = (a <+> c, b <+> d)
instance Monoid' b => Monoid' (a -> b) where
  neutral = const neutral
  f <+> g = \x -> f x <+> g x

-- 4.4: signatures, fixities, function and pattern bindings
infixr 0 ==>
(==>) :: Bool -> Bool -> Bool
p ==> q = not p || q

(low, high) | cond = (1, 2) | otherwise = (3, 4 :: Int)
  where cond = False
[one, two] = [1 :: Int, 2]
same :: a -> a
other :: b -> b
(same, other) = (id, id)

collatz :: Int -> Int
collatz n | n == 1 = 0
          | even n = 1 + collatz (n `div` 2)
          | otherwise = 1 + collatz (3 * n + 1)

-- 4.5: polymorphism, mutual recursion, defaulting, the monomorphism restriction
isEven, isOdd :: Int -> Bool
isEven 0 = True
isEven n = isOdd (n - 1)
isOdd 0 = False
isOdd n = isEven (n - 1)

poly :: (Int, String)
poly = let twice f = f . f in (twice (+ 1) 0, twice ('a' :) "")

restricted = sum [1, 2, 3]

toTree :: Ord a => [a] -> Tree a
toTree = foldr put Leaf
  where
    put x Leaf = Node Leaf x Leaf
    put x t@(Node l y r)
      | x < y = Node (put x l) y r
      | x > y = Node l y (put x r)
      | otherwise = t

result :: String
result = unlines
  [ show (toTree "banana"), show (Leaf < Node Leaf 1 Leaf, compare (Node Leaf 2 Leaf) (Node Leaf 1 Leaf))
  , show (Strict 1 2.5), show (fmap (* 2) (toTree [2, 1, 3])), show (Rose 1 [Rose 2 []], SuccE (SuccO Zero))
  , show (size (insert 'a' (insert 'b' empty) :: [Char]), toL (insert 1 (insert 2 empty) :: Queue Int))
  , describe (Square 2), describe (scale 2 (Disc 1)), show (Node Leaf 1 Leaf + 2 :: Tree Integer)
  , show ([1] <+> [2] <+> neutral, ((1 :: Int, "a") <+> (2, "b")), (show <+> const "!") 5)
  , show (False ==> True ==> False, low, high, one, two, same 'x', other True)
  , show (map collatz [1, 7, 27], isEven 10, poly, restricted, Age 3 < Age 4)
  , show (2 ^ 70, fromIntegral (3 :: Int) / 2, truncate 1e10, length [1 ..  10], 10 `div` 3, 7 / 2)
  ]
