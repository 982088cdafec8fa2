-- Haskell 98 Library Report: Data.Complex. Results of libm are rounded to ten digits.
module LibraryComplex where

import Data.Complex

near :: Complex Double -> (Double, Double)
near (x :+ y) = (digits x, digits y)

digits :: Double -> Double
digits x = fromIntegral (round (x * 1e10) :: Integer) / 1e10

z, w :: Complex Double
z = 3 :+ 4
w = (-1) :+ 2

result :: String
result = unlines
  [ show (z + w, z - w, z * w, z / w, negate z, abs z, signum z), show (z == z, z /= w, 2 * z, z ^ 3)
  , show (realPart z, imagPart z, conjugate z, magnitude z, digits (phase w), phase (0 :+ 0 :: Complex Double))
  , show (near (mkPolar 2 1), near (cis 3), digits (fst (polar w)), digits (snd (polar z)))
  , show (map (near . ($ w)) [exp, log, sqrt, sin, cos, tan, sinh, cosh, tanh])
  , show (map (near . ($ (0.3 :+ 0.4))) [asin, acos, atan, asinh, acosh, atanh])
  , show (near (z ** w), near (z ** 0.5), sqrt (-4) :: Complex Double, near (logBase 2 z))
  , show (Just z, [1 :+ (-2)], showsPrec 7 z "", read "1.5 :+ (-2.0)" :: Complex Double)
  ]
