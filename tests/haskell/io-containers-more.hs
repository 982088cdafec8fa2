-- Functions of Data.Map, Data.Set and Data.Sequence that are asked for less often.
module Main where

import Data.Functor.Identity
import qualified Data.IntMap as IM
import qualified Data.Map as M
import qualified Data.Map.Strict as MS
import qualified Data.Sequence as Q
import qualified Data.Set as S

main :: IO ()
main = do
  let m = M.fromList (zip "abcd" [1 :: Int ..])
      half x = if even x then Just (x `div` 2) else Nothing
  print (M.fromAscListWith (++) [(1, "a"), (1, "b"), (2, "c")], M.fromAscListWithKey (\k x y -> show k ++ x ++ y) [(1, "a"), (1, "b"), (2, "c")])
  print (M.fromDescList [(3, 'a'), (2, 'b'), (2, 'c')], M.fromDescListWith (++) [(3, "a"), (2, "b"), (2, "c")], M.fromDistinctDescList [(2, 'x'), (1, 'y')])
  print (M.updateLookupWithKey (\_ x -> half x) 'b' m, M.updateLookupWithKey (\_ x -> half x) 'a' m, fst (M.updateLookupWithKey (\_ x -> half x) 'z' m))
  print (runIdentity (M.alterF (Identity . fmap (* 10)) 'c' m), M.alterF (\v -> [Nothing, fmap (+ 1) v]) 'a' m)
  print (M.mapAccumRWithKey (\s k x -> (s ++ [k], x * 2)) "" m, M.mapEitherWithKey (\k x -> if even x then Left k else Right x) m)
  print (M.isProperSubmapOf (M.delete 'a' m) m, M.isProperSubmapOf m m, M.updateAt (\_ x -> half x) 1 m, M.updateAt (\_ _ -> Nothing) 0 m)
  print (M.updateMin half m, M.updateMax half m, M.updateMinWithKey (\_ x -> Just (x + 1)) m, M.updateMaxWithKey (\_ _ -> Nothing) m)
  print (MS.updateMin (const Nothing) m, IM.updateMax (const Nothing) (IM.fromList [(1, 'a'), (2, 'b')]))
  print (S.mapMonotonic (* 2) (S.fromList [1, 2, 3]))
  let s = Q.fromList [1, 2, 3, 4, 1 :: Int]
  print (Q.breakl (> 2) s, Q.spanr (< 3) s, Q.takeWhileR (< 4) s, Q.dropWhileR (< 4) s)
  print (Q.elemIndicesL 1 s, Q.findIndicesL even s, Q.scanl1 (+) s, Q.foldMapWithIndex (\i x -> [i * x]) s)
  print (Q.intersperse 0 s, Q.tails (Q.fromList "ab"), Q.inits (Q.fromList "ab"))
  print (Q.zip3 s s (Q.fromList "abc"), Q.zipWith3 (\a b c -> a + b * c) s s s, Q.unzip (Q.fromList [(1, 'a'), (2, 'b')]))
  print (Q.unstableSort s, Q.iterateN 4 (* 2) 1, Q.unfoldr (\n -> if n > 3 then Nothing else Just (n * n, n + 1)) 1)
