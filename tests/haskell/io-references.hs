-- References in IO and in ST.
import Control.Monad
import Control.Monad.ST
import Data.IORef
import Data.STRef

fibST :: Int -> Integer'
fibST n = runST $ do
  a <- newSTRef 0
  b <- newSTRef 1
  replicateM_ n $ do
    x <- readSTRef a
    y <- readSTRef b
    writeSTRef a y
    writeSTRef b $! x + y
  readSTRef a

type Integer' = Int

-- References of several types, and references in data.
data Account = Account { owner :: String, balance :: IORef Double }

deposit :: Account -> Double -> IO ()
deposit account x = modifyIORef (balance account) (+ x)

counter :: IO (IO Int)
counter = do
  r <- newIORef 0
  return (do { n <- readIORef r; writeIORef r (n + 1); return n })

sieve :: Int -> [Int]
sieve n = runST $ do
  found <- newSTRef []
  forM_ [2 .. n] $ \k -> do
    ps <- readSTRef found
    when (all (\p -> k `mod` p /= 0) ps) (modifySTRef found (++ [k]))
  readSTRef found

main :: IO ()
main = do
  print (map fibST [0 .. 15])
  accounts <- mapM (\name -> fmap (Account name) (newIORef 0)) ["ann", "bob"]
  forM_ (zip accounts [10, 20.5]) (uncurry deposit)
  forM_ accounts (`deposit` 1)
  forM_ accounts $ \a -> do
    b <- readIORef (balance a)
    putStrLn (owner a ++ ": " ++ show b)
  next <- counter
  ns <- replicateM 4 next
  print ns
  other <- counter
  n <- other
  m <- next
  print (n, m)
  print (sieve 50)
  list <- newIORef [1, 2, 3 :: Int]
  modifyIORef' list (map (* 2))
  total <- atomicModifyIORef' list (\xs -> (0 : xs, sum xs))
  after <- readIORef list
  print (total, after)
  same <- newIORef 'x'
  print (same == same)
