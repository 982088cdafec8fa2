-- Haskell 98 Library Report: Data.Array and Data.Ix.
module LibraryArrays where

import Data.Array

squares :: Array Int Int
squares = array (1, 5) [(i, i * i) | i <- [1 .. 5]]

table :: Array (Int, Char) String
table = listArray ((0, 'a'), (1, 'c')) (words "zero one two three four five")

histogram :: (Int, Int) -> [Int] -> Array Int Int
histogram bs xs = accumArray (+) 0 bs [(x, 1) | x <- xs, inRange bs x]

matMult :: (Ix a, Ix b, Ix c, Num d) => Array (a, b) d -> Array (b, c) d -> Array (a, c) d
matMult x y = array ((li, lj), (ui, uj))
  [((i, j), sum [x ! (i, k) * y ! (k, j) | k <- range (lk, uk)]) | i <- range (li, ui), j <- range (lj, uj)]
  where
    ((li, lk), (ui, uk)) = bounds x
    ((_, lj), (_, uj)) = bounds y

row :: (Ix a, Ix b) => a -> Array (a, b) c -> Array b c
row i x = ixmap (l, u) (\j -> (i, j)) x
  where ((_, l), (_, u)) = bounds x

result :: String
result = unlines
  [ show squares, show (squares ! 3, bounds squares, indices squares, elems squares, assocs squares)
  , show table, show (table ! (1, 'b')), show (squares // [(2, 0), (5, 7), (2, 1)])
  , show (histogram (0, 4) [1, 2, 2, 9, 4, 4, 4]), show (accum (-) squares [(1, 10), (1, 1)])
  , show (fmap (* 2) squares), show (sum (elems squares), maximum squares, foldr (:) [] squares)
  , show (squares == squares // [], compare squares (squares // [(3, 100)]), squares < fmap negate squares)
  , show (matMult (listArray ((0, 0), (1, 1)) [1, 2, 3, 4]) (listArray ((0, 0), (1, 1)) [5, 6, 7, 8 :: Integer]))
  , show (row 1 table), show (listArray (1, 0) [] :: Array Int Char)
  , show (listArray (-1, 1) [Just 1.5, Nothing, Just (-2)])
  ]
