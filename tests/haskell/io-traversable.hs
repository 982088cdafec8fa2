{-# LANGUAGE DeriveFunctor, DeriveFoldable, DeriveTraversable #-}
import Data.Foldable
import Data.Traversable
import Data.Monoid

data Tree a = Leaf | Node (Tree a) a (Tree a) deriving (Show, Functor, Foldable, Traversable)
data Rose a = Rose a [Rose a] deriving (Eq, Show, Functor, Foldable, Traversable)
data Pair b a = Pair b (a, Maybe a) Int deriving (Show, Functor, Foldable, Traversable)
newtype Fun r a = Fun (r -> (a, r)) deriving Functor
data Free f a = Pure a | Free (f (Free f a)) deriving (Functor)

data Bin a = Tip | Bin (Bin a) a (Bin a)
instance Foldable Bin where
  foldMap _ Tip = mempty
  foldMap f (Bin l x r) = foldMap f l <> f x <> foldMap f r

instance Functor Bin where
  fmap _ Tip = Tip
  fmap f (Bin l x r) = Bin (fmap f l) (f x) (fmap f r)
instance Traversable Bin where
  traverse _ Tip = pure Tip
  traverse f (Bin l x r) = Bin <$> traverse f l <*> f x <*> traverse f r

tree :: Tree Int
tree = Node (Node Leaf 1 Leaf) 2 (Node Leaf 3 Leaf)

rose :: Rose Int
rose = Rose 1 [Rose 2 [], Rose 3 [Rose 4 []]]

bin :: Bin Int
bin = Bin (Bin Tip 5 Tip) 6 (Bin Tip 7 Tip)

main :: IO ()
main = do
  print (fmap (* 2) tree)
  print (sum tree, product rose, maximum rose, length tree, elem 3 rose, toList tree)
  print (traverse (\x -> if x > 0 then Just (x + 1) else Nothing) tree)
  print (traverse (\x -> if x > 2 then Just (x + 1) else Nothing) rose)
  print (fmap negate (Pair 'x' (1, Just 2) 3), sum (Pair 'x' (1, Just 2) 3))
  mapM_ print rose
  r <- mapM (\x -> print x >> return (x * x)) tree
  print r
  print (toList bin, sum bin, foldr (:) [] bin, length bin, getSum (foldMap Sum bin))
  print (fmap toList (traverse (\x -> [x, x + 10]) bin))
  print (mapAccumL (\a x -> (a + x, a * x)) 0 [1 .. 5], mapAccumR (\a x -> (a + x, a * x)) 0 [1 .. 5])
  print (sequenceA [Just 1, Just 2], sequence [Just 1, Nothing], traverse (\x -> ([x], x)) [1, 2, 3])
  for_ (Just 3) print
  print =<< for [1, 2, 3] (\x -> return (x + 1))
  print (foldrM (\x acc -> if x > 0 then Just (x + acc) else Nothing) 0 [1, 2, 3])
  let Fun g = fmap (+ 1) (Fun (\r -> (r, r * 2))) in print (g 5)
  case fmap (+ 1) (Free (Just (Pure 3))) of
    Free (Just (Pure n)) -> print n
    _ -> putStrLn "other"
