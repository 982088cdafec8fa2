-- How often words occur, in a map.
import qualified Data.Map as Map
import Data.List (sortBy)

main :: IO ()
main = print (take 5 (sortBy byCount (Map.toList (Map.fromListWith (+) [(w, 1 :: Int) | w <- words (text 200000)]))))

byCount :: (String, Int) -> (String, Int) -> Ordering
byCount (a, m) (b, n) = compare (n, a) (m, b)

text :: Int -> String
text n = concat [word (k * k `mod` 1009) ++ " " | k <- [1 .. n]]

word :: Int -> String
word k
  | k < 26 = [letter k]
  | otherwise = letter (k `mod` 26) : word (k `div` 26)

letter :: Int -> Char
letter k = toEnum (fromEnum 'a' + k)
