-- Binary trees, built and checked.
data Tree = Leaf | Node Tree Tree

main :: IO ()
main = print (sum [check (make d) | d <- [4 .. 20]])

make :: Int -> Tree
make 0 = Node Leaf Leaf
make d = Node (make (d - 1)) (make (d - 1))

check :: Tree -> Int
check Leaf = 0
check (Node l r) = 1 + check l + check r
