-- Classes and cases of characters beyond ASCII.
module Main where

import Data.Char

classes :: Char -> String
classes c = [if p c then 'x' else '-' | p <- [isUpper, isLower, isAlpha, isAlphaNum, isDigit, isSpace, isPunctuation]]

main :: IO ()
main = do
  mapM_ (\c -> putStrLn (show c ++ " " ++ classes c ++ " " ++ show (toUpper c, toLower c))) "aZ5 _é\223Ä\255\181ŁłŸĲŉſλΛςΣΏώжЖЁёӀӏ語→█✓—…“€\8199\12288🙂"
  print (map (\n -> sum [fromEnum (isUpper (chr c)) | c <- [n .. n + 127]]) [0, 128, 256, 1024, 1152])
  print (sum [ord (toUpper (chr c)) - ord (toLower (chr c)) | c <- [0 .. 383] ++ [902 .. 974] ++ [1024 .. 1327]])
  print (words "eins\160zwei\8195drei", map toUpper "λόγος жизнь čeština", filter isAlpha "a→b—c…λ1!")
