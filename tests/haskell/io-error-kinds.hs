-- The kinds and parts of errors, and what stands around actions that fail.
import Control.Exception (IOException, bracket_, evaluate, handle, onException, throwIO)
import System.IO.Error

kinds :: [(String, IOErrorType)]
kinds =
  [ ("exists", alreadyExistsErrorType), ("lacks", doesNotExistErrorType), ("used", alreadyInUseErrorType), ("full", fullErrorType)
  , ("end", eofErrorType), ("illegal", illegalOperationErrorType), ("permission", permissionErrorType), ("user", userErrorType) ]

tests :: IOError -> [Bool]
tests e = map ($ e)
  [ isAlreadyExistsError, isDoesNotExistError, isAlreadyInUseError, isFullError, isEOFError, isIllegalOperation, isPermissionError, isUserError ]

say :: String -> IOException -> IO ()
say what e = putStrLn (what ++ ": " ++ show e)

main :: IO ()
main = do
  mapM_ (\(name, kind) -> print (name, tests (mkIOError kind "here" Nothing Nothing))) kinds
  let e = ioeSetFileName (ioeSetLocation (ioeSetErrorString (userError "first") "second") "there") "file"
  print e
  print (ioeGetErrorString e, ioeGetLocation e, ioeGetFileName e, ioeGetErrorType e == userErrorType, ioeGetErrorType e)
  print (annotateIOError (userError "text") "place" Nothing (Just "name"))
  handle (say "handled") (throwIO (userError "thrown"))
  handle (say "again") (bracket_ (putStrLn "before") (putStrLn "after") (ioError (userError "inside")))
  handle (say "third") (fmap (const ()) (ioError (userError "x") `onException` putStrLn "on the way"))
  n <- evaluate (2 + 3 :: Int)
  print n
