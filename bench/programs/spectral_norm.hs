-- The spectral norm of an infinite matrix, cut at n, on lists.
main :: IO ()
main = print (norm 700)

entry :: Int -> Int -> Double
entry i j = 1 / fromIntegral ((i + j) * (i + j + 1) `div` 2 + i + 1)

times, transposed, both :: Int -> [Double] -> [Double]
times n v = [sum (zipWith (\j x -> entry i j * x) [0 .. n - 1] v) | i <- [0 .. n - 1]]
transposed n v = [sum (zipWith (\j x -> entry j i * x) [0 .. n - 1] v) | i <- [0 .. n - 1]]
both n v = transposed n (times n v)

norm :: Int -> Double
norm n = go (10 :: Int) (replicate n 1)
  where
    go k u
      | k == 0 = let v = both n u in sqrt (sum (zipWith (*) u v) / sum (zipWith (*) u u))
      | otherwise = go (k - 1) (both n u)
