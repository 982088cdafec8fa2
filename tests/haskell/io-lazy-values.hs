-- Values that are made of themselves: tables whose elements read others, circular programs, patterns of groups.
module Main where

import Data.Array
import Data.Function (fix)
import Data.IORef
import qualified Data.Map as M

-- Dynamic programming: the elements are evaluated where they are read.
fibonacci :: Int -> Integer
fibonacci n = memo ! n
  where
    memo = listArray (0, n) (map fib [0 .. n]) :: Array Int Integer
    fib 0 = 0
    fib 1 = 1
    fib i = memo ! (i - 1) + memo ! (i - 2)

longest :: String -> String -> (Int, String)
longest xs ys = table ! (0, 0)
  where
    n = length xs
    m = length ys
    xa = listArray (0, n - 1) xs
    ya = listArray (0, m - 1) ys
    table = array ((0, 0), (n, m)) [((i, j), common i j) | i <- [0 .. n], j <- [0 .. m]]
    common i j
      | i == n || j == m = (0, "")
      | xa ! i == ya ! j = let (k, s) = table ! (i + 1, j + 1) in (k + 1, xa ! i : s)
      | fst (table ! (i + 1, j)) >= fst (table ! (i, j + 1)) = table ! (i + 1, j)
      | otherwise = table ! (i, j + 1)

coins :: [Int] -> Int -> Integer
coins values total = ways ! (length values, total)
  where
    ways = array ((0, 0), (length values, total)) [((i, t), f i t) | i <- [0 .. length values], t <- [0 .. total]]
    f _ 0 = 1
    f 0 _ = 0
    f i t = ways ! (i - 1, t) + (if t >= v then ways ! (i, t - v) else 0)
      where v = values !! (i - 1)

-- A map whose values read it, and a list that is a table.
collatz :: Int -> M.Map Int Int
collatz n = lengths
  where
    lengths = M.fromList [(k, steps k) | k <- [1 .. n]]
    steps 1 = 1
    steps k = 1 + M.findWithDefault (far (next k)) (next k) lengths
    next k = if even k then k `div` 2 else 3 * k + 1
    far k = if k == 1 then 1 else 1 + far (next k)

partitions :: Int -> Integer
partitions n = counts !! n
  where
    counts = map count [0 ..]
    count 0 = 1
    count k = sum [s * counts !! (k - g) | (g, s) <- takeWhile ((<= k) . fst) pentagonal]
    pentagonal = concat [[(j * (3 * j - 1) `div` 2, s), (j * (3 * j + 1) `div` 2, s)] | (j, s) <- zip [1 ..] (cycle [1, -1])]

-- One pass over a tree puts its least element everywhere.
data Tree = Leaf Int | Node Tree Tree deriving Show

replaceByLeast :: Tree -> Tree
replaceByLeast t = result
  where
    (result, least) = go t
    go (Leaf n) = (Leaf least, n)
    go (Node a b) = (Node a' b', min m n)
      where
        (a', m) = go a
        (b', n) = go b

data Person = Person { name :: String, friend :: Person }

pair :: (Person, Person)
pair = (ann, bob)
  where
    ann = Person "Ann" bob
    bob = Person { name = "Bob", friend = ann }

primes :: [Int]
primes = sieve [2 ..]
  where sieve (p : xs) = p : sieve [x | x <- xs, x `mod` p /= 0]

hamming :: [Integer]
hamming = 1 : merge (map (2 *) hamming) (merge (map (3 *) hamming) (map (5 *) hamming))
  where
    merge xx@(x : xs) yy@(y : ys)
      | x < y = x : merge xs yy
      | x > y = y : merge xx ys
      | otherwise = x : merge xs ys

(evens, odds) = ([0, 2 ..], map (+ 1) evens)

main :: IO ()
main = do
  print (map fibonacci [0, 1, 10, 90])
  print (longest "the quick brown fox" "how quickly daft jumping zebras vex")
  print (coins [1, 2, 5, 10, 20, 50, 100, 200] 200)
  print (maximum [(l, k) | (k, l) <- M.toList (collatz 300)])
  print (map partitions [0 .. 12], partitions 60)
  print (replaceByLeast (Node (Node (Leaf 3) (Leaf 1)) (Leaf 2)))
  putStrLn (name (friend (friend (friend (fst pair)))))
  print (takeWhile (< 60) primes, primes !! 100, take 15 hamming, hamming !! 300)
  print (take 3 odds, fix (\rec n -> if n <= 1 then 1 else n * rec (n - 1)) (20 :: Integer))
  let xs = 1 : map (* 2) ys
      ys = 3 : map (+ 1) xs
      (q, r) = (r + 1, length (take 4 xs))
  print (take 6 xs, take 6 ys, q)
  counter <- newIORef (0 :: Int)
  mapM_ (\x -> modifyIORef counter (+ x)) (take 10 xs)
  readIORef counter >>= print
