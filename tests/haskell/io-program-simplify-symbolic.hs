module Main where
import Data.Char (isDigit, isAlpha, isSpace)
infixl 6 :+:, :-:
infixl 7 :*:, :/:
infixr 8 :^:
data E = N Rational' | X | E :+: E | E :-: E | E :*: E | E :/: E | E :^: Int | F String E deriving (Eq, Ord, Show, Read)
type Rational' = Integer
d :: E -> E
d (N _) = N 0
d X = N 1
d (a :+: b) = d a :+: d b
d (a :-: b) = d a :-: d b
d (a :*: b) = d a :*: b :+: a :*: d b
d (a :/: b) = (d a :*: b :-: a :*: d b) :/: (b :^: 2)
d (a :^: n) = N (toInteger n) :*: a :^: (n - 1) :*: d a
d (F "sin" a) = F "cos" a :*: d a
d (F "exp" a) = F "exp" a :*: d a
d (F f _) = error ("no rule for " ++ f)
simp :: E -> E
simp e = let e' = go e in if e' == e then e else simp e'
  where
    go (N a :+: N b) = N (a + b)
    go (N 0 :+: b) = go b
    go (a :+: N 0) = go a
    go (a :+: b) = go a :+: go b
    go (a :-: N 0) = go a
    go (a :-: b) | a == b = N 0
                 | otherwise = go a :-: go b
    go (N a :*: N b) = N (a * b)
    go (N 0 :*: _) = N 0
    go (_ :*: N 0) = N 0
    go (N 1 :*: b) = go b
    go (a :*: N 1) = go a
    go (a :*: b) = go a :*: go b
    go (a :/: N 1) = go a
    go (a :/: b) = go a :/: go b
    go (a :^: 1) = go a
    go (a :^: 0) = N 1
    go (a :^: n) = go a :^: n
    go (F f a) = F f (go a)
    go e = e
pretty :: Int -> E -> ShowS
pretty _ (N n) = shows n
pretty _ X = showChar 'x'
pretty p (a :+: b) = showParen (p > 6) $ pretty 6 a . showString " + " . pretty 7 b
pretty p (a :-: b) = showParen (p > 6) $ pretty 6 a . showString " - " . pretty 7 b
pretty p (a :*: b) = showParen (p > 7) $ pretty 7 a . showString " * " . pretty 8 b
pretty p (a :/: b) = showParen (p > 7) $ pretty 7 a . showString " / " . pretty 8 b
pretty p (a :^: n) = showParen (p > 8) $ pretty 9 a . showChar '^' . shows n
pretty _ (F f a) = showString f . showParen True (pretty 0 a)
main :: IO ()
main = do
  let e = F "sin" (X :^: 2) :*: F "exp" (N 3 :*: X) :+: N 2 :/: X
  print e
  putStrLn (pretty 0 e "")
  putStrLn (pretty 0 (simp (d e)) "")
  print (read (show e) == e)
  print (minimum [e, X, N 3], compare (N 2 :+: X) (X :+: N 2))
