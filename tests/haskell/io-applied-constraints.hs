-- Constraints on applied variables in local bindings without signatures, and at top level.
taut (c, a) = [x | x <- c, x `elem` a] /= []

distinct a = keep [] a
  where
    keep s [] = reverse s
    keep s (x : xs)
      | taut x || x `elem` s = keep s xs
      | otherwise = keep (x : s) xs

same a b = sum a == 0 || a == b

main :: IO ()
main = do
  print (distinct [("ab", "c"), ("ab", "c"), ("a", "a")])
  print (same [1, 2] [1, 2 :: Int])
