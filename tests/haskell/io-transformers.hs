import Control.Monad.State
import Control.Monad.Reader (ReaderT, runReaderT, ask, asks, local, runReader)
import Control.Monad.Writer (Writer, tell, runWriter, execWriter)
import Control.Monad.Except (runExceptT, throwError, ExceptT)
import Control.Monad.Trans.Maybe
import Control.Applicative

counter :: State Int Int
counter = do
  n <- get
  put (n + 1)
  modify (* 2)
  gets (+ n)

triples :: Int -> [(Int, Int, Int)]
triples n = do
  a <- [1 .. n]
  b <- [a .. n]
  c <- [b .. n]
  guard (a * a + b * b == c * c)
  return (a, b, c)

app :: ReaderT Int (StateT [Int] IO) ()
app = do
  n <- ask
  lift (modify (n :))
  liftIO (print n)
  local (+ 1) (when (n < 3) app)

logged :: Int -> Writer [String] Int
logged 0 = return 0
logged n = do
  tell ["at " ++ show n]
  m <- logged (n - 1)
  return (n + m)

safe :: Double -> ExceptT String (State Int) Double
safe x = do
  lift (modify (+ 1))
  when (x < 0) (throwError "negative")
  return (sqrt x)


main :: IO ()
main = do
  print (runState counter 5)
  print (evalState (replicateM 3 counter) 1)
  print (triples 15)
  (_, s) <- runStateT (runReaderT app 1) []
  print s
  print (runWriter (logged 3))
  print (runState (runExceptT (safe 4 >>= \y -> safe (y - 3))) 0)
  r <- runMaybeT (msum [MaybeT (return Nothing), lift (print "x") >> return 3])
  print r
