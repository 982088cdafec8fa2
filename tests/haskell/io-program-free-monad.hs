{-# LANGUAGE RankNTypes #-}
import Data.Foldable (toList, foldl')
import Data.Monoid
data Free f a = Pure a | Free (f (Free f a))
instance Functor f => Functor (Free f) where
  fmap f (Pure a) = Pure (f a)
  fmap f (Free x) = Free (fmap (fmap f) x)
instance Functor f => Applicative (Free f) where
  pure = Pure
  Pure f <*> x = fmap f x
  Free g <*> x = Free (fmap (<*> x) g)
instance Functor f => Monad (Free f) where
  Pure a >>= k = k a
  Free x >>= k = Free (fmap (>>= k) x)
data Cmd next = Push Int next | Pop (Int -> next) | Say String next
instance Functor Cmd where
  fmap f (Push n x) = Push n (f x)
  fmap f (Pop k) = Pop (f . k)
  fmap f (Say s x) = Say s (f x)
liftF :: Functor f => f a -> Free f a
liftF = Free . fmap Pure
push n = liftF (Push n ())
pop = liftF (Pop id)
say s = liftF (Say s ())
prog :: Free Cmd Int
prog = do
  push 3
  push 4
  a <- pop
  b <- pop
  say ("adding " ++ show a ++ " and " ++ show b)
  return (a + b)
runPure :: Free Cmd a -> [Int] -> ([String], a)
runPure (Pure a) _ = ([], a)
runPure (Free (Push n k)) st = runPure k (n : st)
runPure (Free (Pop k)) (x : st) = runPure (k x) st
runPure (Free (Pop k)) [] = runPure (k 0) []
runPure (Free (Say s k)) st = let (out, a) = runPure k st in (s : out, a)
runIO :: [Int] -> Free Cmd a -> IO a
runIO _ (Pure a) = return a
runIO st (Free (Push n k)) = runIO (n : st) k
runIO (x : st) (Free (Pop k)) = runIO st (k x)
runIO [] (Free (Pop k)) = runIO [] (k 0)
runIO st (Free (Say s k)) = putStrLn s >> runIO st k
data Rose a = Rose a [Rose a]
instance Foldable Rose where
  foldMap f (Rose a kids) = f a `mappend` mconcat (map (foldMap f) kids)
newtype Fix f = In (f (Fix f))
cata :: Functor f => (f a -> a) -> Fix f -> a
cata alg (In x) = alg (fmap (cata alg) x)
data ExprF r = Const Int | Add r r | Mul r r
instance Functor ExprF where
  fmap _ (Const n) = Const n
  fmap f (Add a b) = Add (f a) (f b)
  fmap f (Mul a b) = Mul (f a) (f b)
type Lens s a = forall f. Functor f => (a -> f a) -> s -> f s
newtype Identity' a = Identity' { runIdentity' :: a }
instance Functor Identity' where fmap f (Identity' a) = Identity' (f a)
newtype Const' b a = Const' { getConst' :: b }
instance Functor (Const' b) where fmap _ (Const' b) = Const' b
view :: Lens s a -> s -> a
view l = getConst' . l Const'
over :: Lens s a -> (a -> a) -> s -> s
over l f = runIdentity' . l (Identity' . f)
_1 :: Lens (a, c) a
_1 f (a, c) = fmap (\b -> (b, c)) (f a)
_2 :: Lens (c, a) a
_2 f (c, a) = fmap (\b -> (c, b)) (f a)
main :: IO ()
main = do
  print (runPure prog [])
  runIO [] prog >>= print
  let t = Rose 1 [Rose 2 [Rose 4 []], Rose 3 []]
  print (sum t, product t, toList t, maximum t, length t, getAll (foldMap (All . (> 0)) t), getSum (foldMap Sum t), foldl' (flip (:)) [] t)
  print (cata (\e -> case e of { Const n -> n; Add a b -> a + b; Mul a b -> a * b }) (In (Mul (In (Const 6)) (In (Add (In (Const 3)) (In (Const 4)))))))
  print (view (_1 . _2) ((1, 'x'), True), over (_2 . _1) (+ 1) ('a', (41, "z")))
