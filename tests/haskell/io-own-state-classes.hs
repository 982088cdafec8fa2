{-# LANGUAGE MultiParamTypeClasses, FunctionalDependencies, FlexibleInstances, FlexibleContexts, UndecidableInstances #-}
-- The monads of a textbook, written in the program, with classes of two parameters.
import Data.Char (isDigit)

class Monad m => MonadState s m | m -> s where
  get :: m s
  put :: s -> m ()

modify :: MonadState s m => (s -> s) -> m ()
modify f = do { s <- get; put (f s) }

newtype State s a = State { runState :: s -> (a, s) }
instance Functor (State s) where fmap f (State g) = State (\s -> let (a, t) = g s in (f a, t))
instance Applicative (State s) where
  pure a = State (\s -> (a, s))
  State f <*> State g = State (\s -> let { (h, t) = f s; (a, u) = g t } in (h a, u))
instance Monad (State s) where
  State g >>= k = State (\s -> let (a, t) = g s in runState (k a) t)
instance MonadState s (State s) where
  get = State (\s -> (s, s))
  put s = State (\_ -> ((), s))

newtype OptT m a = OptT { runOptT :: m (Maybe a) }
instance Monad m => Functor (OptT m) where fmap f m = m >>= return . f
instance Monad m => Applicative (OptT m) where { pure = OptT . return . Just; f <*> m = do { g <- f; x <- m; return (g x) } }
instance Monad m => Monad (OptT m) where
  OptT m >>= k = OptT (m >>= maybe (return Nothing) (runOptT . k))
instance MonadState s m => MonadState s (OptT m) where
  get = OptT (fmap Just get)
  put s = OptT (fmap Just (put s))

none :: Monad m => OptT m a
none = OptT (return Nothing)

item :: OptT (State String) Char
item = do
  s <- get
  case s of
    [] -> none
    (c : cs) -> put cs >> return c

sat p = do { c <- item; if p c then return c else none }

class Container f a | f -> a where
  empty :: f
  insert :: a -> f -> f
  toL :: f -> [a]
instance Container [a] a where
  empty = []
  insert = (:)
  toL = id
newtype Bag = Bag [Int] deriving Show
instance Container Bag Int where
  empty = Bag []
  insert x (Bag xs) = Bag (x : x : xs)
  toL (Bag xs) = xs

fill :: Container f a => [a] -> f
fill = foldr insert empty

class Convert a b | a -> b where convert :: a -> b
instance Convert Int String where convert = show
instance Convert Bool Int where convert b = if b then 1 else 0

main :: IO ()
main = do
  print (runState (runOptT item) "abc")
  print (runState (runOptT (sat isDigit)) "7z")
  print (runState (runOptT (sat isDigit)) "z7")
  print (fst (runState (do { modify (+ 1); modify (* 2); get }) 20))
  print (toL (fill [1, 2, 3] :: Bag))
  print (toL (fill "abc" :: String))
  print (convert True, convert (3 :: Int), 1 + convert False)
