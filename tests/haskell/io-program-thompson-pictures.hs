import Prelude hiding (Word)
type Picture = [[Char]]
flipH, flipV, rotate90, invertColour :: Picture -> Picture
flipH = reverse
flipV = map reverse
rotate90 p = flipV [[row !! i | row <- p] | i <- [0 .. length (head p) - 1]]
invertColour = map (map invert) where invert ch = if ch == '.' then '#' else '.'
above, beside :: Picture -> Picture -> Picture
above = (++)
beside = zipWith (++)
type Word = String
type Line = [Word]
getWord :: String -> String
getWord [] = []
getWord (x:xs) | elem x whitespace = []
               | otherwise = x : getWord xs
whitespace = ['\n', '\t', ' ']
dropWord [] = []
dropWord (x:xs) | elem x whitespace = (x:xs)
                | otherwise = dropWord xs
dropSpace [] = []
dropSpace (x:xs) | elem x whitespace = dropSpace xs
                 | otherwise = (x:xs)
splitWords :: String -> [Word]
splitWords st = split (dropSpace st)
split :: String -> [Word]
split [] = []
split st = (getWord st) : split (dropSpace (dropWord st))
getLine' :: Int -> [Word] -> Line
getLine' len [] = []
getLine' len (w:ws) | length w <= len = w : restOfLine
                    | otherwise = []
  where newlen = len - (length w + 1)
        restOfLine = getLine' newlen ws
dropLine :: Int -> [Word] -> [Word]
dropLine len ws = drop (length (getLine' len ws)) ws
splitLines :: [Word] -> [Line]
splitLines [] = []
splitLines ws = getLine' 20 ws : splitLines (dropLine 20 ws)
data Huff = Leaf Char Int | Node Int Huff Huff
freq (Leaf _ n) = n
freq (Node n _ _) = n
build :: [(Char, Int)] -> Huff
build ps = go (foldr ins [] [Leaf c n | (c, n) <- ps])
  where ins t [] = [t]
        ins t (u:us) | freq t <= freq u = t : u : us
                     | otherwise = u : ins t us
        go [t] = t
        go (a:b:ts) = go (ins (Node (freq a + freq b) a b) ts)
codes :: Huff -> [(Char, String)]
codes (Leaf c _) = [(c, "")]
codes (Node _ l r) = [(c, 'L' : s) | (c, s) <- codes l] ++ [(c, 'R' : s) | (c, s) <- codes r]
main = do
  let p = ["..##", ".#..", "####"]
  mapM_ putStrLn (p `above` invertColour (flipV p `above` flipH p))
  putStr (unlines (rotate90 (p `beside` p)))
  mapM_ (putStrLn . unwords) (splitLines (splitWords "The heat bloomed in December\n as the  carnival season kicked into gear."))
  print (codes (build [('b',1),('a',2),('t',3),('e',4)]))
