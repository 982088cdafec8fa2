class Heap h where
  empty :: Ord a => h a
  isEmpty :: Ord a => h a -> Bool
  insert :: Ord a => a -> h a -> h a
  merge :: Ord a => h a -> h a -> h a
  findMin :: Ord a => h a -> a
  deleteMin :: Ord a => h a -> h a

data LeftistHeap a = E | T Int a (LeftistHeap a) (LeftistHeap a)

rank E = 0
rank (T r _ _ _) = r
makeT x a b = if rank a >= rank b then T (rank b + 1) x a b else T (rank a + 1) x b a

instance Heap LeftistHeap where
  empty = E
  isEmpty E = True
  isEmpty _ = False
  insert x h = merge (T 1 x E E) h
  merge h E = h
  merge E h = h
  merge h1@(T _ x a1 b1) h2@(T _ y a2 b2) =
    if x <= y then makeT x a1 (merge b1 h2)
    else makeT y a2 (merge h1 b2)
  findMin E = error "empty heap"
  findMin (T _ x _ _) = x
  deleteMin E = error "empty heap"
  deleteMin (T _ _ a b) = merge a b

data Tree a = Node Int a [Tree a]
newtype BinomialHeap a = BH [Tree a]

rank' (Node r _ _) = r
root (Node _ x _) = x

link t1@(Node r x1 c1) t2@(Node _ x2 c2) =
  if x1 <= x2 then Node (r+1) x1 (t2:c1) else Node (r+1) x2 (t1:c2)

insTree t [] = [t]
insTree t ts@(t':ts') = if rank' t < rank' t' then t:ts else insTree (link t t') ts'

mrg ts1 [] = ts1
mrg [] ts2 = ts2
mrg ts1@(t1:ts1') ts2@(t2:ts2')
  | rank' t1 < rank' t2 = t1 : mrg ts1' ts2
  | rank' t2 < rank' t1 = t2 : mrg ts1 ts2'
  | otherwise = insTree (link t1 t2) (mrg ts1' ts2')

removeMinTree [] = error "empty heap"
removeMinTree [t] = (t, [])
removeMinTree (t:ts) = if root t < root t' then (t, ts) else (t', t:ts')
  where (t', ts') = removeMinTree ts

instance Heap BinomialHeap where
  empty = BH []
  isEmpty (BH ts) = null ts
  insert x (BH ts) = BH (insTree (Node 0 x []) ts)
  merge (BH ts1) (BH ts2) = BH (mrg ts1 ts2)
  findMin (BH ts) = root t
    where (t, _) = removeMinTree ts
  deleteMin (BH ts) = BH (mrg (reverse ts1) ts2)
    where (Node _ x ts1, ts2) = removeMinTree ts

sortVia :: (Heap h, Ord a) => h a -> [a] -> [a]
sortVia e xs = drain (foldr insert e xs)
  where drain h | isEmpty h = []
                | otherwise = findMin h : drain (deleteMin h)

data Color = R | B deriving (Show, Eq)
data RB a = L | N Color (RB a) a (RB a) deriving Show

insertRB :: Ord a => a -> RB a -> RB a
insertRB x s = blacken (ins s)
  where
    ins L = N R L x L
    ins s@(N color a y b)
      | x < y = balance color (ins a) y b
      | x > y = balance color a y (ins b)
      | otherwise = s
    blacken (N _ a y b) = N B a y b

balance B (N R (N R a x b) y c) z d = N R (N B a x b) y (N B c z d)
balance B (N R a x (N R b y c)) z d = N R (N B a x b) y (N B c z d)
balance B a x (N R (N R b y c) z d) = N R (N B a x b) y (N B c z d)
balance B a x (N R b y (N R c z d)) = N R (N B a x b) y (N B c z d)
balance color a x b = N color a x b

main = do
  print (sortVia (empty :: LeftistHeap Int) [3,1,4,1,5,9,2,6])
  print (sortVia (empty :: BinomialHeap Char) "binomial")
  print (foldr insertRB L [1..6 :: Int])
