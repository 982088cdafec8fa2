{-# LANGUAGE GADTs, ExistentialQuantification, StandaloneDeriving #-}
module Main where
import Data.List
import qualified Data.Map as M

data Obj = forall a. (Show a) => Obj a
xs :: [Obj]
xs = [Obj 1, Obj "foo", Obj 'c', Obj (Just [1.5])]
doShow :: [Obj] -> String
doShow [] = ""
doShow ((Obj x):xs) = show x ++ ";" ++ doShow xs

data Expr a where
  IntE  :: Int -> Expr Int
  BoolE :: Bool -> Expr Bool
  Add   :: Expr Int -> Expr Int -> Expr Int
  Mul, Sub :: Expr Int -> Expr Int -> Expr Int
  If    :: Expr Bool -> Expr a -> Expr a -> Expr a
  Pair  :: Expr a -> Expr b -> Expr (a, b)
  Fst   :: Expr (a, b) -> Expr a
  Snd   :: Expr (a, b) -> Expr b
  IsZero :: Expr Int -> Expr Bool
  Eql :: (Eq a, Show a) => Expr a -> Expr a -> Expr Bool

eval :: Expr a -> a
eval (IntE n) = n
eval (BoolE b) = b
eval (Add a b) = eval a + eval b
eval (Mul a b) = eval a * eval b
eval (Sub a b) = eval a - eval b
eval (If c t e) = if eval c then eval t else eval e
eval (Pair a b) = (eval a, eval b)
eval (Fst p) = fst (eval p)
eval (Snd p) = snd (eval p)
eval (IsZero e) = eval e == 0
eval (Eql a b) = eval a == eval b

pretty :: Expr a -> String
pretty e = case e of
  IntE n | n < 0 -> "(" ++ show n ++ ")"
         | otherwise -> show n
  BoolE b -> show b
  Add a b -> bin "+" a b
  Mul a b -> bin "*" a b
  Sub a b -> bin "-" a b
  If c t f -> "if " ++ pretty c ++ " then " ++ pretty t ++ " else " ++ pretty f
  Pair a b -> "(" ++ pretty a ++ ", " ++ pretty b ++ ")"
  Fst p -> "fst " ++ pretty p
  Snd p -> "snd " ++ pretty p
  IsZero x -> pretty x ++ " == 0"
  Eql a b -> pretty a ++ "==" ++ pretty b
  where bin :: String -> Expr b -> Expr c -> String
        bin op a b = "(" ++ pretty a ++ op ++ pretty b ++ ")"

data Stream a = forall s. Stream (s -> Maybe (a, s)) s
toList' :: Stream a -> [a]
toList' (Stream f s) = unfoldr f s
smap :: (a -> b) -> Stream a -> Stream b
smap g (Stream f s) = Stream (\s -> case f s of Nothing -> Nothing; Just (a, s') -> Just (g a, s')) s
upto :: Int -> Int -> Stream Int
upto a b = Stream (\i -> if i > b then Nothing else Just (i, i + 1)) a
class Animal a where { name :: a -> String; noise :: a -> String; noise _ = "..." ; legs :: a -> Int; legs _ = 4 }
data Dog = Dog
data Cat = Cat { catName :: String }
data Bird = Bird Int
instance Animal Dog where { name _ = "dog"; noise _ = "woof" }
instance Animal Cat where { name = catName; noise _ = "miau" }
instance Animal Bird where { name (Bird n) = "bird" ++ show n; legs _ = 2 }
data AnyAnimal where
  AnyAnimal :: Animal a => a -> AnyAnimal
instance Animal AnyAnimal where
  name (AnyAnimal a) = name a
  noise (AnyAnimal a) = noise a
  legs (AnyAnimal a) = legs a

data Showable a = Show a => MkShowable { unS :: a } | Other
sh :: Showable a -> String
sh (MkShowable x) = show x
sh Other = "other"

data Vec n a where
  Nil :: Vec Z a
  Cons :: a -> Vec n a -> Vec (S n) a
data Z
data S n
vhead :: Vec (S n) a -> a
vhead (Cons x _) = x
vtoList :: Vec n a -> [a]
vtoList Nil = []
vtoList (Cons x xs) = x : vtoList xs
vzip :: Vec n a -> Vec n b -> Vec n (a, b)
vzip Nil Nil = Nil
vzip (Cons a as) (Cons b bs) = Cons (a, b) (vzip as bs)

data Some = forall f a. (Show (f a), Functor f) => Some (f a)
deriving instance Show (Showable a)

main :: IO ()
main = do
  putStrLn (doShow xs)
  print (eval (If (IsZero (IntE 0)) (Pair (IntE 1) (BoolE True)) (Pair (IntE 2) (BoolE False))))
  print (eval (Fst (Pair (Add (IntE 1) (IntE 2)) (BoolE False))))
  putStrLn (pretty (If (Eql (IntE 1) (Sub (IntE 3) (IntE (-2)))) (Snd (Pair (IntE 2) (Mul (IntE 3) (IntE 4)))) (IntE 9)))
  print (toList' (smap (* 2) (upto 1 5)))
  mapM_ (\(AnyAnimal a) -> putStrLn (name a ++ " " ++ noise a ++ " " ++ show (legs a))) zoo
  print (map legs zoo, [name a | AnyAnimal a <- zoo, legs a > 2])
  putStrLn (sh (MkShowable (3 :: Int)) ++ sh (Other :: Showable Int) ++ unS (MkShowable "x"))
  print (vtoList (vzip (Cons 1 (Cons 2 Nil)) (Cons 'a' (Cons 'b' Nil))), vhead (Cons 3 Nil))
  mapM_ (\s -> case s of Some x -> print x) [Some (Just 1), Some [True], Some (Right 'x' :: Either Int Char)]
  print (MkShowable 'c')
  where zoo = [AnyAnimal Dog, AnyAnimal (Cat "tom"), AnyAnimal (Bird 3), AnyAnimal (AnyAnimal Dog)]
