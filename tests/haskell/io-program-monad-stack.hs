{-# LANGUAGE FlexibleContexts #-}
import Control.Monad
import Control.Monad.State
import Control.Monad.Writer
import Control.Monad.Reader
import qualified Data.Map as Map
import Data.Maybe (fromMaybe)

data Exp = Lit Integer | Var String | Plus Exp Exp | Abs String Exp | App Exp Exp deriving Show
data Value = IntVal Integer | FunVal Env String Exp
type Env = Map.Map String Value

instance Show Value where
  showsPrec d (IntVal n) = showParen (d > 10) $ showString "IntVal " . showsPrec 11 n
  showsPrec _ (FunVal env n _) = showString ("<" ++ n ++ " in " ++ show (Map.keys env) ++ ">")

type Eval a = ReaderT Env (WriterT [String] (StateT Integer Maybe)) a

tick :: (Num s, MonadState s m) => m ()
tick = modify (+ 1)

eval :: Exp -> Eval Value
eval (Lit i) = do { tick; return $ IntVal i }
eval (Var n) = do
  tick
  tell [n]
  env <- ask
  maybe mzero return (Map.lookup n env)
eval (Plus a b) = do
  tick
  x <- eval a
  y <- eval b
  case (x, y) of
    (IntVal i, IntVal j) -> return (IntVal (i + j))
    _ -> mzero
eval (Abs n e) = do
  tick
  env <- ask
  return (FunVal env n e)
eval (App f a) = do
  tick
  f' <- eval f
  a' <- eval a
  case f' of
    FunVal env n body -> local (const (Map.insert n a' env)) (eval body)
    _ -> mzero

runEval :: Eval a -> Maybe ((a, [String]), Integer)
runEval ev = runStateT (runWriterT (runReaderT ev Map.empty)) 0

main :: IO ()
main = do
  let example = Lit 12 `Plus` App (Abs "x" (Var "x")) (Lit 4 `Plus` Lit 2)
  print (runEval (eval example))
  print (runEval (eval (Abs "y" (Var "y"))))
  print (runEval (eval (Var "z")))
  print (runEval (eval (App (App (Abs "x" (Abs "y" (Plus (Var "x") (Var "y")))) (Lit 1)) (Lit 2))))
