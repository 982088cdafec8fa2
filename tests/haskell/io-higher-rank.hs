{-# LANGUAGE RankNTypes #-}
module Main where
import qualified Data.Map as M
foo :: (forall a. [a] -> Int) -> ([Int], String) -> (Int, Int)
foo f (xs, s) = (f xs, f s)
newtype Church = Church { runChurch :: forall a. (a -> a) -> a -> a }
toInt :: Church -> Int
toInt (Church n) = n (+1) 0
suc (Church n) = Church (\s z -> s (n s z))
add (Church a) (Church b) = Church (\s z -> a s (b s z))
mul a b = Church $ \s -> runChurch a (runChurch b s)
zero = Church (\_ z -> z)
type Nat f g = forall a. f a -> g a
m2l :: Nat Maybe []
m2l (Just x) = [x]
m2l Nothing = []
apply :: Nat f g -> (f Int, f Char) -> (g Int, g Char)
apply n (a, b) = (n a, n b)
showAll :: (forall a. Show a => a -> String) -> Int -> Bool -> [String]
showAll f i b = [f i, f b]
newtype Codensity m a = Codensity { runCodensity :: forall b. (a -> m b) -> m b }
instance Functor (Codensity m) where fmap f (Codensity g) = Codensity (\k -> g (k . f))
instance Applicative (Codensity m) where { pure x = Codensity (\k -> k x); Codensity f <*> Codensity g = Codensity (\k -> f (\h -> g (k . h))) }
instance Monad (Codensity m) where m >>= k = Codensity (\c -> runCodensity m (\a -> runCodensity (k a) c))
lift' m = Codensity (m >>=)
data MonadDict m = MonadDict { ret :: forall a. a -> m a, bind :: forall a b. m a -> (a -> m b) -> m b }
maybeDict :: MonadDict Maybe
maybeDict = MonadDict { ret = Just, bind = \m k -> case m of { Nothing -> Nothing; Just x -> k x } }
useDict :: MonadDict m -> m Int -> m String
useDict d m = bind d m (\x -> bind d (ret d (x + 1)) (\y -> ret d (show y)))
type Lens s a = forall f. Functor f => (a -> f a) -> s -> f s
newtype Identity a = Identity { runIdentity :: a }
instance Functor Identity where fmap f (Identity a) = Identity (f a)
newtype Const a b = Const { getConst :: a }
instance Functor (Const a) where fmap _ (Const a) = Const a
view :: Lens s a -> s -> a
view l s = getConst (l Const s)
over :: Lens s a -> (a -> a) -> s -> s
over l f = runIdentity . l (Identity . f)
set :: Lens s a -> a -> s -> s
set l a = over l (const a)
data Address = Address { _street :: String, _city :: String } deriving Show
data Person = Person { _name :: String, _address :: Address } deriving Show
name :: Lens Person String
name f p = fmap (\n -> p { _name = n }) (f (_name p))
address :: Lens Person Address
address f p = fmap (\a -> p { _address = a }) (f (_address p))
city :: Lens Address String
city f a = fmap (\c -> a { _city = c }) (f (_city a))
newtype Parser a = Parser { unP :: forall r. String -> (a -> String -> r) -> (String -> r) -> r }
instance Functor Parser where fmap f (Parser p) = Parser (\s ok no -> p s (ok . f) no)
instance Applicative Parser where { pure x = Parser (\s ok _ -> ok x s); Parser p <*> Parser q = Parser (\s ok no -> p s (\f s' -> q s' (ok . f) no) no) }
instance Monad Parser where Parser p >>= k = Parser (\s ok no -> p s (\a s' -> unP (k a) s' ok no) no)
item :: Parser Char
item = Parser $ \s ok no -> case s of { [] -> no "end"; c : cs -> ok c cs }
many1 :: Parser a -> Int -> Parser [a]
many1 p 0 = pure []
many1 p n = do { x <- p; xs <- many1 p (n - 1); return (x : xs) }
runP :: Parser a -> String -> Either String (a, String)
runP p s = unP p s (\a r -> Right (a, r)) Left
withBoth :: (forall x. (Ord x, Num x) => x -> x -> x) -> (Int, Double)
withBoth g = (g 1 2, g 2.5 1)
newtype Wrap = Wrap (forall a. Maybe a -> Bool)
check (Wrap f) = (f (Just 'x'), f (Nothing :: Maybe Int))
main :: IO ()
main = do
  print (foo length ([1,2,3], "ab"))
  print (foo (\xs -> 2 * length xs) ([1,2,3], "ab"))
  print (toInt (add (suc (suc zero)) (suc zero)), toInt (mul (suc (suc zero)) (suc (suc (suc zero)))))
  print (apply m2l (Just 1, Nothing))
  print (apply (\m -> case m of { Just x -> [x, x]; Nothing -> [] }) (Just 1, Just 'c'))
  print (showAll show 3 True)
  runCodensity (do { x <- lift' (return 3); y <- lift' (return (x + 1)); lift' (print (x, y)) }) return
  print (useDict maybeDict (Just 41))
  let p = Person "Ann" (Address "High St" "York")
  print (view name p, view (address . city) p)
  print (set (address . city) "Leeds" p)
  print (over name (++ "!") p)
  print (runP (many1 item 2) "abc", runP (many1 item 4) "abc")
  print (withBoth (\a b -> if a < b then b else a - b))
  print (check (Wrap (maybe False (const True))))
