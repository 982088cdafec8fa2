{-# LANGUAGE LambdaCase, TupleSections, MultiWayIf, RecordWildCards, BangPatterns, ScopedTypeVariables #-}
module Main (main) where
import Control.Monad (ap, liftM, void, mplus, mzero, MonadPlus, forever, foldM, zipWithM_, replicateM, (>=>))
import Control.Applicative
import Data.Char
import Data.Function (on, (&), fix)
import Data.List
import Data.Functor ((<&>), ($>))
newtype Parser a = Parser { runParser :: String -> Either String (a, String) }
instance Functor Parser where fmap = liftM
instance Applicative Parser where { pure a = Parser (Right . (a,)); (<*>) = ap }
instance Monad Parser where p >>= f = Parser $ \s -> runParser p s >>= \(a, r) -> runParser (f a) r
instance Alternative Parser where
  empty = Parser (const (Left "empty"))
  Parser p <|> Parser q = Parser $ \s -> either (const (q s)) Right (p s)
instance MonadPlus Parser
satisfy :: String -> (Char -> Bool) -> Parser Char
satisfy what p = Parser $ \case
  c : cs | p c -> Right (c, cs)
         | otherwise -> Left ("expected " ++ what ++ ", found " ++ show c)
  [] -> Left ("expected " ++ what ++ ", found the end")
lexeme :: Parser a -> Parser a
lexeme p = p <* many (satisfy "space" isSpace)
sym :: Char -> Parser Char
sym c = lexeme (satisfy (show c) (== c))
sepBy, sepBy1 :: Parser a -> Parser b -> Parser [a]
sepBy p s = sepBy1 p s <|> pure []
sepBy1 p s = (:) <$> p <*> many (s *> p)
chainl1 :: Parser a -> Parser (a -> a -> a) -> Parser a
chainl1 p op = p >>= rest where rest a = (do { f <- op; b <- p; rest (f a b) }) <|> pure a
data Json = Null | Bool Bool | Num Int | Str String | Arr [Json] | Obj [(String, Json)] deriving (Eq, Show)
json :: Parser Json
json = Null <$ word "null" <|> Bool True <$ word "true" <|> Bool False <$ word "false" <|> Num <$> number <|> Str <$> str
   <|> Arr <$> (sym '[' *> sepBy json (sym ',') <* sym ']') <|> Obj <$> (sym '{' *> sepBy pair (sym ',') <* sym '}')
  where pair = (,) <$> str <* sym ':' <*> json
        word w = lexeme (mapM_ (\c -> satisfy (show c) (== c)) w)
        str = lexeme (satisfy "quote" (== '"') *> many (satisfy "character" (/= '"')) <* satisfy "quote" (== '"'))
number :: Parser Int
number = lexeme (negate <$> (satisfy "-" (== '-') *> digits) <|> digits) where digits = read <$> some (satisfy "digit" isDigit)
render :: Json -> String
render = \case
  Null -> "null"
  Bool b -> map toLower (show b)
  Num n -> show n
  Str s -> show s
  Arr xs -> "[" ++ intercalate "," (map render xs) ++ "]"
  Obj kvs -> "{" ++ intercalate "," [show k ++ ":" ++ render v | (k, v) <- kvs] ++ "}"
data Term = V String | L String Term | A Term Term deriving Eq
instance Show Term where
  show (V x) = x
  show (L x b) = "\\" ++ x ++ "." ++ show b
  show (A f a) = paren (isL f) (show f) ++ " " ++ paren (not (isV a)) (show a)
    where paren b s = if b then "(" ++ s ++ ")" else s
          isL = \case { L _ _ -> True; _ -> False }
          isV = \case { V _ -> True; _ -> False }
free :: Term -> [String]
free (V x) = [x]
free (L x b) = delete x (nub (free b))
free (A f a) = free f `union` free a
subst :: String -> Term -> Term -> Term
subst x s t = case t of
  V y | x == y -> s
      | otherwise -> t
  A f a -> A (subst x s f) (subst x s a)
  L y b | x == y -> t
        | y `elem` free s -> let y' = fresh y in L y' (subst x s (subst y (V y') b))
        | otherwise -> L y (subst x s b)
    where fresh v = head [w | n <- [1 :: Int ..], let w = v ++ show n, w `notElem` free s ++ free b]
step :: Term -> Maybe Term
step = \case
  A (L x b) a -> Just (subst x a b)
  A f a -> (flip A a <$> step f) <|> (A f <$> step a)
  L x b -> L x <$> step b
  V _ -> Nothing
normal :: Term -> [Term]
normal t = t : maybe [] normal (step t)
church :: Int -> Term
church n = L "f" (L "x" (iterate (A (V "f")) (V "x") !! n))
data Config = Config { host :: String, port :: !Int, tags :: [String] } deriving Show
summary :: Config -> String
summary Config {..} = host ++ ":" ++ show port ++ " " ++ unwords tags
main :: IO ()
main = do
  let r = runParser (many (satisfy "space" isSpace) *> json) " { \"a\" : [1, -2, true], \"b\": {\"c\": null} } "
  print r
  putStrLn (either id (render . fst) r)
  print (fst <$> runParser json "[1, ?]")
  print (fst <$> runParser (chainl1 number ((+) <$ sym '+' <|> (-) <$ sym '-')) "10 - 3 - 2 + 1")
  mapM_ print (normal (A (A (L "m" (L "n" (L "f" (A (V "m") (A (V "n") (V "f")))))) (church 2)) (church 2)))
  print (subst "x" (V "y") (L "y" (A (V "x") (V "y"))))
  putStrLn (summary Config { host = "localhost", port = 80, tags = ["a", "b"] })
  print (map (\n -> if | n < 0 -> "neg" | n == 0 -> "zero" | otherwise -> "pos") [-1, 0, 1 :: Int])
  print ([1, 2, 3] & map (* 2) & sum, groupBy ((==) `on` (`div` 10)) [1, 5, 11, 12, 25], fix (\rec n -> if n <= 1 then 1 else n * rec (n - 1)) (5 :: Integer))
  print (foldM (\acc v -> if v == 0 then Nothing else Just (acc `div` v)) 100 [2, 5], replicateM 2 "ab", (Just 3 <&> (+ 1)) $> 'q', ((\v -> [v, v + 1]) >=> (\v -> [v * 10])) 1)
  zipWithM_ (\i s -> putStrLn (show i ++ ". " ++ s)) [1 :: Int ..] ["one", "two"]
