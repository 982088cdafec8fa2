-- After Bird, Thinking Functionally with Haskell.
import Data.List ((\\), transpose)

type Grid = Matrix Digit
type Matrix a = [Row a]
type Row a = [a]
type Digit = Char

digits :: [Digit]
digits = ['1'..'9']

blank :: Digit -> Bool
blank = (== '0')

choices :: Grid -> Matrix [Digit]
choices = map (map choice)
  where choice d | blank d = digits
                 | otherwise = [d]

rows, cols, boxs :: Matrix a -> Matrix a
rows = id
cols = transpose
boxs = map ungroup . ungroup . map cols . group . map group

group :: [a] -> [[a]]
group [] = []
group xs = take 3 xs : group (drop 3 xs)

ungroup :: [[a]] -> [a]
ungroup = concat

pruneRow :: Row [Digit] -> Row [Digit]
pruneRow row = map (remove fixed) row
  where fixed = [d | [d] <- row]

remove :: [Digit] -> [Digit] -> [Digit]
remove _ [x] = [x]
remove ds xs = filter (`notElem` ds) xs

prune :: Matrix [Digit] -> Matrix [Digit]
prune = pruneBy boxs . pruneBy cols . pruneBy rows
  where pruneBy f = f . map pruneRow . f

many :: (Eq a) => (a -> a) -> a -> a
many f x = if x == y then x else many f y
  where y = f x

expand1 :: Matrix [Digit] -> [Matrix [Digit]]
expand1 rs = [rows1 ++ [row1 ++ [c] : row2] ++ rows2 | c <- cs]
  where
    (rows1, row : rows2) = break (any smallest) rs
    (row1, cs : row2) = break smallest row
    smallest xs = length xs == n
    n = minimum (counts rs)
    counts = filter (/= 1) . map length . concat

complete :: Matrix [Digit] -> Bool
complete = all (all single)

single :: [a] -> Bool
single [_] = True
single _ = False

safe :: Matrix [Digit] -> Bool
safe m = all ok (rows m) && all ok (cols m) && all ok (boxs m)
  where ok row = nodups [d | [d] <- row]

nodups :: Eq a => [a] -> Bool
nodups [] = True
nodups (x:xs) = x `notElem` xs && nodups xs

solve :: Grid -> [Grid]
solve = search . choices

search :: Matrix [Digit] -> [Grid]
search m
  | not (safe pm) = []
  | complete pm = [map (map head) pm]
  | otherwise = concat (map search (expand1 pm))
  where pm = many prune m

puzzle :: Grid
puzzle = ["004005700","000009400","360000008","720060000","000402000","000080093","400000056","005300000","006100900"]

main :: IO ()
main = mapM_ putStrLn (head (solve puzzle))
