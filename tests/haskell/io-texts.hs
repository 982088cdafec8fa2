{-# LANGUAGE OverloadedStrings #-}
import qualified Data.Text as T
import qualified Data.Text.IO as TIO
import qualified Data.Text.Read as R
import qualified Data.ByteString.Char8 as B
import Data.Text (Text)
import qualified Data.Map as M
freq :: Text -> M.Map Text Int
freq t = M.fromListWith (+) [(w, 1) | w <- T.words (T.toLower t)]
main :: IO ()
main = do
  print (M.toList (freq "the cat The dog"))
  print (T.splitOn "," "a,b,,c", T.splitOn "ab" "cabbabd", T.breakOn "=" "k=v=w", T.breakOnEnd "/" "a/b/c")
  print (T.replace "na" "NA" "banana", T.count "an" "banana", T.chunksOf 3 "abcdefgh")
  print (T.strip "  hi ", T.stripStart "  hi ", T.center 8 '*' "abc", T.justifyRight 5 '.' "ab", T.justifyLeft 5 '.' "ab")
  print (T.stripPrefix "foo" "foobar", T.stripSuffix "bar" "foobar", T.stripPrefix "x" "foobar")
  print (T.dropEnd 2 "hello", T.takeEnd 2 "hello", T.dropAround (== '-') "--a-b--", T.takeWhileEnd (/= 'l') "hello")
  print (T.unpack (T.map succ "HAL"), T.length "four", T.null "", T.concat ["a","b"], T.intercalate ", " ["x","y"])
  print (T.split (== ' ') "a b  c", T.lines "a\nb\n", T.unwords ["p","q"], T.zip "ab" "cd", T.index "abc" 1)
  print (T.foldl' (\n c -> n * 10 + fromEnum c - 48) 0 "123", T.uncons "ab", T.unsnoc "ab", T.toTitle "hello world")
  print (R.decimal "123abc" :: Either String (Int, Text))
  print (R.signed R.decimal "-5" :: Either String (Int, Text), fmap fst (R.double "3.5e2x"))
  print (T.partition (> 'b') "abcd", T.filter (/= 'a') "banana", T.reverse "abc", T.isInfixOf "nan" "banana", T.commonPrefixes "foobar" "fooquux")
  TIO.putStrLn (T.append "done" (T.singleton '!'))
  print (B.readInt "12 34", B.readInt "x", B.words "a b", B.split ',' "a,b,,", B.unpack (B.pack "xyz"))
  B.putStrLn (B.unwords (map (B.pack . show) [1, 2, 3 :: Int]))
