{-# LANGUAGE FlexibleContexts #-}
import System.IO
import qualified Data.Map as Map
import Data.IORef
import Control.Monad (forM_, when)
import Control.Monad.ST
import Data.STRef
import Data.Array.ST
import Data.Array.Unboxed

rpn :: String -> Either String Double
rpn = go [] . words
  where
    go [x] [] = Right x
    go st [] = Left ("stack of " ++ show (length st))
    go (y:x:st) (t:ts) | t `elem` ["+", "-", "*", "/"] = go (op t x y : st) ts
    go st (t:ts) = case reads t of
      [(v, "")] -> go (v : st) ts
      _ -> Left ("bad token " ++ show t)
    op "+" = (+)
    op "-" = (-)
    op "*" = (*)
    op _ = (/)

sieve :: Int -> UArray Int Bool
sieve n = runSTUArray $ do
  a <- newArray (2, n) True
  let loop i | i * i > n = return ()
             | otherwise = do
                 p <- readArray a i
                 when p $ forM_ [i * i, i * i + i .. n] $ \j -> writeArray a j False
                 loop (i + 1)
  loop 2
  return a

fibST :: Int -> Integer
fibST n = runST $ do
  a <- newSTRef 0
  b <- newSTRef 1
  forM_ [1 .. n] $ \_ -> do
    x <- readSTRef a
    y <- readSTRef b
    writeSTRef a y
    writeSTRef b $! x + y
  readSTRef a

main :: IO ()
main = do
  hSetBuffering stdout NoBuffering
  n <- fmap read getLine :: IO Int
  counter <- newIORef (0 :: Int)
  forM_ [1 .. n] $ \i -> do
    line <- getLine
    either (\e -> putStrLn ("error: " ++ e)) print (rpn line)
    modifyIORef counter (+ length line)
  readIORef counter >>= print
  rest <- getContents
  let ws = Map.fromListWith (++) [(length w, [w]) | w <- words rest]
  forM_ (Map.toAscList ws) $ \(k, v) -> putStrLn (show k ++ ": " ++ unwords v)
  print [i | (i, True) <- assocs (sieve 40)]
  print (fibST 100)
