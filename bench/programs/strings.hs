-- A long text from numbers, and a checksum of its characters.
main :: IO ()
main = print (checksum (unlines [show k ++ "," ++ show (k * k `mod` 977) ++ ";" | k <- [1 .. 300000 :: Int]]))

checksum :: String -> Int
checksum = foldl (\h c -> (h * 31 + fromEnum c) `mod` 1000003) 7
