-- Primes, by striking multiples out of a list.
main :: IO ()
main = print (length (sieve [2 .. 300000]))

sieve :: [Int] -> [Int]
sieve [] = []
sieve (p : xs)
  | p * p > 300000 = p : xs
  | otherwise = p : sieve [x | x <- xs, x `mod` p /= 0]
