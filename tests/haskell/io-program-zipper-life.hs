{-# LANGUAGE DeriveFunctor #-}
import Data.List (unfoldr, intercalate)
import qualified Data.Set as Set
data Zipper a = Zipper [a] a [a] deriving (Show, Functor)
class Functor w => Comonad w where
  extract :: w a -> a
  duplicate :: w a -> w (w a)
  extend :: (w a -> b) -> w a -> w b
  extend f = fmap f . duplicate
left, right :: Zipper a -> Maybe (Zipper a)
left (Zipper (l:ls) x rs) = Just (Zipper ls l (x:rs))
left _ = Nothing
right (Zipper ls x (r:rs)) = Just (Zipper (x:ls) r rs)
right _ = Nothing
iter :: (a -> Maybe a) -> a -> [a]
iter f = unfoldr (fmap (\a -> (a, a)) . f)
instance Comonad Zipper where
  extract (Zipper _ x _) = x
  duplicate z = Zipper (iter left z) z (iter right z)
rule :: Int -> Zipper Bool -> Bool
rule n (Zipper ls x rs) = odd (n `div` 2 ^ idx)
  where idx = sum [2 ^ i | (i, True) <- zip [2, 1, 0 :: Int] [hd ls, x, hd rs]] :: Int
        hd (y:_) = y
        hd [] = False
toL :: Zipper a -> [a]
toL (Zipper ls x rs) = reverse ls ++ x : rs
type Cell = (Int, Int)
step :: Set.Set Cell -> Set.Set Cell
step live = Set.filter alive (Set.union live (Set.fromList (concatMap around (Set.toList live))))
  where around (x, y) = [(x + dx, y + dy) | dx <- [-1 .. 1], dy <- [-1 .. 1], (dx, dy) /= (0, 0)]
        count = length . filter (`Set.member` live) . around
        alive c = count c == 3 || (count c == 2 && c `Set.member` live)
render :: Set.Set Cell -> String
render s = intercalate "\n" [[if (x, y) `Set.member` s then '#' else '.' | x <- [0 .. 5]] | y <- [0 .. 4]]
main :: IO ()
main = do
  let start = Zipper (replicate 10 False) True (replicate 10 False)
  mapM_ (putStrLn . map (\b -> if b then '#' else ' ') . toL) (take 8 (iterate (extend (rule 90)) start))
  let glider = Set.fromList [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]
  mapM_ (\g -> putStrLn (render g) >> putStrLn "") (take 3 (iterate step glider))
