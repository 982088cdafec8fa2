-- Continuations, and RWS: an environment, output and a state.
import Control.Monad.Cont
import Control.Monad.RWS

search :: [Int] -> Cont r (Maybe Int)
search xs = callCC $ \exit -> do
  forM_ xs $ \x -> when (x * x > 50) $ exit (Just x)
  return Nothing

safe :: Int -> Int -> Cont r (Either String Int)
safe _ 0 = return (Left "zero")
safe a b = return (Right (a `div` b))

generate :: ContT () IO Int
generate = ContT $ \k -> mapM_ k [1 .. 3]

simulate :: Int -> RWS Int [String] Int Int
simulate 0 = get
simulate n = do
  step <- ask
  before <- get
  put (before * step `mod` 101)
  after <- get
  when (even after) $ tell [show before ++ " to " ++ show after]
  local (+ 1) (simulate (n - 1))

actions :: RWST Int [String] Int IO ()
actions = do
  n <- asks (* 2)
  modify (+ n)
  m <- gets (+ 1)
  lift (print (n, m))
  (_, w) <- listen (tell ["inner"])
  liftIO (print w)
  censor (map reverse) (tell ["abc"])

main :: IO ()
main = do
  print (runCont (search [1 .. 20]) id)
  print (runCont (search [1 .. 5]) id)
  print (runCont (do { a <- safe 10 2; b <- safe 1 0; return (a, b) }) show)
  runContT generate (\n -> putStrLn (replicate n '*'))
  flip runContT return $ do
    n <- generate
    lift (print n)
  print (runRWS (simulate 6) 2 3)
  (s, w) <- execRWST actions 5 100
  print s
  print w
