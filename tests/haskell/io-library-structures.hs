module Main where

import Control.Concurrent.MVar
import Control.DeepSeq
import Control.Monad.Fix (fix)
import Data.Char
import Data.Fixed (divMod', div', mod')
import Data.Foldable (toList)
import Data.Graph
import Data.List.NonEmpty (NonEmpty(..), (<|))
import qualified Data.List.NonEmpty as NE
import Data.Proxy
import Data.Semigroup hiding (option)
import Data.Tree
import Data.Void
import Numeric.Natural (Natural)
import Text.ParserCombinators.ReadP hiding (many)
import qualified Text.ParserCombinators.ReadP as P

-- ReadP
expr, term, factor :: ReadP Int
expr = chainl1 term (symbol '+' >> return (+))
term = chainl1 factor (symbol '*' >> return (*))
factor = number +++ between (symbol '(') (symbol ')') expr

number :: ReadP Int
number = read <$> munch1 isDigit <* skipSpaces

symbol :: Char -> ReadP Char
symbol c = char c <* skipSpaces

class Named a where
  name :: Proxy a -> String

instance Named Int where
  name _ = "Int"

instance Named Bool where
  name _ = "Bool"

data Item = Item Int String deriving Show

instance NFData Item where
  rnf (Item n s) = rnf n `seq` rnf s

readings :: IO ()
readings = do
  print [n | (n, "") <- readP_to_S (skipSpaces *> expr) "2 + 3*(4+1) "]
  print (readP_to_S (P.many (satisfy isAlpha)) "ab1")
  print (readP_to_S (many1 (char 'a') <* eof) "aaa")
  print (readP_to_S (sepBy (munch1 isDigit) (char ',') <* eof) "1,22,3")
  print (readP_to_S (string "ab" <++ string "a") "abc")
  print (readP_to_S (string "ab" +++ string "a") "abc")
  print (readP_to_S (gather (count 2 get)) "xyz")
  print (readP_to_S (manyTill get (char '.')) "ab.c.")
  print (readP_to_S (option 'z' (char 'q')) "qr")
  print (readP_to_S (chainr1 (fmap (\c -> [c]) (satisfy isDigit)) (char '^' >> return (\a b -> "(" ++ a ++ b ++ ")")) <* eof) "1^2^3")
  print (readP_to_S (endBy (munch1 isAlpha) (char ';') <* eof) "a;b;")
  print (readP_to_S (choice [string "x", string "xy", pfail]) "xyz", readP_to_S look "p")
  print (readP_to_S (munch isDigit *> skipMany (char '-') *> sepBy1 (munch1 isAlpha) (skipMany1 (char ' ')) <* eof) "12--a b  c")
  print (readP_to_S (endBy1 get (char ';') <* eof) "a;b;", readP_to_S (chainl number (symbol '-' >> return (-)) 0 <* eof) "9-2-3")
  print (readP_to_S (chainr number (symbol '^' >> return (^)) 0 <* eof) "2^3^2")
  print (readP_to_S (readS_to_P reads <* skipSpaces :: ReadP Int) "12 z")

nonEmpty :: IO ()
nonEmpty = do
  let xs = 3 :| [1, 2]
  print (xs, NE.head xs, NE.tail xs, NE.last xs, NE.init xs, NE.length xs)
  print (NE.map (+ 1) xs, NE.sort xs, NE.reverse xs, 0 <| xs, xs <> (9 :| []))
  print (NE.group "aabccc", map NE.head (NE.groupBy (\a b -> even a == even b) [2, 4, 1, 3, 6 :: Int]))
  print (NE.nonEmpty ([] :: [Int]), NE.nonEmpty [1], NE.toList (NE.zip xs (NE.fromList "abc")))
  print (sconcat (Max 1 :| [Max 5, Max 3]), sum xs, maximum xs, toList (fmap show xs))
  print (stimes 3 "ab", First 1 <> First 2, Last 1 <> Last 2, mtimesDefault 0 "x")
  print (xs >>= \n -> n :| [n * 10])

trees :: IO ()
trees = do
  let t = Node 1 [Node 2 [Node 4 []], Node 3 []]
  putStr (drawTree (fmap show t))
  putStr (drawForest [Node "a\nb" [Node "c" []], Node "d" []])
  print (flatten t, levels t, sum t, foldTree (\x ys -> x + maximum (0 : ys)) t)
  print (unfoldTree (\n -> (n, [m | m <- [2 * n, 2 * n + 1], m < 8])) 1)
  print (fmap rootLabel (subForest t), traverse (\n -> if n > 0 then Just (n * 2) else Nothing) t)

graphs :: IO ()
graphs = do
  let g = buildG (0, 5) [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (2, 3)]
  print (vertices g, edges g, topSort (buildG (0, 3) [(3, 1), (1, 0), (3, 2), (2, 0)]))
  print (map flatten (scc g), map flatten (components g), reachable g 3, path g 5 0)
  print (stronglyConnComp [("a", 1, [2]), ("b", 2, [1]), ("c", 3, [3]), ("d", 4, [1 :: Int])])
  print (map flattenSCC (stronglyConnComp [(c, c, ds) | (c, ds) <- zip "abcd" ["b", "c", "", "a"]]))
  print (dfs g [4], indegree g, outdegree g)

main :: IO ()
main = do
  readings
  nonEmpty
  trees
  graphs
  putStrLn (name (Proxy :: Proxy Int) ++ name (Proxy :: Proxy Bool))
  print (7.5 `mod'` 2 :: Double, (-7.5) `mod'` 2 :: Double, 7.5 `div'` 2 :: Int, divMod' 7.5 2 :: (Int, Double))
  print (either absurd id (Right 3 :: Either Void Int))
  print (2 ^ 70 :: Natural, product [1 .. 20 :: Natural], fromIntegral (12 :: Natural) + (1 :: Int), read "5" + (1 :: Natural))
  print (fix (\again n -> if n == 0 then 1 else n * again (n - 1)) 5)
  print (force (Item 1 "a"), Item 2 "b" `deepseq` 3, length $!! "ab")
  m <- newMVar 1
  modifyMVar_ m (return . (+ 1))
  old <- modifyMVar m (\v -> return (v * 10, v))
  v <- takeMVar m
  empty <- isEmptyMVar m
  put <- tryPutMVar m 7
  r <- withMVar m (return . show)
  print (old, v, empty, put, r)
