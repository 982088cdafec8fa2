-- Haskell 98 Report, chapter 6: predefined types and classes, numbers above all.
module Numbers where

import Data.Ratio

big, huge :: Integer
big = 2 ^ 100
huge = product [1 .. 60]

pairs :: [(Integer, Integer)]
pairs = [(a, b) | a <- [7, -7, big, -big, huge + 1], b <- [2, -2, 10 ^ 9, -(10 ^ 20), big]]

result :: String
result = unlines
  [ show (big, huge, negate big, abs (negate huge), signum (negate big))
  , show (map (uncurry quot) pairs), show (map (uncurry rem) pairs)
  , show (map (uncurry div) pairs), show (map (uncurry mod) pairs)
  , show [quotRem a b == (quot a b, rem a b) && divMod a b == (div a b, mod a b) | (a, b) <- pairs]
  , show (gcd huge big, lcm 12 18 :: Integer, gcd 0 5 :: Integer, gcd (-4) 6 :: Integer, lcm 0 3 :: Int)
  , show (even big, odd huge, compare big huge, big == big + 0, maximum [big, huge, 3])
  , show (fromInteger big :: Int, fromIntegral (maxBound :: Int) + 1 :: Integer, toInteger (minBound :: Int) - 1)
  , show (fromIntegral big :: Double, fromInteger (2 ^ 53 + 1) :: Double, fromInteger (10 ^ 400) :: Double)
  , show (truncate 1e20 :: Integer, round 2.5 :: Integer, round 3.5 :: Integer, round (-2.5) :: Integer)
  , show (ceiling 2.1 :: Integer, floor (-2.1) :: Integer, properFraction (-3.75) :: (Integer, Double))
  , show ([big .. big + 3], [big, big - 2 .. big - 6], take 3 [1 :: Integer, 3 .. 9], succ big, pred (-big))
  , show (3 % 6 :: Rational, numerator (6 % 8), denominator (6 % (-8)), recip (3 % 4) :: Rational)
  , show (map (* (1 % 3)) [1, 2, 3 :: Rational], 1 / 3 + 0.5 :: Rational, (2 % 3) ^^ (-2 :: Int) :: Rational)
  , show (truncate (7 % 2 :: Rational) :: Int, round (5 % 2 :: Rational) :: Int, floor (-7 % 2 :: Rational) :: Int)
  , show (toRational (0.75 :: Double), fromRational (7 % 8) :: Double, realToFrac (1.5 :: Float) :: Double)
  , show (compare (1 % 3) (2 % 5 :: Rational), [1 % 2 .. 3 :: Rational], Just (-1 % 2 :: Rational))
  , show (approxRational (3.14159 :: Double) 0.001)
  , show (minBound :: Int, maxBound :: Int, (maxBound :: Int) + 1, (minBound :: Int) `div` 2)
  , show (2 ** 0.5 :: Double, sqrt 2 :: Float, 2 ^^ (-3 :: Int) :: Double, logBase 2 1024 :: Double)
  , show (1 / 0 :: Double, -1 / 0 :: Double, isNaN (0 / 0 :: Double), isNegativeZero (-0.0 :: Double))
  , show (map show [0.1, 1e7, 1e-2, 123456.789, 1e22, 5.0e-324 :: Double])
  , show (fromEnum 'a', toEnum 98 :: Char, fromEnum 3.7, [LT ..], succ False, pred GT)
  , show (subtract 3 10, until (> 1000) (* 2) 1, 7 `divMod` (-2), (-7) `quotRem` 2)
  , show (fromIntegral (big `mod` 1000) + 0.5, realToFrac (3 :: Int) / 2)
  , show (read "123456789012345678901234567890" + 1 :: Integer)
  ]
