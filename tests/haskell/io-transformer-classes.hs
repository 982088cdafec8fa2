{-# LANGUAGE FlexibleContexts #-}
-- The classes of mtl: what a transformer passes on from the monad below it.
import Control.Monad.State
import Control.Monad.Reader
import Control.Monad.Writer
import Control.Monad.Except

data Config = Config { depth :: Int, name :: String }

type App = ReaderT Config (StateT Int (WriterT [String] IO))

step :: App Int
step = do
  d <- asks depth
  n <- get
  tell ["at " ++ show n]
  put (n + d)
  liftIO (putStrLn ("n=" ++ show n))
  if n > 5 then return n else local (\c -> c { depth = depth c + 1 }) step

counter :: (MonadState Int m, MonadIO m) => m ()
counter = do
  modify (+ 1)
  n <- get
  liftIO (print n)

tick :: MonadState Int m => m Int
tick = do { n <- get; put (n + 1); return n }

safeDiv :: MonadError String m => Int -> Int -> m Int
safeDiv _ 0 = throwError "div by zero"
safeDiv a b = return (a `div` b)


eval :: StateT Int (Either String) Int
eval = do
  n <- get
  m <- safeDiv 10 n `catchError` \e -> return (-1)
  put m
  safeDiv 3 0

logS :: (MonadWriter [String] m) => String -> m ()
logS s = tell [s]

main :: IO ()
main = do
  ((r, s), w) <- runWriterT (runStateT (runReaderT step (Config 1 "a")) 0)
  print (r, s, w)
  execStateT (counter >> counter) 3 >>= print
  print (runState (replicateM 3 tick) 10)
  print (runStateT eval 0)
  print (runStateT eval 5)
  r <- runExceptT (evalStateT (do { x <- tick; when (x > 2) (throwError "big"); lift (lift (print x)); safeDiv 1 x }) 2)
  print r
  r <- runExceptT (evalStateT (do { x <- tick; when (x > 2) (throwError "big"); lift (lift (print x)); safeDiv 1 x }) 3)
  print (r :: Either String Int)
  print (runWriter (logS "a" >> logS "b" >> return 3))
