module Main where
import Data.Maybe (fromMaybe)
import qualified Data.Map as M
import Control.Monad (when, forM_)

newtype Identity a = Identity { runIdentity :: a }
instance Functor Identity where fmap f (Identity a) = Identity (f a)
instance Applicative Identity where { pure = Identity; Identity f <*> Identity a = Identity (f a) }
instance Monad Identity where Identity a >>= f = f a

newtype StateT s m a = StateT { runStateT :: s -> m (a, s) }
instance Monad m => Functor (StateT s m) where
  fmap f (StateT g) = StateT $ \s -> do
    (a, s') <- g s
    pure (f a, s')
instance Monad m => Applicative (StateT s m) where
  pure a = StateT $ \s -> pure (a, s)
  StateT mf <*> StateT mx = StateT $ \s -> do
    (f, s') <- mf s
    (x, s'') <- mx s'
    pure (f x, s'')
instance Monad m => Monad (StateT s m) where
  m >>= k = StateT $ \s -> do
    (a, s') <- runStateT m s
    runStateT (k a) s'

get :: Monad m => StateT s m s
get = StateT $ \s -> return (s, s)
put :: Monad m => s -> StateT s m ()
put s = StateT $ \_ -> return ((), s)

step :: StateT Int Identity Int
step = do { n <- get; put (n + 1); return (n * 2) }

find' :: Int -> M.Map Int String -> String
find' k m = fromMaybe (error ("no key " ++ show k)) (M.lookup k m)

classify :: Int -> String
classify n
  | n < 0 = bad
  | n == 0 = "zero"
  | otherwise = "positive"
  where bad = error "negative"

safeDiv :: Int -> Int -> Int
safeDiv a b = if b == 0 then die else a `div` b
  where die = error ("division of " ++ show a)

pick :: [Int] -> Int -> Int
pick xs n = go xs n
  where
    oops = error "index too large"
    go [] _ = oops
    go (y : ys) 0 = y
    go (_ : ys) k = go ys (k - 1)

lookupOr :: Maybe a -> a
lookupOr m = case m of
  Just x -> x
  Nothing -> failure
  where failure = undefined

pairUp :: Int -> (Int, Int)
pairUp n = let e = error "never" in if n > 9 then e else (n, n)

main :: IO ()
main = do
  print (runIdentity (runStateT (step >> step >> step) 5))
  putStrLn (find' 1 (M.fromList [(1, "one")]))
  mapM_ (putStrLn . classify) [0, 1]
  print (safeDiv 7 2, pick [1, 2, 3] 1, lookupOr (Just 'c'), pairUp 3)
  print (maybe (error "x") id (Just 2), either error id (Right 3 :: Either String Int))
  let unused = error "unused" :: Int
      checked x = if x > 100 then unused else x
  print (checked 5)
