-- Ranges of enumerations whose instances the program writes.
data Color = Red | Green | Blue deriving (Show, Eq, Ord)
instance Enum Color where
  toEnum 0 = Red
  toEnum 1 = Green
  toEnum 2 = Blue
  toEnum _ = error "bad"
  fromEnum Red = 0
  fromEnum Green = 1
  fromEnum Blue = 2
  enumFrom x = enumFromTo x Blue
  enumFromThen x y = enumFromThenTo x y (if fromEnum y >= fromEnum x then Blue else Red)
newtype Age = Age Int deriving (Eq, Ord, Show)
instance Enum Age where
  toEnum = Age
  fromEnum (Age n) = n
data Nat = Z | S Nat deriving (Show, Eq)
instance Enum Nat where
  toEnum 0 = Z
  toEnum n = S (toEnum (n-1))
  fromEnum Z = 0
  fromEnum (S n) = 1 + fromEnum n
  succ = S
  pred (S n) = n
main = do
  print [Red ..]
  print [Blue, Green ..]
  print [Red, Blue ..]
  print (take 3 [Age 4 ..])
  print (takeWhile (< Age 20) [Age 4, Age 7 ..])
  print [Age 3 .. Age 6]
  print (zip [Age 1 ..] "abc")
  print (map fromEnum [Z .. S (S Z)])
  print (succ (Age 3), pred (Age 3))
  print (fmap fromEnum (zipWith const [Z ..] "ab"))
  print (enumFrom Green)
  print (succ Red)
