module Main (main) where
import Data.Char
import Data.List
import qualified Data.Map as M
import Text.Printf
import Numeric (showHex, showOct, readHex)

caesar :: Int -> String -> String
caesar k = map f
  where f c | isUpper c = rot 'A' c
            | isLower c = rot 'a' c
            | otherwise = c
        rot b c = chr (ord b + (ord c - ord b + k) `mod` 26)

rle :: String -> [(Int, Char)]
rle = map (\g -> (length g, head g)) . group

unrle :: [(Int, Char)] -> String
unrle = concatMap (uncurry replicate)

roman :: Int -> String
roman 0 = ""
roman n = let (v, s) = head (filter ((<= n) . fst) table) in s ++ roman (n - v)
  where table = zip [1000,900,500,400,100,90,50,40,10,9,5,4,1] (words "M CM D CD C XC L XL X IX V IV I")

levenshtein :: String -> String -> Int
levenshtein s t = last (foldl step [0 .. length t] s)
  where step prev@(p:ps) c = scanl compute (p + 1) (zip3 t prev ps)
          where compute z (c', x, y) = minimum [y + 1, z + 1, x + fromEnum (c' /= c)]

wordFreq :: String -> [(String, Int)]
wordFreq = sortBy (\(a, x) (b, y) -> compare y x `mappend` compare a b) . M.toList . M.fromListWith (+) . map (\w -> (w, 1)) . words . map toLower . filter (\c -> isAlpha c || isSpace c)

luhn :: String -> Bool
luhn = (0 ==) . (`mod` 10) . sum . map (uncurry (+) . (`divMod` 10)) . zipWith (*) (cycle [1,2]) . map digitToInt . reverse

main :: IO ()
main = do
  putStrLn (caesar 3 "The Quick Brown Fox")
  print (rle "WWWWBBBWWc", unrle (rle "aabbb"))
  mapM_ (putStrLn . roman) [1990, 2008, 1666]
  print (levenshtein "kitten" "sitting", levenshtein "rosettacode" "raisethysword")
  mapM_ (uncurry (printf "%-6s %3d\n")) (take 3 (wordFreq "the cat and the dog and the bird"))
  print (map luhn ["49927398716", "49927398717"])
  putStrLn (showHex (255 :: Int) "" ++ " " ++ showOct (8 :: Int) "" ++ " " ++ show (fst (head (readHex "ff" :: [(Int, String)]))))
  printf "%5.2f|%-8s|%08.3f|%x|%c|%s\n" (3.14159 :: Double) "ab" (2.5 :: Double) (255 :: Int) 'z' (show [1, 2 :: Int])
