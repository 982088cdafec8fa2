-- Names of the library that are asked for less often.
import Data.List (iterate')
import Data.Foldable (foldMap', for_, traverse_, foldl', asum, msum)
import Data.Traversable (for, mapAccumL, mapAccumR)
import Control.Monad
import Data.Char
main = do
  print (iterate' (* 2) 1 !! 10)
  print (msum [Nothing, Just 1, Just 2])
  print (foldMap' show [1, 2, 3])
  liftM4 (\a b c d -> print (a + b + c + d)) (return 1) (return 2) (return 3) (return 4) >>= id
  for_ [1, 2] print
