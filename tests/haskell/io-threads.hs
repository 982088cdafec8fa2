import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Dynamic
import Data.Maybe
import Data.Typeable
import System.Exit

data T = T Int deriving (Show, Typeable)

transfer :: TVar Int -> TVar Int -> Int -> STM ()
transfer from to n = do
  x <- readTVar from
  when (x < n) retry
  modifyTVar' from (subtract n)
  modifyTVar' to (+ n)

main :: IO ()
main = do
  -- threads that report through places and channels
  total <- newMVar (0 :: Int)
  dones <- forM [1 .. 5] $ \n -> do
    done <- newEmptyMVar
    _ <- forkIO (modifyMVar_ total (return . (+ n)) >> putMVar done ())
    return done
  mapM_ takeMVar dones
  readMVar total >>= print
  chan <- newChan
  _ <- forkIO (mapM_ (writeChan chan . Just) "abc" >> writeChan chan Nothing)
  let loop = readChan chan >>= maybe (putStrLn "end") (\c -> print c >> loop)
  loop
  -- transactions
  a <- newTVarIO 10
  b <- newTVarIO 0
  _ <- forkIO (replicateM_ 4 (atomically (transfer a b 5)))
  _ <- forkIO (atomically (modifyTVar a (+ 10)))
  atomically (readTVar b >>= \n -> check (n >= 10))
  left <- atomically ((transfer a b 1000 >> return "moved") `orElse` return "not enough")
  putStrLn left
  box <- newEmptyTMVarIO
  _ <- forkIO (atomically (putTMVar box "in the box"))
  atomically (takeTMVar box) >>= putStrLn
  -- exceptions by type
  r <- try (exitWith (ExitFailure 3))
  print (r :: Either ExitCode ())
  s <- try (takeMVar =<< (newEmptyMVar :: IO (MVar Int)))
  putStrLn (either (const "blocked") show (s :: Either SomeException Int))
  let handlers = [Handler (\e -> return (show (e :: ArithException))), Handler (\e -> return ("call: " ++ show (e :: ErrorCall)))]
  (evaluate (1 `div` (0 :: Int)) >>= return . show) `catches` handlers >>= putStrLn
  (throwIO (ErrorCall "no") >> return "") `catches` handlers >>= putStrLn
  mask $ \restore -> restore (putStrLn "masked") `finally` putStrLn "after"
  -- types as values
  print (typeOf (1 :: Int), typeOf "x", typeOf (Just [True]), typeOf (1.5 :: Double, 'c'))
  print (cast (3 :: Int) :: Maybe Int, cast 'x' :: Maybe Int)
  let ds = [toDyn (1 :: Int), toDyn "hello", toDyn (T 3), toDyn 'c']
  print (mapMaybe fromDynamic ds :: [Int])
  print (mapMaybe fromDynamic ds :: [T], fromDyn (ds !! 1) "")
  print (ds !! 1)
  (putStrLn "bye" `finally` exitWith (ExitFailure 4)) `catch` \e -> print (e :: ExitCode)
