-- A stack machine in a State monad over Either, a log in a Writer, an environment in a Reader.
module Main where

import Control.Monad.Reader
import Control.Monad.State
import Control.Monad.Writer
import qualified Data.Map as Map

data Instr = Push Int | Pop | Plus | Times | Dup | Swap | Jmpz Int | Jmp Int | Print deriving (Show, Eq)

data Machine = Machine { stack :: [Int], counter :: Int, output :: [String] } deriving Show

type Run = StateT Machine (Either String)

pop :: Run Int
pop = do
  m <- get
  case stack m of
    [] -> lift (Left ("empty stack at " ++ show (counter m)))
    x : xs -> do
      put m { stack = xs }
      return x

push :: Int -> Run ()
push x = modify (\m -> m { stack = x : stack m })

step :: Instr -> Run ()
step (Push n) = push n
step Pop = void pop
step Plus = binary (+)
step Times = binary (*)
step Dup = pop >>= \x -> push x >> push x
step Swap = do { x <- pop; y <- pop; push x; push y }
step (Jmpz to) = do
  x <- pop
  when (x == 0) (modify (\m -> m { counter = to - 1 }))
step (Jmp to) = modify (\m -> m { counter = to - 1 })
step Print = pop >>= \x -> modify (\m -> m { output = show x : output m })

binary :: (Int -> Int -> Int) -> Run ()
binary f = do
  x <- pop
  y <- pop
  push (f y x)

execute :: [Instr] -> Run ()
execute program = do
  at <- gets counter
  unless (at >= length program) $ do
    step (program !! at)
    modify (\m -> m { counter = counter m + 1 })
    execute program

run :: [Instr] -> Either String [String]
run program = fmap (reverse . output) (execStateT (execute program) (Machine [] 0 []))

countdown :: [Instr]
countdown = [Push 3, Dup, Print, Push (-1), Plus, Dup, Jmpz 8, Jmp 1, Push 100, Print]

-- ---- an environment ----

data Term = Var String | Num Int | Let String Term Term | Add Term Term | Mul Term Term

eval :: Term -> Reader (Map.Map String Int) Int
eval (Num n) = return n
eval (Var x) = asks (Map.findWithDefault (error ("unbound " ++ x)) x)
eval (Let x e b) = do
  v <- eval e
  local (Map.insert x v) (eval b)
eval (Add a b) = liftM2 (+) (eval a) (eval b)
eval (Mul a b) = (*) <$> eval a <*> eval b

-- ---- a log ----

collatz :: Int -> Writer [Int] Int
collatz 1 = tell [1] >> return 0
collatz n = do
  tell [n]
  k <- collatz (if even n then n `div` 2 else 3 * n + 1)
  return (k + 1)

hanoi :: Int -> Char -> Char -> Char -> Writer (Sum Int) ()
hanoi 0 _ _ _ = return ()
hanoi n a b c = do
  hanoi (n - 1) a c b
  tell (Sum 1)
  hanoi (n - 1) c b a

main :: IO ()
main = do
  print (run countdown)
  print (run [Push 1, Plus])
  print (runReader (eval (Let "x" (Num 5) (Add (Var "x") (Mul (Var "x") (Num 2))))) Map.empty)
  print (runWriter (collatz 6))
  print (getSum (execWriter (hanoi 10 'a' 'b' 'c')))
  flip evalStateT (0 :: Int) $ do
    forM_ [1 .. 5] $ \i -> do
      modify (+ i)
      s <- get
      lift (putStrLn (show i ++ " " ++ show s))
    s <- get
    liftIO (print s)
