{-# LANGUAGE ScopedTypeVariables, GADTs, RankNTypes, ExplicitForAll, KindSignatures, InstanceSigs #-}
module Main (main) where

import Control.Monad.ST
import Data.STRef

data Expr where
  Lit :: Int -> Expr
  Add :: Expr -> Expr -> Expr
  Neg :: Expr -> Expr
  deriving (Eq, Show)

data Option a where
  None :: Option a
  Some :: a -> Option a
  deriving Show

eval :: Expr -> Int
eval (Lit n) = n
eval (Add a b) = eval a + eval b
eval (Neg a) = negate (eval a)

swap' :: forall a b. (a, b) -> (b, a)
swap' (x, y) = (y, x)

pairs :: forall a. Show a => [a] -> [String]
pairs xs = go xs
  where
    go :: [a] -> [String]
    go [] = []
    go (y : ys) = show y : go ys

sumST :: forall a. Num a => [a] -> a
sumST xs = runST $ do
  r <- newSTRef (0 :: a)
  mapM_ (\x -> modifySTRef r (+ x)) xs
  readSTRef r

helper :: forall s. STRef s Int -> ST s Int
helper r = do
  modifySTRef' r (* 2)
  readSTRef r

newtype Box a = Box { unBox :: a }
instance Functor Box where
  fmap :: (a -> b) -> Box a -> Box b
  fmap f (Box x) = Box (f x)

main :: IO ()
main = do
  print (eval (Add (Lit 2) (Neg (Lit 5))))
  print (Add (Lit 1) (Lit 2))
  print (swap' (1, 'x'))
  print (pairs [1, 2, 3], sumST [1.5, 2.5])
  print (runST (newSTRef 21 >>= helper))
  print (unBox (fmap (+ 1) (Box 2)), Some 3, None :: Option Int)
