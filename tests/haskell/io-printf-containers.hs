import Text.Printf
import Numeric
import qualified Data.IntMap as IM
import qualified Data.IntMap.Strict as IMS
import qualified Data.IntSet as IS
import qualified Data.Sequence as Seq
import Data.Sequence (Seq, (<|), (|>), (><), ViewL(..), viewl)
import Data.Foldable (toList)

queue :: Seq Int -> [Int]
queue s = case viewl s of
  EmptyL -> []
  x :< rest | x > 5 -> x : queue rest
            | otherwise -> x : queue (rest |> (x * 3))

main :: IO ()
main = do
  printf "%d %5d|%-5d|%05d %+d\n" (1 :: Int) (2 :: Int) (3 :: Int) (-4 :: Int) (5 :: Int)
  printf "%s %10s|%-10s|%c%%\n" "abc" "right" "left" 'x'
  printf "%.2f %8.3f %f %e %g %g\n" (3.14159 :: Double) (2.5 :: Double) (1 / 3 :: Double) (12345.678 :: Double) (0.5 :: Double) (1.0e10 :: Double)
  printf "%x %X %o %b %#x\n" (255 :: Int) (255 :: Int) (8 :: Int) (5 :: Int) (16 :: Int)
  let s = printf "%d-%s" (3 :: Int) "x" :: String
  putStrLn s
  printf "plain\n"
  mapM_ (\(n, x) -> printf "%3d %6.2f\n" (n :: Int) (x :: Double)) (zip [1 ..] [1.5, 22.25, 333.125])
  putStrLn (showHex (255 :: Int) "" ++ showOct (8 :: Int) " " ++ showFFloat (Just 2) (3.14159 :: Double) "" ++ " " ++ showEFloat (Just 3) (31415.9 :: Double) "")
  print (fst (head (readHex "ff rest")) :: Int, readOct "17x" :: [(Int, String)], readDec "12" :: [(Int, String)])
  putStrLn (showEFloat Nothing (0.00123 :: Double) " " ++ showGFloat (Just 2) (0.01 :: Double) " " ++ showGFloat (Just 2) (1.5 :: Double) "")
  let m = IM.fromListWith (++) [(k `mod` 3, [k]) | k <- [1 .. 10]]
  print m
  print (IM.findWithDefault [] 7 m, IM.toList (IM.map sum m), IM.member 2 m, IM.size m, IM.keys m)
  print (IMS.insertWith (+) 1 5 (IMS.fromList [(1, 1), (2, 2)]), IM.foldrWithKey (\k v acc -> k + length v + acc) 0 m)
  print (IS.toList (IS.fromList [3, 1, 2, 3]), IS.member 2 (IS.fromList [2]))
  print (queue (Seq.fromList [1, 2, 7]))
  let q = (0 <| Seq.fromList [1, 2, 3]) >< Seq.fromList [4, 5]
  print q
  print (Seq.index q 3, Seq.length q, sum q, toList (Seq.reverse q), Seq.update 2 99 q, Seq.lookup 9 q)
  print (Seq.splitAt 2 q, Seq.adjust (* 2) 1 q, fmap (+ 1) q, Seq.null Seq.empty)
  print (Seq.insertAt 1 7 q, Seq.deleteAt 0 q, Seq.mapWithIndex (\i x -> i * x) q, Seq.foldlWithIndex (\a i x -> a + i * x) 0 q)
