-- Elements, fields and arguments that can only fail do so where they are needed.
import Data.Array
import Data.Array.ST
import Control.Exception
import qualified Data.Map as Map

data Queue a = Queue { front :: [a], size :: Int, label :: String }

empty :: Queue a
empty = Queue { front = [], size = 0, label = error "no label" }

first :: a -> b -> a
first x _ = x

filled :: Int -> Array Int Int
filled n = runSTArray (do
  a <- newArray (0, n) (error "not yet")
  mapM_ (\i -> writeArray a i (i * i)) [0 .. n]
  return a)

describe :: Maybe a -> String
describe (Just _) = "something"
describe Nothing = "nothing"

endless :: [(Integer, Integer)]
endless = zip (1 : [2 ..]) [1, 3 ..]

table :: Array Int Integer
table = listArray (0, 60) (map next [0 .. 60])
  where
    next 0 = 0
    next 1 = 1
    next n = table ! (n - 1) + table ! (n - 2)

main :: IO ()
main = do
  print (length [1, undefined])
  print (fst (1, undefined :: Int), snd (error "never" :: Int, 'b'))
  print (first 1 (error "ignored" :: Int))
  print (size empty, front empty :: [Int])
  print (sum (elems (filled 10)))
  putStrLn (describe (Just (undefined :: Int)))
  print (take 2 (1 : 2 : undefined))
  print (Map.size (Map.fromList [(1, undefined), (2, 'x')]))
  mapM_ (print . sum . map snd . take 4) [endless, tail endless]
  print (table ! 60)
  result <- try (evaluate (label (empty :: Queue Int))) :: IO (Either ErrorCall String)
  putStrLn (either (const "failed where it is needed") id result)
