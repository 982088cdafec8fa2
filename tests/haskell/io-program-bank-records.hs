module Main where
import qualified Data.Map as M
import Control.Exception
import Control.Monad
import Control.Monad.State
import Data.Either (partitionEithers)
import Data.List (sortOn, partition)
import Text.Read (readMaybe)
import Text.Printf (printf)
data Account = Account { owner :: String, balance :: Double, history :: [Transaction] } deriving (Show, Eq)
data Transaction = Deposit { amount :: Double } | Withdrawal { amount :: Double, memo :: Maybe String } deriving (Show, Eq, Ord)
data BankError = Insufficient Double | NoSuch String | Invalid deriving (Show, Eq)
type Bank = M.Map String Account
type BankM = StateT Bank (Either BankError)
failWith :: BankError -> BankM a
failWith = lift . Left
account :: String -> BankM Account
account n = gets (M.lookup n) >>= maybe (failWith (NoSuch n)) return
deposit, withdraw :: String -> Double -> BankM ()
deposit n x = do
  when (x <= 0) $ failWith Invalid
  a <- account n
  modify (M.insert n a { balance = balance a + x, history = Deposit x : history a })
withdraw n x = do
  a <- account n
  unless (balance a >= x) $ failWith (Insufficient (x - balance a))
  modify (M.insert n a { balance = balance a - x, history = Withdrawal { amount = x, memo = Nothing } : history a })
transfer :: String -> String -> Double -> BankM ()
transfer a b x = withdraw a x >> deposit b x
start :: Bank
start = M.fromList [(n, Account { owner = n, balance = b, history = [] }) | (n, b) <- [("ann", 100), ("bob", 20.5)]]
parseLine :: String -> Either String (String, Double)
parseLine s = case words s of
  [n, x] | Just v <- readMaybe x -> Right (n, v)
         | otherwise -> Left ("not a number: " ++ x)
  ws -> Left ("expected two words, got " ++ show (length ws))
main :: IO ()
main = do
  print (execStateT (transfer "ann" "bob" 30) start)
  print (evalStateT (transfer "bob" "ann" 30) start)
  print (evalStateT (transfer "ann" "cyd" 30) start)
  print (evalStateT (deposit "ann" (-1)) start)
  let (bad, good) = partitionEithers (map parseLine ["ann 12.5", "bob x", "a b c", "cyd -3e2"])
  mapM_ putStrLn bad
  forM_ (sortOn snd good) $ \(n, v) -> printf "%-5s|%10.3f|%s\n" n v (show v)
  r <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
  print r
  r2 <- try (evaluate (head [])) :: IO (Either SomeException Int)
  putStrLn (either (const "head failed") show r2)
  handle (\e -> putStrLn ("caught: " ++ takeWhile (/= '\n') (show (e :: ErrorCall)))) (when (length bad > 1) (throwIO (ErrorCall "too many")))
