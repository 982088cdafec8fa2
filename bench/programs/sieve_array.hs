-- Primes, in an array that is updated in place.
import Data.Array.ST
import Data.Array.Unboxed
import Control.Monad
import Control.Monad.ST

sieve :: Int -> UArray Int Bool
sieve n = runSTUArray (do
  a <- newArray (2, n) True
  forM_ [2 .. n] $ \i -> do
    p <- readArray a i
    when (p && i * i <= n) $ forM_ [i * i, i * i + i .. n] $ \j -> writeArray a j False
  return a)

main :: IO ()
main = print (length (filter id (elems (sieve 2000000))))
