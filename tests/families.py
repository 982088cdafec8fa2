"""Families of programs that grow with a number n, for costs.py: each has a function f and a point."""
import json


def nested(op):
    """x1 = x0 op x0, x2 = x1 op x1, …: DUAL 2022 §5.4 (t_bad), DELTA §5.3."""
    def source(n):
        lines = [f"      x{i} = x{i - 1} {op} x{i - 1}" for i in range(1, n + 1)]
        return "f :: Double -> Double\nf x0 =\n  let\n" + "\n".join(lines) + f"\n  in x{n}\n"
    return source


def fibonacci(n):
    """DUAL 2022 §2: each sum uses the two before it."""
    lines = [f"      x{i} = x{i - 2} + x{i - 1}" for i in range(2, n + 1)]
    return "f :: (Double, Double) -> Double\nf (x0, x1) =\n  let\n" + "\n".join(lines) + f"\n  in x{n}\n"


TREE = """data Tree = Leaf | Node Tree Double Tree
f :: Tree -> Double
f Leaf = 0.5
f (Node l x r) = sin (f l * x + f r)
"""


def tree(n):
    """A balanced tree of n nodes, as JSON."""
    return "Leaf" if n == 0 else {"Node": [tree((n - 1) // 2), 1.0 / n, tree(n - 1 - (n - 1) // 2)]}


PERFECT = '''data Perfect a = Zero a | Succ (Perfect (a, a))
sumP :: (a -> Double) -> Perfect a -> Double
sumP g (Zero x) = g x
sumP g (Succ t) = sumP (\\(x, y) -> g x + g y) t
mapP :: (a -> b) -> Perfect a -> Perfect b
mapP g (Zero x) = Zero (g x)
mapP g (Succ t) = Succ (mapP (\\(x, y) -> (g x, g y)) t)
f :: Perfect Double -> Double
f t = sumP (\\x -> x * x) (mapP sin t)
'''


def perfect(n):
    """A perfect tree of n elements, or of as many as the next smaller power of two, as JSON."""
    n = 1 << (n.bit_length() - 1)
    def pairs(xs):
        return xs[0] if len(xs) == 1 else [pairs(xs[:len(xs) // 2]), pairs(xs[len(xs) // 2:])]
    point = {"Zero": [pairs(reals(n))]}
    while n > 1:
        point, n = {"Succ": [point]}, n // 2
    return point


def constant(text):
    return lambda n: text


def reals(n):
    return [1 + i / (2 * n) for i in range(n)]


def table(n, width):
    return [[1 + (7 * i + 3 * j) % 11 / 20 for j in range(width)] for i in range(n)]


# name: (source of n, point of n, the smallest of three sizes n, 2n, 4n)
GROWING = {
    "products of a number with itself": (nested("*"), lambda n: 1, 50),
    "sums of a number with itself": (nested("+"), lambda n: 1, 50),
    "sums of the two numbers before": (fibonacci, lambda n: [1, 2], 50),
    "a loop": (constant("""f :: (Double, Int) -> Double
f (x, n) = go n x
  where go k y = if k == 0 then y else go (k - 1) (sin y * x + y)
"""), lambda n: [0.5, n], 100),
    "a recursion": (constant("""f :: (Double, Int) -> Double
f (x, n) = go n
  where go k = if k == 0 then x else sin (go (k - 1)) * x
"""), lambda n: [0.5, n], 100),
    "functions composed": (constant("""f :: (Double, Int) -> Double
f (x, n) = foldr (.) id (replicate n (\\y -> y * x)) x
"""), lambda n: [0.99, n], 100),
    "a list": (constant("""f :: [Double] -> Double
f xs = foldr (\\x y -> x * cos y) 1 (map (\\x -> x * x) xs)
"""), reals, 100),
    "a tree": (constant(TREE), tree, 100),
    "a nested type": (constant(PERFECT), perfect, 128),
    "an array, whole": (constant("""f :: Array Double -> Double
f xs = sum (zipWith (*) (scanl (\\a x -> a * x + 0.5) 1 xs) (map sin (append (reverse xs) [|1|])))
"""), reals, 100),
    "an array, by elements": (constant("""f :: Array Double -> Double
f xs = go 0 1
  where go i y = if i == length xs then y else go (i + 1) (y * xs ! i + xs ! (length xs - 1 - i))
"""), reals, 100),
    "an array, updated": (constant("""f :: Array Double -> Double
f xs = go 1 xs
  where go i ys = if i == length ys then ys ! (i - 1) else go (i + 1) (update ys i (sin (ys ! i * ys ! (i - 1))))
"""), reals, 100),
    "an array, built of another": (constant("""f :: Array Double -> Double
f xs = product (build (length xs) (\\i -> 1 + sum (build 4 (\\j -> xs ! i * xs ! (length xs - 1 - i) / 8))))
"""), reals, 100),
    "the largest of an array": (constant("""f :: Array Double -> Double
f xs = maximum (map sin xs) * minimum xs
"""), reals, 100),
    "a sorted list": (constant("""f :: [Double] -> Double
f xs = foldl (\\a x -> a / 2 + x) 0 (sorted (zipWith (*) xs (reverse xs)))
  where
    sorted (a : b : rest) = merge (sorted (halves 0 rest ++ [a])) (sorted (b : halves 1 rest))
    sorted short = short
    halves k (y : ys) = if k == 0 then y : halves 1 ys else halves 0 ys
    halves _ [] = []
    merge [] ys = ys
    merge xs' [] = xs'
    merge (x : xs') (y : ys) = if x <= y then x : merge xs' (y : ys) else y : merge (x : xs') ys
"""), reals, 50),
    "work on constants": (constant("""f :: (Double, Int) -> Double
f (x, n) = x * sum (map (\\i -> sin (fromIntegral i)) (iota n))
"""), lambda n: [0.5, n], 100),
    "closures in a list": (constant("""f :: [Double] -> Double
f xs = sum (map (\\g -> g 2) (map (\\x -> \\y -> x * y + 1) xs))
"""), reals, 100),
    "a derivative at each step": (constant("""f :: (Double, Int) -> Double
f (x, n) = go n x
  where go k y = if k == 0 then y else go (k - 1) (diff (\\z -> sin z * x + y) 0.5)
"""), lambda n: [0.5, n], 50),
    "a gradient at each step": (constant("""f :: (Double, Int) -> Double
f (x, n) = go n x
  where go k y = if k == 0 then y else go (k - 1) (sum (grad (\\(z, w) -> sin z * x + y * w * z) (0.5, y)))
        sum (a, b) = a / 4 + b / 4
"""), lambda n: [0.5, n], 50),
    "rows of a table, updated": (constant("""f :: (Array (Array Double), Double) -> Double
f (m0, x) = sum (map sum (foldl (\\m i -> update m i (map (* x) (m ! i))) m0 (iota (length m0))))
"""), lambda n: [table(n, 8), 0.9], 20),
    "rows of a table, from the rows before": (constant("""f :: Array (Array Double) -> Double
f m0 = sum (go 2 m0 ! (length m0 - 1))
  where
    go i m = if i == length m then m else go (i + 1) (update m i (build (length (m ! i)) (\\j -> next m i j)))
    next m i j = sin (m ! i ! j) * m ! (i - 1) ! (length (m ! i) - 1 - j) + m ! (i - 2) ! 0
"""), lambda n: table(n, 8), 20),
    "rows of a table, some of them": (constant("""f :: Array (Array Double) -> Double
f m0 = sum (map sum (foldl (\\m i -> if m ! i ! 0 > 1.2 then update m i (map sin (m ! i)) else m) m0 (iota (length m0))))
"""), lambda n: table(n, 8), 20),
    "two tables": (constant("""f :: (Array (Array Double), Array (Array Double)) -> Double
f (a, b) = sum (map sum c) * sum (map sum d)
  where
    (c, d) = foldl step (a, b) (iota (length a))
    step (s, t) i = (update s i (zipWith (*) (s ! i) (t ! i)), update t i (map sin (s ! i)))
"""), lambda n: [table(n, 8), table(n, 8)], 20),
    "dynamic programming": (constant("""f :: (Array Double, Array Double) -> Double
f (xs, ys) = last ! length ys
  where
    last = foldl row start (iota (length xs)) ! length xs
    start = replicate (length xs + 1) (map fromIntegral (iota (length ys + 1)))
    row t i = update t (i + 1) (scanl (\\left j -> cell left (t ! i) i j) (fromIntegral (i + 1)) (iota (length ys)))
    cell left above i j = min (min left (above ! (j + 1)) + 1) (above ! j + abs (xs ! i - ys ! j))
"""), lambda n: [reals(n), reals(8)], 20),
    "shortest paths": (constant("""f :: Array (Array Double) -> Double
f d0 = sum (map sum (foldl through d0 (iota n)))
  where
    n = length d0
    through d k = foldl (\\e i -> update e i (zipWith (\\x y -> min x (e ! i ! k + y)) (e ! i) (e ! k))) d (iota n)
"""), lambda n: table(n, n), 8),
    "an array that grows": (constant("""f :: Array Double -> Double
f xs = sum (foldl (\\ys x -> snoc ys (x * ys ! (length ys - 1))) [|1|] xs)
"""), reals, 50),
    "a table that grows": (constant("""f :: Array (Array Double) -> Double
f xs = sum (map sum (foldl (\\hs x -> snoc hs (zipWith (\\a b -> tanh (a + b * x ! 0)) (hs ! (length hs - 1)) x)) [|xs ! 0|] xs))
"""), lambda n: table(n, 8), 20),
    "a matrix by a vector": (constant("""f :: (Array (Array Double), Array Double) -> Double
f (a, x) = sum (map (\\row -> sin (sum (zipWith (*) row x))) a)
"""), lambda n: [[reals(8) for _ in range(n)], reals(8)], 20),
}

# A derivative at each step, which reads two elements of a table.
CAPTURED = """f :: (Double, Array Double) -> Double
f (a, table) = sum (build (length table - 1) (\\i -> diff (\\x -> x * x * table ! i + exp (x * table ! (i + 1))) a))
"""


def two_arrays(n):
    return [reals(n), reals(n)[::-1]]


# One array under many names, each of which is used at a few indices: an array of zeros for each would take n² steps.
NAMES = {
    "an array in closures": (constant("""f :: Array Double -> Double
f xs = sum (map (\g -> g 1) (map (\i -> \y -> xs ! i * y) (toList (iota (length xs)))))
  where toList ys = go 0 where go i = if i == length ys then [] else ys ! i : go (i + 1)
"""), reals, 50),
    "an array in closures, in a loop": (constant("""f :: Array Double -> Double
f xs = foldr (\g y -> g y) 0 (map (\i -> \y -> y + sum (build 3 (\j -> xs ! mod (i * j) n))) (enumFromTo 0 (n - 1)))
  where n = length xs
"""), reals, 50),
    "an array in nodes": (constant("""data T = N Int (Array Double) T | E
f :: Array Double -> Double
f xs = total (make (length xs))
  where make n = if n == 0 then E else N (n - 1) xs (make (n - 1))
        total E = 0
        total (N i ys rest) = ys ! i * ys ! 0 + total rest
"""), reals, 50),
    "an array in nodes, passed on": (constant("""data T = N Int (Array Double) T | E
f :: Array Double -> Double
f xs = total (make (length xs))
  where make n = if n == 0 then E else N (n - 1) xs (make (n - 1))

look :: Array Double -> Int -> Int -> Double
look ys i k = if k <= 0 then ys ! i else sin (look ys (mod (i * 7) (length ys)) (k - 1)) + ys ! k

total :: T -> Double
total E = 0
total (N i ys rest) = look ys i 2 + total rest
"""), reals, 50),
    "arrays in a list": (constant("""f :: Array Double -> Double
f xs = go 0 0
  where rows = [xs, map sin xs, map cos xs]
        go i y = if i == length xs then y else go (i + 1) (sin y + (rows !! mod i 3) ! i)
"""), reals, 50),
    "an array in an array": (constant("""f :: Array Double -> Double
f xs = sum (map (\(i, ys) -> ys ! i) (build (length xs) (\i -> (i, if i > 3 then xs else map sin xs))))
"""), reals, 50),
    "one of two arrays": (constant("""f :: (Array Double, Array Double) -> Double
f (xs, ys) = go 0 0
  where go i s = if i == length xs then s else let zs = if xs ! i > 1.5 then xs else ys in go (i + 1) (sin s + zs ! i)
"""), two_arrays, 50),
    "an array returned": (constant("""pick :: Int -> Array Double -> Array Double -> Array Double
pick k xs ys = if k < 1 then xs else if k < 2 then ys else pick (k - 2) ys xs
f :: (Array Double, Array Double) -> Double
f (xs, ys) = go 0 0
  where go i s = if i == length xs then s else go (i + 1) (sin s + pick (mod i 10) xs ys ! i)
"""), two_arrays, 50),
    "a slice of an array in closures": (constant("""f :: Array Double -> Double
f xs = foldr (\g y -> g y) 0 (map (\i -> \y -> y + sum (slice i 2 xs)) (enumFromTo 0 (length xs - 2)))
"""), reals, 50),
    "rows of a matrix in closures": (constant("""f :: Array (Array Double) -> Double
f xss = foldr (\g y -> g y) 0 (map (\i -> \y -> y + sum (xss ! i) * xss ! 0 ! 1) (enumFromTo 0 (length xss - 1)))
"""), lambda n: [reals(3) for _ in range(n)], 50),
    "an array that gradients capture": (constant("""f :: (Double, Array Double) -> Double
f (x, xs) = go 0 x
  where go i y = if i == length xs then y else go (i + 1) (y + slope i y)
        slope i y = grad (\z -> power 3 (z * xs ! i) + look i 2 z y) 0.5
        look i k z y = if k == 0 then z * z * xs ! i * y else look i (k - 1) (sin z) y
        power n z = if n == 0 then 1 else z * power (n - 1) z
"""), lambda n: [0.5, reals(n)], 50),
}

# The steps of its program are nearly the same for all numbers of inputs.
INPUTS = """f :: Array Double -> Double
f xs = go 2000 (sum xs)
  where go k y = if k == 0 then y else go (k - 1) (y * 0.5 + sin y)
"""


def wide(kind):
    """A loop whose state is w numbers, of which each iteration computes one: as a tuple, as arguments, or as nested pairs, as
    the papers have products. The other components only move. The point is the numbers and how many iterations."""
    def source(w):
        names = [f"x{i}" for i in range(w)]
        moved = [*names[1:], "sin x0"]
        point = "(" + ", ".join(names) + ")"
        types = "(" + ", ".join(["Double"] * w) + ")"
        if kind == "arguments":
            return (f"f :: ({types}, Int) -> Double\nf ({point}, n) = go n {' '.join(names)}\n  where go k {' '.join(names)} = "
                    f"if k == 0 then x0 else go (k - 1) {' '.join(moved[:-1])} (sin x0)\n")
        state, then = (pairs(names), pairs(moved)) if kind == "nested pairs" else (point, "(" + ", ".join(moved) + ")")
        return (f"f :: ({types}, Int) -> Double\nf ({point}, n) = first (go n {state})\n  where\n"
                f"    go k {state} = if k == 0 then {state} else go (k - 1) {then}\n    first {state} = x0\n")
    return source


def pairs(names):
    return names[0] if len(names) == 1 else f"({names[0]}, {pairs(names[1:])})"


WIDE = {kind: wide(kind) for kind in ("a tuple", "arguments", "nested pairs")}


# name: (source, point of n), programs over arrays whose sizes grow with n while the text stays.
ARRAYS = {
    "dot product": ("""f :: (Array Double, Array Double) -> Double
f (a, b) = sum (zipWith (*) a b)
""", lambda n: [reals(n), reals(n)]),
    "self-convolution": ("""f :: Array Double -> Double
f a = sum (build n (\\i -> a ! i * a ! (n - 1 - i)))
  where n = length a
""", reals),
    "matrix product": ("""f :: (Array (Array Double), Array (Array Double)) -> Double
f (a, b) = sum (map sum (build (length a) (\\i -> build (length (b ! 0)) (\\j ->
  sum (build (length b) (\\p -> a ! i ! p * b ! p ! j))))))
""", lambda n: [[reals(n + 1) for _ in range(n)], [reals(n + 2) for _ in range(n + 1)]]),
    "convolution": ("""f :: (Array Double, Array Double) -> Double
f (ks, xs) = sum (build (length xs - length ks + 1) (\\i -> sin (sum (build (length ks) (\\j -> ks ! j * xs ! (i + j))))))
""", lambda n: [reals(2), reals(n + 2)]),
    "softmax regression": ("""f :: (Array (Array Double), Array (Array Double), Array Int) -> Double
f (w, xs, ys) = sum (zipWith loss xs ys)
  where
    loss x y = let zs = map (\\row -> sum (zipWith (*) row x)) w in logSumExp zs - zs ! y
    logSumExp zs = let m = maximum zs in m + log (sum (map (\\z -> exp (z - m)) zs))
""", lambda n: [[reals(n + 1) for _ in range(3)], [reals(n + 1) for _ in range(2 * n)], [i % 3 for i in range(2 * n)]]),
    "perceptron": ("""f :: (Array (Array Double), Array (Array Double), Array (Array Double)) -> Double
f (v, w, xs) = sum (map (\\x -> sum (layer w (layer v x))) xs)
  where layer w x = map (\\row -> tanh (sum (zipWith (*) row x))) w
""", lambda n: [[reals(n) for _ in range(n + 1)], [reals(n + 1) for _ in range(2)], [reals(n) for _ in range(n + 2)]]),
    "a fold that captures": ("""f :: (Double, Array Double) -> Double
f (a, xs) = let (s, t) = foldl (\\(s, t) x -> (a * s + sin x, t * s + xs ! 0)) (1, 0) xs in s * t
""", lambda n: [0.5, reals(n)]),
    "scans of rows": ("""f :: Array (Array Double) -> Double
f xss = sum (map (\\xs -> sum (scanl (\\a x -> a * x + xss ! 0 ! 1) 1 xs)) xss)
""", lambda n: [reals(n + 1) for _ in range(n)]),
    "recurrent network": ("""f :: (Array (Array Double), Array (Array Double)) -> Double
f (w, xs) = sum (foldl (\\h x -> zipWith (\\row y -> tanh (sum (zipWith (*) row h) + y)) w x) (map (\\r -> 0) w) xs)
""", lambda n: [[reals(n + 1) for _ in range(n + 1)], [reals(n + 1) for _ in range(2 * n)]]),
    "neighbours": ("""f :: Array Double -> Double
f xs = sum (build (length xs) (\\i -> if i == 0 then xs ! i else xs ! i * xs ! (i - 1)))
""", reals),
}


def point(value):
    return json.dumps(value)
