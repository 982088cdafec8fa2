-- Modules of Haskell's base: Control.Arrow, Data.Bifunctor, what Data.Foldable and Data.Traversable pass on of the prelude,
-- mapAccumL and mapAccumR of any structure, and the categories of characters.
{-# LANGUAGE DeriveDataTypeable #-}
import Control.Arrow ((&&&), (***), (>>>), (<<<), (+++), (|||), left, right)
import qualified Control.Arrow as Arrow
import Data.Bifunctor
import Data.Char
import Data.Foldable
import Data.List (group, sort)
import qualified Data.Map as Map
import Data.Traversable
import Data.Typeable
import Prelude hiding (foldr, mapM_, sequence_, mapM)

data Rose a = Rose a [Rose a] deriving (Show, Typeable)

instance Functor Rose where fmap = fmapDefault
instance Foldable Rose where foldMap = foldMapDefault
instance Traversable Rose where traverse f (Rose x rs) = Rose <$> f x <*> traverse (traverse f) rs

rose :: Rose Int
rose = Rose 3 [Rose 1 [], Rose 4 [Rose 1 [], Rose 5 []], Rose 9 []]

main :: IO ()
main = do
  print (map (head &&& length) (group (sort "mississippi")))
  print ((succ *** show) (1, 2), (length >>> even) "abc", (length <<< words) "a b c", Arrow.first (+ 1) (1, 'x'), Arrow.second not ('x', True))
  print (map (show ||| map toUpper) [Left 1, Right "a"], map (negate +++ length) [Left 1, Right "ab"])
  print (left length (Left "ab" :: Either String Int), right (+ 1) (Right 1 :: Either String Int))
  print (bimap length not ("ab", True), first show (1, 2), second (* 2) (Right 4 :: Either String Int))
  print (mapAccumL (\s x -> (s + x, s * x)) 0 rose)
  print (mapAccumR (\s x -> (s + x, s * x)) 0 rose)
  print (mapAccumL (\s x -> (x : s, length s)) [] "abc", mapAccumR (\s x -> (x : s, length s)) [] "abc")
  print (mapAccumL (\n x -> (n + 1, (n, x))) 1 (Map.fromList (zip "ba" [True, False])), mapAccumR (,) 'x' (Just 'y'))
  mapM_ print (take 2 (toList rose))
  forM_ (Just 'q') print
  print (foldr (:) [] rose, foldl' (-) 0 rose, maximumBy (\a b -> compare (a `mod` 5) (b `mod` 5)) rose)
  mapM (\x -> x * 10 <$ putStr (show x ++ " ")) rose >>= print
  print [(head cs, length cs) | cs <- group (map generalCategory ['\0' .. '\255'])]
  print (map length [filter p ['\0' .. '\255'] | p <- [isAlpha, isAlphaNum, isPunctuation, isSymbol, isLower, isUpper, isPrint]])
  print (map toUpper "a\181\223\255z", [minBound .. maxBound :: GeneralCategory])
