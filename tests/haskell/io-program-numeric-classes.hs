import Data.Ratio
import Data.Complex
import Data.Bits
import Data.Word
import Data.Int
import Numeric
newtype Poly a = Poly [a] deriving Eq
instance (Show a, Num a, Eq a, Ord a) => Show (Poly a) where
  showsPrec p (Poly cs) = showParen (p > 6) (body terms)
    where terms = [(c, i) | (c, i) <- reverse (zip cs [0 :: Int ..]), c /= 0]
          body [] = showString "0"
          body (t : ts) = term t . foldr (\u k -> showString " + " . term u . k) id ts
          term (c, 0) = shows c
          term (1, i) = var i
          term (c, i) = showsPrec 7 c . var i
          var 1 = showString "x"
          var i = showString "x^" . shows i
instance (Num a, Eq a) => Num (Poly a) where
  Poly a + Poly b = norm (go a b)
    where go (x:xs) (y:ys) = (x + y) : go xs ys
          go xs [] = xs
          go [] ys = ys
  negate (Poly a) = Poly (map negate a)
  Poly a * Poly b = norm (foldr (\x acc -> zipLong (map (x *) b) (0 : acc)) [] a)
    where zipLong (x:xs) (y:ys) = (x + y) : zipLong xs ys
          zipLong xs [] = xs
          zipLong [] ys = ys
  abs = undefined
  signum = undefined
  fromInteger 0 = Poly []
  fromInteger n = Poly [fromInteger n]
norm :: (Num a, Eq a) => [a] -> Poly a
norm = Poly . reverse . dropWhile (== 0) . reverse
x :: Num a => Poly a
x = Poly [0, 1]
newtype Mod7 = Mod7 Int deriving (Eq, Ord)
instance Show Mod7 where show (Mod7 n) = show n
instance Num Mod7 where
  Mod7 a + Mod7 b = Mod7 ((a + b) `mod` 7)
  Mod7 a * Mod7 b = Mod7 ((a * b) `mod` 7)
  negate (Mod7 a) = Mod7 ((7 - a) `mod` 7)
  abs = id
  signum _ = 1
  fromInteger n = Mod7 (fromInteger (n `mod` 7))
instance Fractional Mod7 where
  recip a = a ^ (5 :: Int)
  fromRational r = fromInteger (numerator r) / fromInteger (denominator r)
newtype Dual = Dual (Double, Double) deriving (Show, Eq)
instance Num Dual where
  Dual (a, a') + Dual (b, b') = Dual (a + b, a' + b')
  Dual (a, a') * Dual (b, b') = Dual (a * b, a * b' + a' * b)
  negate (Dual (a, a')) = Dual (negate a, negate a')
  abs (Dual (a, a')) = Dual (abs a, a' * signum a)
  signum (Dual (a, _)) = Dual (signum a, 0)
  fromInteger n = Dual (fromInteger n, 0)
instance Fractional Dual where
  recip (Dual (a, a')) = Dual (recip a, -a' / (a * a))
  fromRational r = Dual (fromRational r, 0)
instance Floating Dual where
  pi = Dual (pi, 0)
  exp (Dual (a, a')) = Dual (exp a, a' * exp a)
  log (Dual (a, a')) = Dual (log a, a' / a)
  sin (Dual (a, a')) = Dual (sin a, a' * cos a)
  cos (Dual (a, a')) = Dual (cos a, -a' * sin a)
  asin = undefined; acos = undefined; atan = undefined
  sinh = undefined; cosh = undefined; asinh = undefined; acosh = undefined; atanh = undefined
main = do
  print ((x + 1) ^ 5 :: Poly Integer)
  print (x * x - 3 * x + 2 :: Poly Int, (x + 1) * (x - 1) == (x ^ 2 - 1 :: Poly Int), Just (x :: Poly Int))
  print (map (\n -> fromIntegral n / 3 :: Mod7) [1 .. 6 :: Int], 2 ^ 10 :: Mod7, 0.5 :: Mod7)
  print (sqrt (Dual (4, 1)), Dual (2, 1) ** 3, tan (Dual (0.5, 1)), logBase 2 (Dual (8, 1)))
  print (3 % 4 + 1 % 4 :: Rational, truncate (-7 % 2 :: Rational) :: Int, properFraction (7 % 2 :: Ratio Int) :: (Int, Ratio Int), approxRational (pi :: Double) 0.001)
  print ((1 :+ 2) * (3 :+ (-1)) :: Complex Double, magnitude (3 :+ 4 :: Complex Double), realPart (mkPolar 1 pi :: Complex Double))
  print (popCount (255 :: Int), shiftL 1 10 .|. 5 :: Int, (0xFF .&. complement 0x0F) `xor` 1 :: Int, fromIntegral (300 :: Int) :: Word8, fromIntegral (200 :: Int) :: Int8)
  print (showFFloat (Just 3) (2.0005 :: Double) "", showEFloat (Just 2) (12345.678 :: Double) "", floatToDigits 10 (0.15625 :: Double), 1/0 :: Double, isNaN (0/0 :: Double))
  print (gcd 12 18, lcm 4 6 :: Int, divMod (-7) 2, quotRem (-7) 2 :: (Int, Int), 2 ^ 100, (-3) `mod` 5, round 2.5, ceiling (-0.5), floor (-0.5))
  print ([1.0, 1.5 .. 3.0], [10, 8 .. 1], ['a', 'd' .. 'm'], [1 % 2 .. 3 :: Rational], fromEnum 'a', toEnum 98 :: Char, minBound :: Int)
  print (decodeFloat (1.5 :: Double), significand (8 :: Double), exponent (8 :: Double), atan2 1 (-1), realToFrac (1.5 :: Float) :: Double, 1e10, 0.1, 1.0e-2, 123456.789, 1.0e7)
