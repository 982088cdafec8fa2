-- Input by lines, characters and as a whole; the end of it.
module Main where

import Control.Monad (unless, when)
import System.IO

data Shape = Circle Double | Rect Double Double deriving (Show, Eq, Ord)

area :: Shape -> Double
area (Circle r) = 3 * r * r
area (Rect a b) = a * b

parse :: [String] -> Maybe Shape
parse ["circle", r] = Just (Circle (number r))
parse ["rect", a, b] = Just (Rect (number a) (number b))
parse _ = Nothing

number :: String -> Double
number s = case break (== '.') s of
  (whole, '.' : part) -> fromIntegral (digits whole) + fromIntegral (digits part) / 10 ^ length part
  (whole, _) -> fromIntegral (digits whole)
  where digits = foldl (\n c -> 10 * n + fromEnum c - fromEnum '0') 0

loop :: Int -> IO Int
loop n = do
  line <- getLine
  case words line of
    ["end"] -> return n
    ws -> do
      case parse ws of
        Just shape -> putStrLn (show shape ++ " has the area " ++ show (area shape))
        Nothing -> hPutStrLn stderr ("not a shape: " ++ line)
      loop (n + 1)

main :: IO ()
main = do
  hSetBuffering stdout NoBuffering
  putStr "shapes, please: "
  hFlush stdout
  n <- loop 0
  putStrLn (show n ++ " lines")
  c <- getChar
  d <- getChar
  print (c, d)
  rest <- getContents
  let ls = lines rest
  when (length ls > 2) $ putStrLn "many lines"
  unless (null ls) $ mapM_ (putStrLn . reverse) ls
  putStr (unwords (concatMap words ls))
