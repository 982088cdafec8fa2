{-# LANGUAGE TypeApplications, ScopedTypeVariables #-}
import qualified Data.Map as M
import Text.Read (readMaybe)
parse :: forall a. Read a => String -> [a]
parse s = map (read @a) (words s)
sizeOf :: forall a. (Bounded a, Enum a) => a -> Int
sizeOf _ = fromEnum (maxBound @a) - fromEnum (minBound @a)
main = do
  print (read @Int "42", read @[Double] "[1,2.5]")
  print (parse "1 2 3" :: [Int])
  print (fromIntegral @Int @Double 3)
  print (maxBound @Int, sizeOf True)
  print (map (readMaybe @Int) ["1", "x"])
  print (Left @String @Int "a")
  print (either @String length negate (Right 3))
  print (M.empty @Int @Bool)
  print (show @Integer 5)
