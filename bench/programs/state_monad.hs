-- A random number generator in a state monad that the program defines.
newtype State s a = State { runState :: s -> (a, s) }

instance Functor (State s) where
  fmap f (State m) = State (\s -> case m s of (a, s') -> (f a, s'))
instance Applicative (State s) where
  pure a = State (\s -> (a, s))
  State f <*> State m = State (\s -> case f s of (g, s') -> case m s' of (a, s'') -> (g a, s''))
instance Monad (State s) where
  State m >>= k = State (\s -> case m s of (a, s') -> runState (k a) s')

next :: State Int Int
next = State (\s -> let s' = (s * 1103515245 + 12345) `mod` 2147483648 in s' `seq` (s' `div` 65536, s'))

loop :: Int -> Int -> State Int Int
loop 0 total = return total
loop n total = do
  a <- next
  b <- next
  total `seq` loop (n - 1) (if (a + b) `mod` 2 == 0 then total + 1 else total)

main :: IO ()
main = print (fst (runState (loop 3000000 0) 42))
