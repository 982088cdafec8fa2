-- The number of solutions of the n queens problem, by depth first search with an explicit loop over a placed list.
main :: IO ()
main = print (count 11 [] 11)

count :: Int -> [Int] -> Int -> Int
count _ _ 0 = 1
count n placed k = columns 1 0
  where
    columns c total
      | c > n = total
      | free 1 c placed = columns (c + 1) (total + count n (c : placed) (k - 1))
      | otherwise = columns (c + 1) total

free :: Int -> Int -> [Int] -> Bool
free _ _ [] = True
free d c (q : qs) = c /= q && c /= q + d && c /= q - d && free (d + 1) c qs
