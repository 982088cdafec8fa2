-- Haskell 98 Report, chapter 11: derived instances.
module Derived where

import Data.Ix

data Colour = Red | Green | Blue deriving (Eq, Ord, Show, Read, Enum, Bounded, Ix)
data Expr = Lit Int | Expr :+: Expr | Expr :*: Expr | Neg Expr | Int `Of` Expr deriving (Eq, Ord, Show, Read)
infixl 6 :+:
infixl 7 :*:
infix 4 `Of`
data Config = Config { name :: String, size :: Maybe Int, ratio :: Double } | Default deriving (Eq, Ord, Show, Read)
data Pt = Pt Int Int deriving (Eq, Ord, Show, Read, Ix, Bounded)
newtype Box a = Box { open :: a } deriving (Eq, Ord, Show, Read)
data T a b = (:%%) a b | T a b deriving (Eq, Ord, Show, Read)
data Unit = Unit deriving (Eq, Ord, Show, Read, Enum, Bounded, Ix)

trip :: (Eq a, Show a, Read a) => a -> Bool
trip x = read (show x) == x && read ("  ( " ++ show x ++ " ) ") == x && [y | (y, "") <- reads (show x)] == [x]

exprs :: [Expr]
exprs = [ Lit 1, Lit (-1), Lit 1 :+: Lit 2 :*: Lit 3, (Lit 1 :+: Lit 2) :*: Lit 3, Neg (Lit 4 :+: Lit (-5))
        , 3 `Of` Neg (Lit 0), Lit 1 :+: (Lit 2 :+: Lit 3) ]

result :: String
result = unlines
  [ show [minBound .. maxBound :: Colour], show (succ Red, pred Blue, [Red ..], [Blue, Green ..], fromEnum Green)
  , show (compare Red Blue, maximum [Green, Red], Red == Red, toEnum 2 :: Colour)
  , show exprs, show (Just (Lit 1 :+: Lit 2)), show (map trip exprs)
  , show (Config { name = "a\"b", size = Just (-3), ratio = 1.5 }, Default, Just (Config "x" Nothing 2))
  , show (trip (Config "q\n" (Just 4) (-2.5)), trip Default, trip (Just [Box 'x', Box '\'']), trip (Left 1 :: Either Int Bool))
  , show (Box (Just 1)), show (Just (Box 2)), show (1 :%% 2 :: T Int Int, T 'a' "b"), show (trip (1 :%% 'c' :: T Int Char))
  , show (read "[Red,Green , Blue]" :: [Colour], read "(Red,(Blue))" :: (Colour, Colour))
  , show (read "Config{name=\"z\",size=Nothing,ratio=3}" :: Config)
  , show (read " [ (1 , 'a') , (2, 'b')]" :: [(Int, Char)], read "(1,2.5,\"s\",[True],())" :: (Int, Double, String, [Bool], ()))
  , show (reads "12 rest" :: [(Int, String)], reads "nothing" :: [(Int, String)], reads "(-3)x" :: [(Int, String)])
  , show (read "0x1F" :: Int, read "1e3" :: Double, read " 7" :: Double, read "-2" :: Int, read "[]" :: [Int])
  , show (lex " hello world", lex "(x)", lex "<= 3", lex "12.5e3x", lex "\"str\\\"ing\" r", lex "'c'", lex "", lex "a'b_c d")
  , show (compare (Pt 1 2) (Pt 1 3), minBound :: Pt, Pt 1 2 < Pt 0 9, [LT ..])
  , show (range (Red, Blue), index (Green, Blue) Blue, inRange (Red, Green) Blue, rangeSize (Red, Blue))
  , show (range (Pt 0 0, Pt 1 2), index (Pt 0 0, Pt 3 4) (Pt 2 1), inRange (Pt 0 0, Pt 3 4) (Pt 4 0))
  , show (range ('a', 'e'), index (10, 20) 15, range ((0, 0), (1, 2)), index ((0, 0, 0), (2, 3, 4)) (1, 2, 3))
  , show (range (Unit, Unit), (minBound, maxBound) :: (Bool, Colour), [minBound .. maxBound :: Unit])
  , show (showsPrec 11 (-5 :: Int) "", showParen True (showString "x") "", shows 3 "!")
  ]
