-- Errors of input and output, raised and caught: Haskell 98, chapter 7.
import Control.Monad
import Data.IORef
import System.IO
import System.IO.Error
import qualified Control.Exception as E

risky :: Int -> IO Int
risky n
  | n > 3 = ioError (userError ("too large: " ++ show n))
  | otherwise = return (n * 10)

safely :: IO a -> IO (Either String a)
safely m = fmap Right m `catchIOError` (return . Left . show)

lineOr :: String -> IO String
lineOr other = getLine `catchIOError` \e -> if isEOFError e then return other else ioError e

count :: Int -> IO Int
count n = do
  found <- tryIOError getLine
  case found of
    Left e | isEOFError e -> return n
           | otherwise -> ioError e
    Right _ -> count (n + 1)

main :: IO ()
main = do
  mapM (safely . risky) [2, 4] >>= print
  r <- newIORef (0 :: Int)
  (forM_ [1 ..  10] $ \k -> do
     modifyIORef r (+ k)
     when (k == 5) $ fail "five") `catchIOError` \e -> putStrLn ("caught " ++ ioeGetErrorString e)
  readIORef r >>= print
  found <- tryIOError (readFile "/nonexistent/file")
  case found of
    Left e -> do
      print (isDoesNotExistError e, isUserError e, isEOFError e, ioeGetFileName e)
      print e
    Right text -> putStr text
  n <- (risky 9 `catchIOError` \_ -> risky 8) `catchIOError` \e -> print e >> return 0
  print n
  lineOr "none" >>= putStrLn
  count 0 >>= print
  lineOr "none" >>= putStrLn
  (do { putStrLn "body"; _ <- risky 7; putStrLn "not here" } `E.finally` putStrLn "at the end") `catchIOError` print
  x <- E.bracket (putStrLn "open" >> return 5) (\_ -> putStrLn "close") (\k -> return (k + 1))
  print x
  tryIOError (modifyIOError (\e -> ioeSetErrorString e "changed") (risky 5)) >>= print
  print (mkIOError doesNotExistErrorType "place" Nothing (Just "name"))
  tryIOError (readIO "x1" :: IO Int) >>= print
  r <- E.try (risky 4) :: IO (Either E.IOException Int)
  print r
