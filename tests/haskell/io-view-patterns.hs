{-# LANGUAGE ViewPatterns, NPlusKPatterns #-}
module Main where
import Data.Char
import Data.List
import qualified Data.Map as M

fac :: Int -> Int
fac 0 = 1
fac (n+1) = (n + 1) * fac n

power :: Integer -> Integer -> Integer
x `power` 0 = 1
x `power` (n+1) = x * (x `power` n)

prune :: Int -> [a] -> [a]
prune 0 _ = []
prune (n+1) (x:xs) = x : prune n xs
prune _ [] = []

kind :: Integer -> String
kind m = case m of
  0 -> "zero"
  n+3 -> "three and " ++ show n
  (k+1) | even k -> "odd"
  _ -> "other"

ack :: Int -> Int -> Int
ack 0 n = n + 1
ack (m+1) 0 = ack m 1
ack (m+1) (n+1) = ack m (ack (m+1) n)

trim :: String -> String
trim (dropWhile isSpace -> s@(c : _)) | isUpper c = "upper " ++ s
trim (words -> [a, b]) = a ++ "-" ++ b
trim (length -> n) = show n

find' :: M.Map String Int -> String -> Int
find' env (flip M.lookup env -> Just v) = v
find' _ (stripPrefix "n" -> Just (reads -> [(k, "")])) = k
find' _ _ = -1

pair :: (Int, Int) -> Int
pair (subtract 1 -> 0, y) = y
pair (x, even -> True) = x
pair (x, y) = x * y

data T = A Int | B { t :: String }
size :: T -> Int
size (A (abs -> n)) = n
size B { t = map toUpper -> 'X' : _ } = 1000
size (B (length -> n)) = n

main :: IO ()
main = do
  print (map fac [0 .. 5], 2 `power` 10, prune 2 "abc")
  print (map kind [-1, 0, 1, 2, 3, 5])
  print (ack 2 3)
  print (map trim ["  Abc", "x y", "abc"])
  print (map (find' (M.fromList [("a", 1)])) ["a", "n12", "zz"])
  print (map pair [(1, 7), (3, 4), (3, 5)])
  print (map size [A (-3), B "xyz", B "abc"])
  print [n | (length -> n) <- ["a", "bc"]]
  let f = \(show -> s) -> s ++ "!"
  putStrLn (f (1 :: Int))
  (words -> ws) <- return "p q r"
  print ws
