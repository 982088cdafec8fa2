#!/usr/bin/env python3
"""What docs/library.md says that functions cost, against counted steps of the evaluator (docs/cost-model.md), at growing sizes.

    tests/library_costs.py [--cotan PATH] [--all] [WORD…]

A row gives an expression in n, how it prepares its arguments, its cost as a function of n, and sizes. The steps of the preparation alone are taken off. What is left, for each unit of the cost, may
grow by the factor GROWTH from the first of the last two sizes to the second. A cost that is given for a gradient is that of the gradient alone: the steps of the value are not taken off.
Rows whose words are not in docs/library.md any more fail. --all prints every row.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
GROWTH = 1.1


def log(n):
    return math.log2(n + 1)


COSTS = {
    "1": lambda n: 1, "log n": log, "n": lambda n: n, "n log n": lambda n: n * log(n), "n²": lambda n: n * n, "n³": lambda n: n ** 3, "n⁴": lambda n: n ** 4,
}

IMPORTS = """import Arrays
import Decompositions
import FFT
import Interpolate
import Iterative
import LinearAlgebra
import Ode
import Optimise
import Quadrature
import Sparse
import Statistics
import qualified Data.IntMap as IntMap
import qualified Data.List as List
import qualified Data.Map as Map
import qualified Data.Ragged as Ragged
import qualified Data.Sequence as Seq
import qualified Data.Set as Set
import qualified Distributions
import qualified Random
import qualified Tensors

-- Numbers from −1 to 1 in no order, whole ones in no order, and the first in order.
noise :: Int -> Vector
noise k = build k (\\i -> sin (fromIntegral (i * i + 3 * i) * 1.7))

shuffled :: Int -> Array Int
shuffled k = build k (\\i -> mod (i * 40503 + 7) 65537)

ascending :: Int -> Vector
ascending k = build k fromIntegral

-- Matrices: any; positive definite; the same, sparse, with three diagonals.
square :: Int -> Matrix
square k = build k (\\i -> build k (\\j -> sin (fromIntegral (i * 7 + j * j * 3 + i * j)) + (if i == j then fromIntegral k else 0)))

positive :: Int -> Matrix
positive k = build k (\\i -> build k (\\j -> cos (fromIntegral (i - j)) * exp (-0.1 * fromIntegral (abs (i - j))) + (if i == j then 1 else 0)))

diagonals :: Int -> Sparse
diagonals k = sparse k k (concatMap (\\i -> (i, i, 4) : [(i, j, -1) | j <- [i - 1, i + 1], j >= 0, j < k]) [0 .. k - 1])

keys :: Int -> [(Int, Int)]
keys k = map (\\i -> (i, i)) (toList (shuffled k))

"""

N10, N6 = (1024, 2048, 4096), (128, 256, 512)
MATRIX = (24, 48, 96)  # reduce works in blocks from 128 elements on
POWERS = (16, 1024, 65536)

# words of docs/library.md; cost; sizes; the prepared arguments, as the type and the value of x; the expression
ROWS = [
    # ---- the prelude, lists, maps, sets ----
    ("sort ::", "n log n", N10, "[Int]", "toList (shuffled n)", "sort x"),
    ("argsort ::", "n log n", N10, "Array Int", "shuffled n", "argsort x"),
    ("nub ::", "n²", (100, 200, 400), "[Int]", "toList (shuffled n)", "nub x"),
    ("nubOrd ::", "n log n", N10, "[Int]", "toList (shuffled n)", "List.nubOrd x"),
    ("fromList :: Ord k", "n log n", N10, "[(Int, Int)]", "keys n", "Map.size (Map.fromList x)"),
    ("fromAscList :: Eq k", "n", N10, "[(Int, Int)]", "[(i, i) | i <- [1 .. n]]", "Map.size (Map.fromAscList x)"),
    ("fromDistinctAscList :: [(k, a)]", "n", N10, "[(Int, Int)]", "[(i, i) | i <- [1 .. n]]", "Map.size (Map.fromDistinctAscList x)"),
    ("An operation on one key costs O(log n)", "log n", POWERS, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "Map.lookup (n - 1) x"),
    ("An operation on one key costs O(log n)", "log n", POWERS, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "Map.size (Map.insert (n + 1) 0 x)"),
    ("An operation on one key costs O(log n)", "log n", POWERS, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "Map.size (Map.delete (div n 3) x)"),
    ("An operation on one key costs O(log n)", "log n", POWERS, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "Map.size (Map.adjust (+ 1) 1 x)"),
    ("on all keys O(n)", "n", N10, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "sum (Map.map (+ 1) (Map.filter even x))"),
    ("O(m log (n/m + 1))", "log n", POWERS, "(Map.Map Int Int, Map.Map Int Int)", "(Map.fromList [(3 * div n 7, 0), (div n 2, 1)], Map.fromDistinctAscList [(i, i) | i <- [1 .. n]])", "Map.size (Map.union (fst x) (snd x))"),
    ("O(m log (n/m + 1))", "log n", POWERS, "(Map.Map Int Int, Map.Map Int Int)", "(Map.fromList [(3 * div n 7, 0), (div n 2, 1)], Map.fromDistinctAscList [(i, i) | i <- [1 .. n]])", "Map.size (Map.intersection (snd x) (fst x))"),
    ("O(m log (n/m + 1))", "log n", POWERS, "(Map.Map Int Int, Map.Map Int Int)", "(Map.fromList [(3 * div n 7, 0), (div n 2, 1)], Map.fromDistinctAscList [(i, i) | i <- [1 .. n]])", "Map.size (Map.difference (snd x) (fst x))"),
    ("O(m log (n/m + 1))", "n", N10, "(Map.Map Int Int, Map.Map Int Int)", "(Map.fromDistinctAscList [(2 * i, i) | i <- [1 .. n]], Map.fromDistinctAscList [(i, i) | i <- [1 .. n]])", "Map.size (Map.unionWith (+) (fst x) (snd x))"),
    ("mapKeysMonotonic ::", "n", N10, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "Map.size (Map.mapKeysMonotonic (* 2) x)"),
    ("how many keys it has; O(1)", "1", N10, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "Map.size x"),
    ("the longest prefix of entries", "log n", POWERS, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "Map.size (Map.takeWhileAntitone (< div n 3) x)"),
    ("take, drop :: Int -> Map k a", "log n", POWERS, "Map.Map Int Int", "Map.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "Map.size (Map.take (div n 3) x) + Map.size (Map.drop 5 x)"),
    ("fromList :: Ord a => [a] -> Set a", "n log n", N10, "[Int]", "toList (shuffled n)", "Set.size (Set.fromList x)"),
    ("fromAscList :: Eq a => [a] -> Set a", "n", N10, "[Int]", "[1 .. n]", "Set.size (Set.fromAscList x)"),
    ("fromDistinctAscList :: [a] -> Set a", "n", N10, "[Int]", "[1 .. n]", "Set.size (Set.fromDistinctAscList x)"),
    ("operations cost as much as those on maps", "log n", POWERS, "Set.Set Int", "Set.fromDistinctAscList [1 .. n]", "Set.size (Set.insert (n + 1) x)"),
    ("operations cost as much as those on maps", "log n", POWERS, "Set.Set Int", "Set.fromDistinctAscList [1 .. n]", "Set.member (n - 1) x"),
    ("map :: Ord b => (a -> b) -> Set a", "n log n", N10, "Set.Set Int", "Set.fromDistinctAscList [1 .. n]", "Set.size (Set.map (\\i -> mod (i * 40503) 65537) x)"),
    ("size :: Set a", "1", N10, "Set.Set Int", "Set.fromDistinctAscList [1 .. n]", "Set.size x"),
    ("takeWhileAntitone, dropWhileAntitone :: (a -> Bool) -> Set", "log n", POWERS, "Set.Set Int", "Set.fromDistinctAscList [1 .. n]", "Set.size (Set.dropWhileAntitone (< div n 3) x)"),
    ("mapMonotonic ::", "n", N10, "Set.Set Int", "Set.fromDistinctAscList [1 .. n]", "Set.size (Set.mapMonotonic (* 2) x)"),
    ("take, drop :: Int -> Set a", "log n", POWERS, "Set.Set Int", "Set.fromDistinctAscList [1 .. n]", "Set.size (Set.take (div n 3) x)"),
    ("`IntMap` is `Map Int`", "log n", POWERS, "IntMap.IntMap Int", "IntMap.fromDistinctAscList [(i, i) | i <- [1 .. n]]", "IntMap.lookup (n - 1) x"),
    ("O(log n) to read, add or replace", "log n", POWERS, "Seq.Seq Int", "Seq.fromList [1 .. n]", "Seq.index x (div n 3)"),
    ("O(log n) to read, add or replace", "log n", POWERS, "Seq.Seq Int", "Seq.fromList [1 .. n]", "length (Seq.update (div n 3) 0 (0 Seq.<| (x Seq.|> 1)))"),
    ("and for `splitAt` and `><`", "log n", POWERS, "Seq.Seq Int", "Seq.fromList [1 .. n]", "case Seq.splitAt (div n 3) x of (a, b) -> length (b Seq.>< a)"),
    ("O(n) for functions of all elements", "n", N10, "Seq.Seq Int", "Seq.fromList [1 .. n]", "sum (fmap (+ 1) x)"),
    ("that of the prelude; O(1)", "1", N10, "Seq.Seq Int", "Seq.fromList [1 .. n]", "length x"),
    # ---- arrays ----
    *[("They cost a step for each element that is read or made", "n", N10, "(Vector, Array Int)", "(noise n, build n (\\i -> mod (i * i) 16))", e) for e in (
        "outerWith (*) (fst x) [|1, 2, 3|]", "grid (fst x) [|1, 2, 3|]", "indices (fst x)", "length (elems (fst x))",
        "length (assocs (fst x))", "mapWithIndex (\\i y -> fromIntegral i * y) (fst x)", "foldlWithIndex (\\s i y -> s + fromIntegral i * y) 0 (fst x)", "count (> 0) (fst x)", "positions (> 0) (fst x)",
        "fst x // [(i, 0) | i <- [0 .. n - 1]]", "accum (+) (fst x) [(div i 2, 1) | i <- [0 .. n - 1]]", "reduceByIndex (+) 0 16 (snd x) (fst x)", "exchange 0 (n - 1) (fst x)", "insertAt (div n 2) 0 (fst x)",
        "deleteAt (div n 2) (fst x)", "cumulativeSum (fst x)", "cumulativeProduct (fst x)", "cumulativeMaximum (fst x)", "cumulativeMinimum (fst x)", "differences (fst x)", "rotate 5 (fst x)",
        "windows 4 (fst x)", "flatten (unflatten 4 (fst x))", "column 1 (unflatten 4 (fst x))", "mapColumns (map (+ 1)) (unflatten 4 (fst x))", "sumAxis 0 (unflatten 4 (fst x))", "sumAxis 1 (unflatten 4 (fst x))",
        "reduceAxis 0 sum (unflatten 4 (fst x))", "fromTo 1 (-1) (fst x)", "every 3 (fst x)", "select (map (> 0) (fst x)) (fst x) (fst x)", "masked (map (> 0) (fst x)) (fst x)", "counts 16 (snd x)",
        "segmentSum 16 (snd x) (fst x)", "segmentReduce max (-9) 16 (snd x) (fst x)", "isSorted (ascending n)", "trapezoid (ascending n) (fst x)", "horner (fst x) 0.5", "convolve (fst x) [|1, 2, 3|]",
        "histogram 16 (-1, 1) (fst x)", "mean (fst x)", "variance (fst x)", "covariance (fst x) (fst x)", "standardise (fst x)", "logSumExp (fst x)", "softmax (fst x)")],
    *[("They cost a step for each element that is read or made", "n", N10, "()", "()", e) for e in (
        "tabulate n (+ 1)", "linspace 0 1 n", "logspace 1 2 n", "range 0 (fromIntegral n) 1", "oneHot n 3 :: Vector", "tabulate2 4 n (+)", "tabulate3 2 2 n (\\i j k -> i + j + k)")],
    *[("They cost a step for each element that is read or made", "n", N10, "Vector", "noise n", f"grad (\\v -> {e}) x") for e in (
        "sum (cumulativeSum v)", "sum (segmentSum 4 (build n (\\i -> mod i 4)) v)", "sum (differences v)", "sum (map (\\w -> w ! 0 * w ! 1) (windows 2 v))", "logSumExp v", "variance v", "horner v 0.5")],
    *[(words, "n log n", N10, "Vector", "noise n", e) for words, e in (("argsort ::", "argsort x"), ("ranks ::", "ranks x"), ("unique ::", "unique x"), ("median ::", "median x"), ("quantile ::", "quantile 0.3 x"))],
    ("contract m n p", "n³", MATRIX, "Matrix", "square n", "contract n n n (\\i j k -> x ! i ! k * x ! k ! j)"),
    ("searchSorted ::", "log n", POWERS, "Vector", "ascending n", "searchSorted 3.5 x"),
    ("linear interpolation between points", "log n", POWERS, "Vector", "ascending n", "interpolate x x 3.5"),
    # ---- tensors and ragged rows ----
    ("It costs O(m n)", "n³", MATRIX, "Matrix", "square n", "Tensors.einsum \"ij,jk->ik\" x x :: Matrix"),
    ("It costs O(m n)", "n²", MATRIX, "Matrix", "square n", "Tensors.einsum \"ij,ij->i\" x x :: Vector"),
    ("It costs O(m n)", "n²", MATRIX, "Matrix", "square n", "Tensors.einsum1 \"ij->ji\" x :: Matrix"),
    ("It costs O(m n)", "n", N10, "Vector", "noise n", "Tensors.einsum \"i,i->\" x x :: Double"),
    ("It costs O(m n)", "n³", MATRIX, "Matrix", "square n", "grad (\\a -> Tensors.einsum \"ij,jk->\" a a :: Double) x"),
    ("sumAxes ::", "n²", MATRIX, "Matrix", "square n", "Tensors.sumAxes [0] x :: Vector"),
    ("permuteAxes ::", "n²", MATRIX, "Matrix", "square n", "Tensors.permuteAxes [1, 0] x :: Matrix"),
    *[("`Ragged a` has rows", "n", N10, "Ragged.Ragged Double", "Ragged.fromLengths (build n (\\i -> 2 * mod i 3)) (noise (2 * sum (build n (`mod` 3))))", e) for e in (
        "Ragged.sumRows x", "Ragged.rowLengths x", "Ragged.rowStarts x", "Ragged.rowOfEach x", "Ragged.mapRow sum x", "Ragged.reduceRows max 0 x", "length (Ragged.toRows x)", "Ragged.rowCount (Ragged.fromRows (Ragged.toRows x))",
        "sum (Ragged.appendRows x x)", "sum (Ragged.withValues (Ragged.values x) x)", "sum (fmap (* 2) x)", "grad (\\v -> sum (Ragged.sumRows (Ragged.withValues v x))) (Ragged.values x)")],
    ("row :: Ragged a", "1", N10, "Ragged.Ragged Double", "Ragged.fromLengths (replicate n 2) (noise (2 * n))", "Ragged.row x 7"),
    # ---- linear algebra ----
    *[("functions based on them take O(n³) steps", "n³", MATRIX, "(Matrix, Vector)", "(square n, noise n)", e) for e in (
        "matMul (fst x) (fst x)", "solve (fst x) (snd x)", "solveMatrix (fst x) (fst x)", "inverse (fst x)", "determinant (fst x)", "logDeterminant (fst x)", "luParts (lu (fst x))", "qr (fst x)", "leastSquares (fst x) (snd x)")],
    *[("functions based on them take O(n³) steps", "n³", MATRIX, "(Matrix, Vector)", "(positive n, noise n)", e) for e in (
        "cholesky (fst x)", "solvePositive (fst x) (snd x)", "logDeterminantPositive (fst x)", "eigenSymmetric (fst x)", "spectral log (fst x)", "multivariateNormalLogDensity (snd x) (fst x) (snd x)")],
    *[("and triangular systems", "n²", MATRIX, "(Matrix, Vector)", "(square n, noise n)", e) for e in ("matVec (fst x) (snd x)", "vecMat (snd x) (fst x)", "solveLower (fst x) (snd x)", "solveUpper (fst x) (snd x)")],
    ("and triangular systems", "n²", MATRIX, "(LU, Vector)", "(lu (square n), noise n)", "luSolve (fst x) (snd x)"),
    ("and triangular systems", "n²", MATRIX, "(Matrix, Vector)", "(cholesky (positive n), noise n)", "choleskySolve (fst x) (snd x)"),
    *[("their derivatives a constant factor more", "n³", MATRIX, "(Matrix, Vector)", "(positive n, noise n)", f"grad (\\a -> {e}) (fst x)") for e in (
        "sum (solve a (snd x))", "sum (map sum (inverse a))", "sum (map sum (cholesky a))", "determinant a", "logDeterminantPositive a", "sum (map sum (snd (qr a)))", "sum (fst (eigenSymmetric a))",
        "trace (spectral log a)")],
    ("their derivatives a constant factor more", "n³", (72, 84, 96), "Matrix", "square n", "grad (\\a -> sum (map sum (matMul a a))) x"),
    ("their derivatives a constant factor more", "n²", (128, 256, 512), "(Matrix, Vector)", "(square n, noise n)", "grad (\\a -> sum (matVec a (snd x))) (fst x)"),
    ("their derivatives a constant factor more", "n²", (128, 256, 512), "(Matrix, Vector)", "(square n, noise n)", "grad (\\a -> sum (solveLower a (snd x))) (fst x)"),
    ("one-sided Jacobi rotations, O(n³) a sweep", "n³", (16, 32, 64), "Matrix", "square n", "singularValues x"),
    ("by the QR algorithm, O(n³)", "n³", (16, 32, 64), "Matrix", "square n", "schur x"),
    ("O(n³), and as much for each eigenvalue", "n⁴", (8, 16, 32), "Matrix", "square n", "eigenvalues x"),
    ("right-hand side; O(n), no pivoting", "n", N10, "Vector", "noise n", "solveTridiagonal (map (const 1) x) (map (const 4) x) (map (const 1) x) x"),
    ("O(k² n), no pivoting", "n", N6, "(Matrix, Vector)", "(build n (const [|1, 6, 1|]), noise n)", "solveBanded 1 (fst x) (snd x)"),
    ("O(k² n), no pivoting", "n²", (8, 16, 32), "(Matrix, Vector)", "(build 200 (const (build (2 * n + 1) (\\j -> if j == n then 300 else 1))), noise 200)", "solveBanded n (fst x) (snd x)"),
    # ---- sparse and iterative ----
    ("in any order; those at the same place are added", "n log n", N6, "[(Int, Int, Double)]", "[(mod (i * 17) n, mod (i * i) n, 1) | i <- [0 .. 3 * n - 1]]", "sparseRows (sparse n n x)"),
    *[("O(k) for k elements", "n", N10, "(Sparse, Vector)", "(diagonals n, noise n)", e) for e in (
        "sparseMatVec (fst x) (snd x)", "sparseVecMat (snd x) (fst x)", "grad (\\v -> sum (sparseMatVec (fst x) v)) (snd x)", "grad (\\v -> sum (sparseMatVec (withStored v (fst x)) (snd x))) (stored (fst x))")],
    ("the solution of a system; O(k)", "n", N10, "(SparseCholesky, Vector)", "(sparseCholesky (diagonals n), noise n)", "sparseCholeskySolve (fst x) (snd x)"),
    ("three `jvp` for a tridiagonal Jacobian of any size", "n", N6, "(Sparse, Vector)", "(diagonals n, noise n)", "stored (sparseJacobian (fst x) (\\v -> sparseMatVec (fst x) (v * v)) (snd x))"),
    ("conjugateGradient ::", "n", N6, "(Sparse, Vector)", "(diagonals n, replicate n 1)", "conjugateGradient 1.0e-6 (sparseMatVec (fst x)) (snd x)"),
    ("conjugateGradient ::", "n", N6, "(Sparse, Vector)", "(diagonals n, replicate n 1)", "grad (\\v -> sum (conjugateGradient 1.0e-6 (sparseMatVec (fst x)) v)) (snd x)"),
    ("gmres ::", "n", N6, "(Sparse, Vector)", "(diagonals n, replicate n 1)", "gmres 10 1.0e-6 (sparseMatVec (fst x)) (snd x)"),
    # ---- distributions, random numbers ----
    ("O(log k) evaluations of the distribution function", "log n", (256, 4096, 65536), "()", "()", "Distributions.poissonQuantile (fromIntegral n) 0.4"),
    ("in constant time", "1", POWERS, "()", "()", "fst (Random.int (Random.skip n (Random.generator 1)))"),
    ("the k-th of many independent generators, in constant time", "1", POWERS, "()", "()", "fst (Random.int (Random.stream n (Random.generator 1)))"),
    ("shuffle ::", "n", N10, "Vector", "noise n", "fst (Random.shuffle x (Random.generator 1))"),
    ("uniforms, normals ::", "n", N10, "()", "()", "fst (Random.normals n (Random.generator 1))"),
    # ---- searches, curves, integrals, differential equations, transforms ----
    ("a step takes O(n²) besides the function's cost", "n²", MATRIX, "Vector", "noise n", "foundAt (bfgs 6 0 (\\v -> sum (map (\\y -> y * y * y * y + y) v)) x)"),
    ("the same in O(m n)", "n", N6, "Vector", "noise n", "foundAt (lbfgs 5 12 0 (\\v -> sum (map (\\y -> y * y * y * y + y) v)) x)"),
    ("O(n³) a step", "n³", (12, 24, 48), "Vector", "noise n", "foundAt (projectedBfgs 4 0 (map (subtract 1) x, map (+ 1) x) (\\v -> sum (map (\\y -> y * y * y * y + y) v)) x)"),
    ("the natural cubic spline; O(n)", "n", N10, "Vector", "noise n", "curveAt (cubicSpline (ascending n) x) 3.5"),
    ("value and slope at a point; O(log n)", "log n", POWERS, "Curve", "cubicSpline (ascending n) (noise n)", "curveAt x 3.5 + curveSlope x 2.5"),
    ("each takes 30 evaluations and O(n)", "n²", (16, 32, 64), "()", "()", "integral (quadrature n 0 0 (\\t -> sqrt (abs (sin (9 * t)))) (0, 3))"),
    ("32 nodes, whatever the function", "1", N10, "()", "()", "gaussLegendre (\\t -> sin (fromIntegral n * t)) (0, 1)"),
    ("Steps are accepted when the estimated error", "n", (16, 64, 256), "()", "()", "ode 1.0e-6 1.0e-6 (\\t y -> cos t * y) (0, fromIntegral n) 1.0"),
    ("(the discrete adjoint)", "n", (16, 64, 256), "()", "()", "grad (\\y -> ode 1.0e-6 1.0e-6 (\\t s -> cos t * s) (0, fromIntegral n) y) 1.0"),
    ("with a Jacobian and a factorisation a step, O(n³)", "n³", (8, 16, 32), "Vector", "noise n", "stiffOde 1.0e-2 1.0e-2 (\\_ y -> map (\\e -> - e) y) (0, 0.01) x"),
    ("of any length n, in O(n log n)", "n log n", (512, 2048, 8192), "Vector", "noise n", "fft (x, x)"),
    ("of any length n, in O(n log n)", "n log n", (360, 1440, 5760), "Vector", "noise n", "realFft x"),
    ("of any length n, in O(n log n)", "n log n", (257, 1031, 4099), "Vector", "noise n", "ifft (x, x)"),
    ("of any length n, in O(n log n)", "n log n", (512, 2048, 8192), "Vector", "noise n", "circularConvolve x x"),
    ("of any length n, in O(n log n)", "n log n", (512, 2048, 8192), "Vector", "noise n", "grad (\\v -> sum (fst (fft (v, v)))) x"),
]


def steps(cotan, folder, sizes, prepared, value, expression):
    """The steps of the expression at each size, without those of its arguments."""
    counts = []
    path = os.path.join(folder, "program.cot")
    for n in sizes:
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{IMPORTS}n :: Int\nn = {n}\n\nx :: {prepared}\nx = {value}\n\nbefore = case x of y -> ()\n\nmain = {expression}\n")
        row = []
        for name in ("before", "main"):
            done = subprocess.run([cotan, "run", path, name, "--count", "--json"], capture_output=True, timeout=300, check=False)
            if done.returncode != 0:
                raise RuntimeError(done.stderr.decode())
            row.append(json.loads(done.stdout)["steps"])
        counts.append(row[1] - row[0])
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("--all", action="store_true", help="print every row")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "docs", "library.md"), encoding="utf-8") as file:
        page = re.sub(r"\s+", " ", file.read())
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for words, cost, sizes, prepared, value, expression in ROWS:
            if options.words and not any(word in expression or word in words for word in options.words):
                continue
            try:
                counts = steps(os.path.abspath(options.cotan), folder, sizes, prepared, value, expression)
            except RuntimeError as error:
                failed += 1
                print(f"FAIL {expression}: {error}")
                continue
            units = [count / COSTS[cost](n) for n, count in zip(sizes, counts)]
            text = f"{expression}: O({cost}) at {sizes}: {counts} steps, {[f'{u:.2f}' for u in units]} for each unit"
            if words not in page:
                failed += 1
                print(f"FAIL docs/library.md does not say: {words}")
            elif units[-1] > GROWTH * units[-2] or counts[-1] < 0:
                failed += 1
                print(f"FAIL {text}", flush=True)
            else:
                passed += 1
                if options.all:
                    print(text, flush=True)
    print(f"costs of the library: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
