-- The number of solutions of the n queens problem, by sets of columns and diagonals as bits.
import Data.Bits

main :: IO ()
main = print (solve 14)

solve :: Int -> Int
solve n = place 0 0 0
  where
    full = shiftL 1 n - 1 :: Int
    place :: Int -> Int -> Int -> Int
    place columns left right
      | columns == full = 1
      | otherwise = try (full .&. complement (columns .|. left .|. right)) 0
      where
        try :: Int -> Int -> Int
        try 0 total = total
        try open total =
          let bit' = open .&. negate open
          in try (open .&. (open - 1)) (total + place (columns .|. bit') (shiftL (left .|. bit') 1) (shiftR (right .|. bit') 1))
