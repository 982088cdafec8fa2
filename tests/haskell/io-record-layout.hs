-- Fields of records in lines that begin at the column of the block around.
data Options = Options {
  width :: Int,
  height :: Int,
  name :: String
} deriving (Show, Eq)

defaults :: Options
defaults = Options {
width = 10,
height = 20,
name = "x"
}

area :: Options -> Int
area Options {
  width = w,
  height = h
} = w * h

main :: IO ()
main = do
  let o = defaults {
      width = 3,
      name = case 2 of
        1 -> "one"
        _ -> "other",
      height = 4
      }
  print Options {
  width = 1, height = 2,
  name = "a"
  }
  print (area o, o)
