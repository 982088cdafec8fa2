{-# LANGUAGE ScopedTypeVariables #-}
-- Control.Exception: exceptions that actions throw, failures of expressions, and what is done whatever happens.
import Control.Exception
import Control.Monad
import Data.IORef
import qualified Data.Map as Map

data Refusal = Refusal String Int | NoFunds { missing :: Int } deriving (Show, Eq)

instance Exception Refusal

newtype Other = Other String deriving Show

instance Exception Other where
  displayException (Other text) = "other: " ++ text

-- Throws as an action.
withdraw :: IORef Int -> Int -> IO ()
withdraw account n = do
  balance <- readIORef account
  when (n <= 0) $ throwIO (Refusal "not positive" n)
  when (n > balance) $ throwIO (NoFunds (n - balance))
  writeIORef account (balance - n)

divide :: Int -> Int -> IO (Either ArithException Int)
divide x y = try (evaluate (x `div` y))

deep :: Int -> Int
deep 0 = error "at the bottom"
deep n = 1 + deep (n - 1)

main :: IO ()
main = do
  -- failures of expressions
  mapM_ (\(x, y) -> divide x y >>= print) [(7, 2), (7, 0), (1, 1)]
  called <- try (evaluate (deep 20000)) :: IO (Either ErrorCall Int)
  either (\(ErrorCall text) -> putStrLn ("called: " ++ text)) print called
  (print (sum [1, 2, 3 `div` (0 :: Int)]) >> putStrLn "never") `catch` \(e :: SomeException) -> putStrLn ("caught " ++ show e)
  handle (\e -> putStrLn ("arithmetic: " ++ show (e :: ArithException))) $ do
    putStrLn "before"
    print (10 `mod` (0 :: Integer))
    putStrLn "after"
  -- exceptions of actions
  account <- newIORef 100
  forM_ [30, -1, 80, 70] $ \n -> do
    r <- try (withdraw account n)
    case r of
      Left (Refusal why k) -> putStrLn ("refused: " ++ why ++ " " ++ show k)
      Left e -> print (e, missing e)
      Right () -> readIORef account >>= print
  -- only the handler of the right type
  let risky k = case k :: Int of
        0 -> throwIO (Other "zero")
        1 -> throwIO (Refusal "one" 1)
        2 -> ioError (userError "two")
        3 -> throwIO DivideByZero
        4 -> void (evaluate (1 `div` (k - 4)))
        _ -> return ()
  forM_ [0 .. 5] $ \k -> do
    result <- try ((((risky k >> putStrLn "done")
      `catch` (\(e :: Other) -> putStrLn (displayException e)))
      `catch` (\(e :: IOException) -> putStrLn ("io: " ++ show e)))
      `catch` (\(e :: ArithException) -> putStrLn ("arith: " ++ show e)))
    case result of
      Left (e :: SomeException) -> putStrLn ("some: " ++ show e ++ ", " ++ show (fromException e :: Maybe Refusal))
      Right () -> return ()
  -- whatever happens
  (putStrLn "work" `finally` putStrLn "clean") >> putStrLn "next"
  r <- try (bracket (putStrLn "open" >> return 5) (\x -> putStrLn ("close " ++ show x)) (\x -> evaluate (x `div` (x - 5))))
  print (r :: Either ArithException Int)
  s <- try (bracket_ (putStrLn "in") (putStrLn "out") (throwIO (Other "x"))) :: IO (Either Other ())
  print s
  t <- try ((evaluate (Map.fromList [(1, 'a')] Map.! 1)) `onException` putStrLn "not printed") :: IO (Either SomeException Char)
  print t
  -- handlers may throw; what they throw goes on
  u <- try (handle (\(ErrorCall e) -> throwIO (Refusal e 0)) (evaluate (error "first")))
  print (u :: Either Refusal ())
  v <- tryJust (\e -> if e == DivideByZero then Just "zero" else Nothing) (evaluate (1 `quot` (0 :: Int)))
  print v
  w <- catchJust (\e -> if e == Refusal "a" 1 then Just 'a' else Nothing) (throwIO (Refusal "a" 1)) return
  handleJust (\e -> if e == Refusal "a" 1 then Just 'b' else Nothing) print (throwIO (Refusal "a" 1))
  print w
  x <- try (bracketOnError (return 'o') (\_ -> putStrLn "undo") (\_ -> throwIO (Other "y")))
  print (x :: Either Other ())
  -- references made inside, and those from before where nothing fails
  total <- newIORef 0
  forM_ [1 .. 5 :: Int] $ \k -> do
    w <- try (do own <- newIORef k; modifyIORef own (* 2); x <- readIORef own; evaluate (100 `div` (x - 6)))
    case w of
      Left (_ :: ArithException) -> putStrLn "skipped"
      Right x -> handle (\(_ :: SomeException) -> return ()) (modifyIORef total (+ x))
  readIORef total >>= print
  throw (ErrorCall "last") `catch` \e -> putStrLn (takeWhile (/= '\n') (show (e :: ErrorCall)))
