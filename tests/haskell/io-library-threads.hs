-- What is left of the modules of texts, threads and types.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Dynamic
import Data.Proxy
import Data.String (fromString)
import qualified Data.Text as T
import qualified Data.Text.Lazy as L
import qualified Data.Text.Read as R
import Data.Typeable
import System.Exit

main :: IO ()
main = do
  let l = L.fromChunks [T.pack "ab", T.pack "cd"]
  print (L.toStrict l, L.fromStrict (T.pack "x"), map T.length (L.toChunks (L.pack "abc")))
  print (T.toCaseFold (T.pack "ABC"), T.stripEnd (T.pack "a  "), T.breakOnAll (T.pack "/") (T.pack "a/b/c"))
  print (T.takeWhileEnd (> 'b') (T.pack "abcd"), T.dropWhileEnd (> 'b') (T.pack "abcd"))
  print (fmap fst (R.rational (T.pack "2.5")) :: Either String Double)
  print (fromString "text" == "text")
  chan <- newChan
  writeList2Chan chan [1, 2, 3 :: Int]
  replicateM 3 (readChan chan) >>= print
  v <- atomically (newTVar 1)
  n <- atomically (stateTVar v (\s -> (s * 10, s + 1)))
  m <- atomically (swapTVar v 7)
  atomically (writeTVar v 8)
  k <- readTVarIO v
  print (n, m, k :: Int)
  r <- try (atomically (writeTVar v 9 >> throwSTM (ErrorCall "undone")))
  readTVarIO v >>= \x -> print (r :: Either ErrorCall (), x)
  p <- newTMVarIO 'a'
  q <- atomically newEmptyTMVar
  s <- atomically (newTMVar 'b')
  a <- atomically (readTMVar p)
  b <- atomically (swapTMVar s 'c')
  full <- atomically (isEmptyTMVar q)
  put <- atomically (tryPutTMVar q 'd')
  again <- atomically (tryPutTMVar q 'e')
  took <- atomically (tryTakeTMVar q)
  print (a, b, full, put, again, took)
  c1 <- newTChanIO
  c2 <- atomically newTChan
  atomically (mapM_ (writeTChan c1) "xy")
  x <- atomically (readTChan c1)
  none <- atomically (tryReadTChan c2)
  e1 <- atomically (isEmptyTChan c1)
  print (x, none :: Maybe Char, e1)
  q1 <- newTQueueIO
  q2 <- atomically newTQueue
  atomically (mapM_ (writeTQueue q1) [1 .. 4 :: Int])
  y <- atomically (readTQueue q1)
  z <- atomically (tryReadTQueue q2)
  rest <- atomically (flushTQueue q1)
  e2 <- atomically (isEmptyTQueue q1)
  print (y, z :: Maybe Int, rest, e2)
  b1 <- newTBQueueIO 2
  b2 <- atomically (newTBQueue 1)
  done <- newEmptyMVar
  _ <- forkIO (replicateM 3 (atomically (readTBQueue b1)) >>= putMVar done)
  atomically (writeTBQueue b1 "one")
  atomically (writeTBQueue b1 "two")
  atomically (writeTBQueue b2 ())
  _ <- forkIO (atomically (writeTBQueue b1 "three"))
  threadDelay 1000
  yield
  takeMVar done >>= print
  mask_ (putStrLn "masked")
  uninterruptibleMask_ (putStrLn "too")
  uninterruptibleMask (\restore -> restore (putStrLn "restored"))
  getMaskingState >>= print
  putStrLn (assert (n > 0) "asserted")
  print (dynTypeRep (toDyn 'c'), typeRep (Proxy :: Proxy Int), showsTypeRep (typeOf "x") "")
  exitFailure `catch` \e -> print (e :: ExitCode)
