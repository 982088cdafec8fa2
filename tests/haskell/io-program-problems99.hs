import Data.List
data Tree a = Empty | Branch a (Tree a) (Tree a) deriving (Show, Eq)
leaf x = Branch x Empty Empty
data NestedList a = Elem a | List [NestedList a]
flatten :: NestedList a -> [a]
flatten (Elem x) = [x]
flatten (List xs) = concatMap flatten xs
encodeDirect :: Eq a => [a] -> [(Int, a)]
encodeDirect [] = []
encodeDirect (x:xs) = go 1 x xs
  where go n y [] = [(n, y)]
        go n y (z:zs) | y == z = go (n + 1) y zs
                      | otherwise = (n, y) : go 1 z zs
rotate xs n = let (a, b) = splitAt (n `mod` length xs) xs in b ++ a
combinations 0 _ = [[]]
combinations n xs = [y : ys | y : xs' <- tails xs, ys <- combinations (n - 1) xs']
groupN [] _ = [[]]
groupN (n:ns) xs = [g : gs | (g, rs) <- comb n xs, gs <- groupN ns rs]
  where comb 0 ys = [([], ys)]
        comb _ [] = []
        comb k (y:ys) = [(y : zs, us) | (zs, us) <- comb (k - 1) ys] ++ [(zs, y : us) | (zs, us) <- comb k ys]
cbalTree 0 = [Empty]
cbalTree n = let (q, r) = (n - 1) `quotRem` 2 in [Branch 'x' l rr | i <- [q .. q + r], l <- cbalTree i, rr <- cbalTree (n - i - 1)]
symmetric Empty = True
symmetric (Branch _ l r) = mirror l r
  where mirror Empty Empty = True
        mirror (Branch _ a b) (Branch _ x y) = mirror a y && mirror b x
        mirror _ _ = False
construct :: Ord a => [a] -> Tree a
construct = foldl add Empty
  where add Empty x = leaf x
        add t@(Branch y l r) x = case compare x y of
          LT -> Branch y (add l x) r
          GT -> Branch y l (add r x)
          EQ -> t
layout :: Tree a -> Tree (a, (Int, Int))
layout t = fst (go 1 1 t)
  where go x _ Empty = (Empty, x)
        go x y (Branch a l r) = (Branch (a, (x', y)) l' r', x'')
          where (l', x') = go x (y + 1) l
                (r', x'') = go (x' + 1) (y + 1) r
queens n = foldr (\_ yss -> [q : ys | ys <- yss, q <- [1 .. n], safe q ys]) [[]] [1 .. n]
  where safe q ys = and [q /= c && abs (q - c) /= d | (d, c) <- zip [1 ..] ys]
gray 0 = [""]
gray n = map ('0' :) xs ++ map ('1' :) (reverse xs) where xs = gray (n - 1)
primeFactors :: Integer -> [Integer]
primeFactors n = factor n primes
  where primes = 2 : [3, 5 ..]
        factor m (p:ps) | m < 2 = []
                        | p * p > m = [m]
                        | m `mod` p == 0 = p : factor (m `div` p) (p : ps)
                        | otherwise = factor m ps
totient m = product [(p - 1) * p ^ (c - 1) | (c, p) <- encodeDirect (primeFactors m)]
table f = [show a ++ " " ++ show b ++ " " ++ show (f a b) | a <- [True, False], b <- [True, False]]
infixl 4 `or'`
infixl 6 `and'`
and' = (&&)
or' = (||)
main = do
  print (flatten (List [Elem 1, List [Elem 2, List [Elem 3, Elem 4]], Elem 5]))
  print (encodeDirect "aaaabccaadeeee", rotate "abcdefgh" (-2), combinations 3 "abcd")
  print (length (groupN [2, 3, 4] ["aldo", "beat", "carla", "david", "evi", "flip", "gary", "hugo", "ida"]))
  print (length (cbalTree 7), symmetric (construct [5, 3, 18, 1, 4, 12, 21]), construct [3, 2, 5, 7, 1])
  print (layout (construct "nkcam"))
  print (take 2 (queens 6), gray 3, primeFactors 315, totient 360)
  mapM_ putStrLn (table (\a b -> a `and'` (a `or'` not b)))
