-- Numbers of 8 to 64 bits, and bits of all kinds of numbers.
import Data.Bits
import Data.Int
import Data.Word
import Data.Char (ord)
import Data.Array
import Text.Printf

-- FNV-1a
fnv :: String -> Word32
fnv = foldl (\h c -> (h `xor` fromIntegral (ord c)) * 16777619) 2166136261

adler :: String -> Word32
adler text = (b `shiftL` 16) .|. a
  where
    (a, b) = foldl step (1, 0) text
    step (x, y) c = let x' = (x + fromIntegral (ord c)) `mod` 65521 in (x', (y + x') `mod` 65521)

crcTable :: Array Word8 Word32
crcTable = listArray (0, 255) [go 8 n | n <- [0 .. 255]]
  where
    go :: Int -> Word32 -> Word32
    go 0 c = c
    go k c = go (k - 1) (if testBit c 0 then 0xEDB88320 `xor` shiftR c 1 else shiftR c 1)

crc :: String -> Word32
crc = complement . foldl step (complement 0)
  where step c x = (crcTable ! fromIntegral ((c `xor` fromIntegral (ord x)) .&. 0xff)) `xor` (c `shiftR` 8)

xorshift :: Word64 -> Word64
xorshift x0 = x3
  where
    x1 = x0 `xor` (x0 `shiftL` 13)
    x2 = x1 `xor` (x1 `shiftR` 7)
    x3 = x2 `xor` (x2 `shiftL` 17)

lcg :: Int32 -> Int32
lcg n = n * 1103515245 + 12345

gray :: (Bits a, Num a) => a -> a
gray n = n `xor` (n `shiftR` 1)

main :: IO ()
main = do
  print (fnv "hello", adler "Wikipedia", crc "123456789")
  print (take 3 (iterate xorshift 88172645463325252))
  print (take 4 (iterate lcg 1))
  print (maxBound :: Word8, minBound :: Int8, maxBound :: Word64, maxBound :: Int64)
  print (fromIntegral (300 :: Int) :: Word8, fromIntegral (200 :: Int) :: Int8, fromIntegral (-1 :: Int) :: Word16)
  print (250 + 10 :: Word8, 100 + 100 :: Int8, negate 1 :: Word32, (-7) `div` 2 :: Int8, (-7) `quot` 2 :: Int16)
  print ((maxBound :: Word64) `div` 10, 3 - 5 :: Word64, (2 :: Word64) > (0 - 1))
  print (map gray [0 .. 7 :: Word8], map gray [0 .. 3 :: Integer])
  print (rotateL (0x81 :: Word8) 1, rotateR (1 :: Word16) 1, rotate (0x12345678 :: Word32) 8, rotate (1 :: Int8) 7)
  print (popCount (-1 :: Int8), popCount (255 :: Word16), popCount (-1 :: Int), finiteBitSize (0 :: Int32))
  print (countLeadingZeros (1 :: Word16), countTrailingZeros (8 :: Int32), shiftR (-8 :: Int8) 1, complement 0 :: Word8)
  print (2 ^ 70 .&. (2 ^ 70 + 5) :: Integer, (-1) .&. 255 :: Integer, shiftL 1 100 :: Integer, shiftR (2 ^ 80 + 1) 79 :: Integer, xor (-5) 3 :: Integer, popCount (2 ^ 65 - 1 :: Integer), testBit (2 ^ 65 :: Integer) 65, (-12) .|. 5 :: Integer)
  print ([250 ..] :: [Word8], [1, 50 ..] :: [Int8], ['a' ..] !! 3)
  print (read "[1,2,255]" :: [Word8])
  print (toInteger (maxBound :: Int32) + 1, fromEnum (7 :: Word8), toEnum 65 :: Int8, succ 3 :: Word16)
  printf "%d %x %3d|\n" (200 :: Word8) (48879 :: Word16) (-5 :: Int8)
  print (byteSwap16 0x1234, byteSwap32 0x12345678)
  print (setBit (0 :: Word8) 3, clearBit (15 :: Int) 0, shift (1 :: Int32) 31, shift (-8 :: Int) (-1), (.&.) True False)
  print (listArray (0, 2 :: Word8) "abc" ! 1, realToFrac (3 :: Word8) + 0.5 :: Double, sum (map fromIntegral [200, 100 :: Word8]) :: Int)
