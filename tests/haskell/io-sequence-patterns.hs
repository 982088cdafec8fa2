{-# LANGUAGE PatternSynonyms #-}
-- Sequences by their patterns, which are functions.
import Data.Sequence (Seq (..), (|>), (<|), ViewL (..), viewl, pattern Empty, pattern (:|>))
import qualified Data.Sequence as Seq
import qualified Data.Set as Set
import Data.Foldable (toList)
bfs :: (Int -> [Int]) -> Int -> [Int]
bfs next start = go (Seq.singleton start) (Set.singleton start)
  where
    go Empty _ = []
    go (x :<| queue) seen = x : go (foldl (|>) queue new) (foldr Set.insert seen new)
      where new = [y | y <- next x, not (Set.member y seen)]
lastTwo :: Seq a -> Maybe (a, a)
lastTwo (_ :|> x :|> y) = Just (x, y)
lastTwo _ = Nothing
palin :: Eq a => Seq a -> Bool
palin Seq.Empty = True
palin (_ Seq.:<| Seq.Empty) = True
palin (x Seq.:<| (mid Seq.:|> y)) = x == y && palin mid
main = do
  print (bfs (\n -> [m | m <- [2 * n, 2 * n + 1], m < 12]) 1)
  print (lastTwo (Seq.fromList "abc"), lastTwo (Seq.fromList "a"))
  print (palin (Seq.fromList "abcba"), palin (Seq.fromList "ab"))
  print ((1 :<| Empty) :|> 2, toList (0 <| (Seq.fromList [1, 2] :|> 3)))
  print (case Seq.fromList [1, 2, 3] of { a :<| b :<| rest -> (a, b, length rest); _ -> (0, 0, 0) })
  let q@(h :<| _) = Seq.fromList [5, 6]
  print (h, length q)
  case viewl q of { x :< r -> print (x, r); EmptyL -> print "e" }
