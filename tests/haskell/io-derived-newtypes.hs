{-# LANGUAGE GeneralizedNewtypeDeriving, StandaloneDeriving, FlexibleInstances #-}
import Control.Monad.State
import Control.Monad.Writer
import Control.Monad.Reader
import Control.Monad.Except
import qualified Data.Map as M

newtype Money = Money Int deriving (Eq, Ord, Num, Enum, Real, Integral)
instance Show Money where show (Money n) = "$" ++ show n

data Err = Unbound String | DivZero deriving (Show, Eq)
newtype Eval a = Eval { unEval :: ReaderT (M.Map String Int) (StateT Int (ExceptT Err IO)) a }
  deriving (Functor, Applicative, Monad, MonadReader (M.Map String Int), MonadState Int, MonadError Err, MonadIO)

runEval :: Eval a -> IO (Either Err (a, Int))
runEval m = runExceptT (runStateT (runReaderT (unEval m) (M.fromList [("x", 7)])) 0)

data Expr = V String | N Int | Expr :+: Expr | Expr :/: Expr | Let String Expr Expr

eval :: Expr -> Eval Int
eval (N n) = return n
eval (V v) = do
  modify (+ 1)
  env <- ask
  maybe (throwError (Unbound v)) return (M.lookup v env)
eval (a :+: b) = (+) <$> eval a <*> eval b
eval (a :/: b) = do
  x <- eval a
  y <- eval b
  liftIO (putStrLn ("dividing " ++ show x ++ " by " ++ show y))
  if y == 0 then throwError DivZero else return (x `div` y)
eval (Let v e b) = do
  x <- eval e
  local (M.insert v x) (eval b)

newtype Counter s a = Counter (State s a) deriving (Functor, Applicative, Monad, MonadState s)
tick :: Counter Int Int
tick = do { n <- get; put (n + 1); return n }
runC :: Counter s a -> s -> (a, s)
runC (Counter m) s = runState m s

newtype Wrap f a = Wrap (f a)
deriving instance Show (f a) => Show (Wrap f a)
data Color = Red | Green
deriving instance Eq Color
deriving instance Show Color

newtype All' = All' Bool deriving (Show)
newtype W = W [Int] deriving (Show, Semigroup, Monoid)

main :: IO ()
main = do
  print (sum [Money 3, Money 4] * 2, fromEnum (Money 3), Money 7 `div` 2)
  r <- runEval (eval (Let "y" (N 3 :+: V "x") (V "y" :/: N 2)))
  print r
  r2 <- runEval (eval (V "x" :/: N 0) `catchError` \e -> do { liftIO (print e); return 42 })
  print r2
  r3 <- runEval (eval (V "q"))
  print r3
  print (runC (tick >> tick >> gets (* 10)) 5)
  print (Red, Red == Green)
  print (W [1] <> mempty <> W [2,3])
