-- Functions that are compositions with themselves: they end, since a composition takes its argument before it is evaluated.
module Main where

import Data.Functor.Compose
import Data.Functor.Const
import Data.Functor.Identity
import qualified Data.Functor.Product as P
import qualified Data.Functor.Sum as S

newtype Fix f = Fix { unFix :: f (Fix f) }

data ListF e r = Nil | Cons e r

instance Functor (ListF e) where
  fmap _ Nil = Nil
  fmap f (Cons a b) = Cons a (f b)

cata :: Functor f => (f a -> a) -> Fix f -> a
cata alg = alg . fmap (cata alg) . unFix

cata' :: Functor f => (f a -> a) -> Fix f -> a
cata' alg = go
  where go = alg . fmap go . unFix

ana :: Functor f => (a -> f a) -> a -> Fix f
ana coalg = Fix . fmap (ana coalg) . coalg

hylo :: Functor f => (f b -> b) -> (a -> f a) -> a -> b
hylo f g = f . fmap (hylo f g) . g

para :: Functor f => (f (Fix f, a) -> a) -> Fix f -> a
para alg = alg . fmap (\t -> (t, para alg t)) . unFix

total :: ListF Int Int -> Int
total Nil = 0
total (Cons a b) = a + b

down :: Int -> ListF Int Int
down n = if n == 0 then Nil else Cons n (n - 1)

data T = L | N T Int T

-- By clauses, of which one is a composition.
showT :: T -> ShowS
showT L = showString "."
showT (N l x r) = showChar '(' . showT l . shows x . showT r . showChar ')'

compose :: [a -> a] -> a -> a
compose [] = id
compose (f : fs) = f . compose fs

steps :: Int -> Int -> Int
steps 0 = id
steps n
  | even n = (+ 1) . steps (n - 1)
  | otherwise = steps (n - 1) . (* 2)

-- Lenses.
data Point = Point { px :: Int, py :: Int } deriving Show

x, y :: Functor f => (Int -> f Int) -> Point -> f Point
x f p = fmap (\v -> p { px = v }) (f (px p))
y f p = fmap (\v -> p { py = v }) (f (py p))

view :: ((a -> Const a a) -> s -> Const a s) -> s -> a
view l s = getConst (l Const s)

over :: ((a -> Identity a) -> s -> Identity s) -> (a -> a) -> s -> s
over l g s = runIdentity (l (Identity . g) s)

main :: IO ()
main = do
  print (cata total (ana down 10), cata' total (ana down 4), hylo total down 100000)
  print (para (\l -> case l of { Nil -> 0; Cons a (_, b) -> a * 2 + b }) (ana down 3))
  putStrLn (showT (N (N L 1 L) 2 (N L 3 L)) "")
  print (compose [(+ 1), (* 2), subtract 3] 10, compose (replicate 100000 (+ 1)) 0)
  print (steps 5 1)
  print (view x (Point 1 2), over y (* 10) (Point 1 2))
  print (fmap (+ 1) (Compose [Just 1, Nothing]), sum (Compose [Just 1, Just 2]))
  print (getCompose ((,) <$> Compose [Just 1, Nothing] <*> Compose [Just 'x']))
  print (traverse (\v -> if v > 0 then Just v else Nothing) (Compose [Just 1, Nothing]))
  print (Const "a" <*> Const "b" :: Const String Int)
  print (fmap (+ 1) (P.Pair [1] (Just 2)), sum (P.Pair [1, 2] (Just 3)))
  print (fmap (+ 1) (S.InL [1] :: S.Sum [] Maybe Int), S.InR (Just 2) :: S.Sum [] Maybe Int)
