-- A parser of one's own with Functor, Applicative, Monad and Alternative, in the manner of courses.
module Main where

import Control.Applicative
import Data.Char

newtype Parser a = Parser { runParser :: String -> Maybe (a, String) }

instance Functor Parser where
  fmap f (Parser p) = Parser $ \s -> case p s of
    Nothing -> Nothing
    Just (x, rest) -> Just (f x, rest)

instance Applicative Parser where
  pure x = Parser $ \s -> Just (x, s)
  Parser p <*> Parser q = Parser $ \s -> case p s of
    Nothing -> Nothing
    Just (f, rest) -> case q rest of
      Nothing -> Nothing
      Just (x, rest') -> Just (f x, rest')

instance Monad Parser where
  Parser p >>= f = Parser $ \s -> case p s of
    Nothing -> Nothing
    Just (x, rest) -> runParser (f x) rest

instance Alternative Parser where
  empty = Parser (const Nothing)
  Parser p <|> Parser q = Parser $ \s -> case p s of
    Nothing -> q s
    found -> found

satisfy :: (Char -> Bool) -> Parser Char
satisfy p = Parser go
  where
    go (c : cs) | p c = Just (c, cs)
    go _ = Nothing

char :: Char -> Parser Char
char c = satisfy (== c)

spaces :: Parser ()
spaces = () <$ many (satisfy isSpace)

token :: Parser a -> Parser a
token p = do
  x <- p
  spaces
  return x

symbol :: Char -> Parser Char
symbol = token . char

number :: Parser Int
number = token (foldl (\n d -> 10 * n + digitToInt d) 0 <$> some (satisfy isDigit))

data Expr = Num Int | Bin Char Expr Expr deriving Show

chainl1 :: Parser a -> Parser (a -> a -> a) -> Parser a
chainl1 p op = p >>= rest
  where rest x = (do { f <- op; y <- p; rest (f x y) }) <|> pure x

expr :: Int -> Parser Expr
expr depth = term depth `chainl1` (Bin <$> (symbol '+' <|> symbol '-'))

term :: Int -> Parser Expr
term depth = factor depth `chainl1` (Bin <$> (symbol '*' <|> symbol '/'))

factor :: Int -> Parser Expr
factor depth = Num <$> number <|> do
  _ <- symbol '('
  e <- expr (depth + 1)
  _ <- symbol ')'
  pure e

eval :: Expr -> Maybe Int
eval (Num n) = Just n
eval (Bin op a b) = do
  x <- eval a
  y <- eval b
  case op of
    '+' -> pure (x + y)
    '-' -> pure (x - y)
    '*' -> pure (x * y)
    _ | y == 0 -> Nothing
      | otherwise -> pure (x `div` y)

main :: IO ()
main = do
  let texts = ["1 + 2 * 3", "(1 + 2) * 3 - 4", "8 / (2 - 2)", "2 *", "((7))"]
  mapM_ (\t -> putStrLn (t ++ " = " ++ show (runParser (spaces *> expr 0) t >>= \(e, rest) -> if null rest then eval e else Nothing))) texts
  print (fmap fst (runParser (optional (char 'x')) "abc"), fmap fst (runParser (many (char 'a')) "aab"))
