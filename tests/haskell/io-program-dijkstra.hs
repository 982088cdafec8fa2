module Main where
import qualified Data.Map.Strict as Map
import qualified Data.Set as Set
import Data.Array
import Data.Maybe (fromJust, mapMaybe)
import Control.Monad.State
type Graph = Map.Map Char [(Char, Int)]
graph :: Graph
graph = Map.fromListWith (++) [(a, [(b, w)]) | (a, b, w) <- es ++ [(b, a, w) | (a, b, w) <- es]]
  where es = [('a','b',7),('a','c',9),('a','f',14),('b','c',10),('b','d',15),('c','d',11),('c','f',2),('d','e',6),('e','f',9)]
dijkstra :: Char -> Graph -> Map.Map Char (Int, Char)
dijkstra src g = go (Set.singleton (0, src, src)) Map.empty
  where
    go frontier done = case Set.minView frontier of
      Nothing -> done
      Just ((dist, v, from), rest)
        | v `Map.member` done -> go rest done
        | otherwise -> go (foldr Set.insert rest [(dist + w, u, v) | (u, w) <- g Map.! v, not (u `Map.member` done)]) (Map.insert v (dist, from) done)
path :: Char -> Map.Map Char (Int, Char) -> String
path v m = reverse (walk v)
  where walk u = let (_, p) = fromJust (Map.lookup u m) in if p == u then [u] else u : walk p
type Dfs = State (Set.Set Int)
dfs :: Array Int [Int] -> Int -> Dfs [Int]
dfs g v = do
  seen <- gets (Set.member v)
  if seen then return [] else do
    modify (Set.insert v)
    rest <- mapM (dfs g) (g ! v)
    return (v : concat rest)
components :: Array Int [Int] -> [[Int]]
components g = filter (not . null) $ evalState (mapM (dfs g) (indices g)) Set.empty
knapsack :: [(Int, Int)] -> Int -> Int
knapsack items cap = table ! (n, cap)
  where
    n = length items
    arr = listArray (1, n) items
    table = array ((0, 0), (n, cap)) [((i, c), cell i c) | i <- [0 .. n], c <- [0 .. cap]]
    cell 0 _ = 0
    cell i c | w > c = skip
             | otherwise = max skip (v + table ! (i - 1, c - w))
      where (w, v) = arr ! i
            skip = table ! (i - 1, c)
main :: IO ()
main = do
  let m = dijkstra 'a' graph
  forM_ (Map.toList m) $ \(k, (dd, p)) -> putStrLn (k : ": " ++ show dd ++ " via " ++ [p])
  putStrLn (path 'e' m)
  print (components (listArray (0, 6) [[1], [0, 2], [1], [4], [3], [], [5]]))
  print (knapsack [(12, 4), (2, 2), (1, 1), (1, 2), (4, 10)] 15)
