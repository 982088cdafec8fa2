-- `throw` in actions keeps the type of what is thrown.
import Control.Exception
import Control.Monad
data Bad = Bad Int | Worse String deriving (Show, Eq)
instance Exception Bad
check :: Int -> IO Int
check n = do
  when (n < 0) $ throw (Bad n)
  if n > 100 then throw (Worse "big") else return (n * 2)
main = do
  r <- try (check (-1)) :: IO (Either Bad Int)
  print r
  r <- try (check 5) :: IO (Either Bad Int)
  print r
  r <- try (check 500)
  case r of
    Left (Worse s) -> putStrLn s
    Left e -> print e
    Right v -> print v
  (throw (Bad 3) >> return ()) `catch` \e -> print (e :: Bad)
  handle (\e -> print (e :: SomeException)) (throw DivideByZero)
  handle (\e -> print (e :: ArithException)) (void (evaluate (throw Overflow :: Int)))
