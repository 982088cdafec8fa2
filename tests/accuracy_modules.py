#!/usr/bin/env python3
"""Values and gradients of the numerical modules (FFT, Interpolate, Quadrature, Ode, Optimise, Iterative, Sparse) at random arguments, against definitions and
closed forms at 50 digits by mpmath; gradients against its differences.

A case is a function of an array p to an array. Its error is relative to the largest number of the result, and to what rounding p changes; that of the gradient of a weighted
sum of the results to the largest partial derivative. Both have a bound: units of 2^-52 where an algorithm ends, tolerances where one converges.

    tests/accuracy_modules.py [--count N] [--methods M,…] [--engine E] [--golden] [WORD…]
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import mpmath as mp
except ImportError:
    sys.exit("tests/accuracy_modules.py needs the Python package mpmath")
import accuracy_modules_references as ref

ROOT = pathlib.Path(__file__).resolve().parent.parent
EPS = 2.0 ** -52
HEAD = """import Decompositions (solveTridiagonal)
import FFT
import Interpolate
import Iterative
import LinearAlgebra
import Ode
import Optimise
import Quadrature
import Sparse

part :: Int -> Int -> Array a -> Array a
part from count xs = slice from count xs
"""


def gauss(r, n, scale=1):
    return [r.gauss(0, 1) * scale for _ in range(n)]


def ascending(r, n):
    x, xs = r.uniform(-2, 2), []
    for _ in range(n):
        xs.append(x)
        x += 10 ** r.uniform(-1, 0.5)
    return xs


def points(extra=0, least=2, most=8):
    """Abscissas, ordinates, extra numbers, and a place around the abscissas."""
    def arguments(r):
        n = r.randint(least, most)
        xs = ascending(r, n)
        return [*xs, *gauss(r, n), *gauss(r, extra), r.uniform(xs[0] - 1, xs[-1] + 1)]
    return arguments


def complexes(r):
    return gauss(r, 2 * r.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13]))


def spline_knots(r):
    """Degree 3 on 3 to 6 pieces: knots, coefficients, a place inside."""
    n = r.randint(6, 9)
    inner = sorted(r.uniform(0.05, 0.95) for _ in range(n - 4))
    return [*([0.0] * 4), *inner, *([1.0] * 4), *gauss(r, n), r.uniform(0, 1)]


def oscillator(r):
    """A 2 by 2 matrix, a state, two times."""
    return [*gauss(r, 4), *gauss(r, 2), r.uniform(-1, 1), r.uniform(-1, 2)]


def definite(r, n=3):
    a = [gauss(r, n) for _ in range(n)]
    return [sum(a[k][i] * a[k][j] for k in range(n)) + (n if i == j else 0) for i in range(n) for j in range(n)]


CURVE = "(let c = {} in [|curveAt c x, curveSlope c x, curveIntegral c x|])"
HALVES = "where { n = length p `div` 2; x = (part 0 n p, part n n p) }"
KNOTS = "where { n = (length p - 1 - 4) `div` 2; ks = part 0 (n + 4) p; cs = part (n + 4) n p; x = p ! (length p - 1) }"


def curve_where(extra):
    return f"where {{ n = (length p - 1 - {extra}) `div` 2; xs = part 0 n p; ys = part n n p; e = part (2 * n) {extra} p; x = p ! (length p - 1) }}"


MATRIX = "where { a = reshape 3 3 (part 0 9 p) :: Matrix; b = part 9 3 p }"
# Name, the function's body in Cotan with its `where`, reference, arguments, bounds of the errors of value and gradient in units of 2^-52.
CASES = [
    ("fft", f"append (fst (fft x)) (snd (fft x)) {HALVES}", lambda p: ref.dft(p, -1), complexes, 20, 20),
    ("ifft", f"append (fst (ifft x)) (snd (ifft x)) {HALVES}", lambda p: ref.dft(p, 1), complexes, 20, 20),
    ("realFft", "append (fst x) (snd x) where x = realFft p", ref.real_dft, lambda r: gauss(r, r.randint(1, 14)), 20, 20),
    ("realIfft", "realIfft n (part 0 k p, part k k p) where { k = length p `div` 2; n = 2 * k - 1 }", ref.real_inverse, lambda r: gauss(r, 2 * r.randint(1, 7)), 20, 20),
    ("circularConvolve", f"uncurry circularConvolve x {HALVES}", ref.convolution, lambda r: gauss(r, 2 * r.randint(1, 9)), 30, 30),
    ("cubicSpline", CURVE.format("cubicSpline xs ys") + curve_where(0), lambda p: ref.spline(p, None), points(), 20, 200),
    ("clampedSpline", CURVE.format("clampedSpline (e ! 0, e ! 1) xs ys") + curve_where(2), lambda p: ref.spline(p[:-3] + p[-1:], p[-3:-1]), points(2), 20, 200),
    ("monotoneCubic", CURVE.format("monotoneCubic xs ys") + curve_where(0), ref.pchip, points(), 20, 200),
    ("hermite", CURVE.format("hermite xs (part 0 n ys) (map sin ys)") + curve_where(0), lambda p: ref.hermite(p, mp.sin), points(), 20, 200),
    ("bspline", f"[|bspline 3 ks cs x|] {KNOTS}", ref.cox_de_boor, spline_knots, 20, 100),
    ("bsplineBasis", f"bsplineBasis 3 ks x {KNOTS}", ref.basis, spline_knots, 20, 100),
    ("fitBspline", "fitBspline 2 (uniformKnots 2 4 (0, 1)) (part 0 n p) (part n n p) where n = length p `div` 2", ref.fitted, lambda r: sorted(r.uniform(0, 1) for _ in range(9)) + gauss(r, 9), 20, 200),
    ("integrate: exponential", "[|integrate (\\x -> exp (-(p ! 0) * x)) (p ! 1, p ! 2)|]", lambda p: [(mp.exp(-p[0] * p[1]) - mp.exp(-p[0] * p[2])) / p[0]], lambda r: gauss(r, 3, 2), 20, 100),
    ("integrate: normal", "[|integrate (\\x -> exp (-(p ! 0) ^ 2 * (x - p ! 1) ^ 2)) (-1 / 0, 1 / 0)|]", lambda p: [mp.sqrt(mp.pi) / abs(p[0])], lambda r: [r.uniform(0.5, 2), r.gauss(0, 1)], 20, 100),
    ("integrate: half line", "[|integrate (\\x -> exp (-(p ! 0) * x)) (p ! 1, 1 / 0), integrate (\\x -> exp (p ! 0 * x)) (-1 / 0, p ! 1)|]", lambda p: [mp.exp(-p[0] * p[1]) / p[0], mp.exp(p[0] * p[1]) / p[0]], lambda r: [10 ** r.uniform(-1, 1), r.gauss(0, 1)], 20, 100),
    ("integrate: power", "[|integrate (\\x -> x ** (p ! 0)) (0, p ! 1)|]", lambda p: [p[1] ** (p[0] + 1) / (p[0] + 1)], lambda r: [r.uniform(-0.5, 3), r.uniform(0.1, 3)], 1e5, 1e7),
    ("integrate: logarithm", "[|integrate (\\x -> log (p ! 0 * x)) (0, 1)|]", lambda p: [mp.log(p[0]) - 1], lambda r: [r.uniform(0.1, 3)], 1e4, 100),
    ("integrate: waves", "[|integrate (\\x -> sin (p ! 0 * x)) (p ! 1, p ! 2)|]", lambda p: [(mp.cos(p[0] * p[1]) - mp.cos(p[0] * p[2])) / p[0]], lambda r: [r.uniform(1, 60), r.uniform(-1, 0), r.uniform(0, 2)], 20, 100),
    ("ode: linear", "ode 1.0e-11 1.0e-12 (\\_ y -> matVec (reshape 2 2 (part 0 4 p)) y) (p ! 6, p ! 7) (part 4 2 p)", ref.linear_flow, oscillator, 1e6, 1e7),
    ("ode: nonautonomous", "[|ode 1.0e-11 1.0e-12 (\\t y -> p ! 0 * cos t * y) (p ! 1, p ! 2) (p ! 3)|]", lambda p: [p[3] * mp.exp(p[0] * (mp.sin(p[2]) - mp.sin(p[1])))], lambda r: gauss(r, 4), 1e7, 1e8),
    ("ode: logistic", "[|ode 1.0e-11 1.0e-12 (\\_ y -> p ! 0 * y * (1 - y)) (0, p ! 1) (p ! 2)|]", lambda p: [1 / (1 + (1 / p[2] - 1) * mp.exp(-p[0] * p[1]))], lambda r: [r.uniform(0.5, 3), r.uniform(-1, 3), r.uniform(0.1, 0.9)], 1e7, 1e8),
    ("odeCheckpointed", "odeCheckpointed 3 1.0e-11 1.0e-12 (\\_ y -> matVec (reshape 2 2 (part 0 4 p)) y) (p ! 6, p ! 7) (part 4 2 p)", ref.linear_flow, oscillator, 1e6, 1e7),
    ("odeAdjoint", "odeAdjoint 1.0e-11 1.0e-12 (\\a _ y -> matVec (reshape 2 2 a) y) (part 0 4 p) (p ! 6, p ! 7) (part 4 2 p)", ref.linear_flow, oscillator, 1e6, 1e7),
    ("odeAt", "fromList (odeAt 1.0e-11 1.0e-12 (\\_ y -> p ! 0 * y) (0, 2) (p ! 1) [0, 0.3, p ! 2, 1.9, 2])", lambda p: [p[1] * mp.exp(p[0] * t) for t in (0, mp.mpf(0.3), p[2], mp.mpf(1.9), 2)], lambda r: [r.gauss(0, 1), r.gauss(0, 1), r.uniform(0, 2)], 1e8, 1e10),
    ("odeEvent", "case odeEvent 1.0e-11 1.0e-12 (\\_ (_, v) -> (v, -(p ! 0))) (\\_ (y, _) -> y) (0, 10) (p ! 1, p ! 2) of { Just (t, (y, v)) -> [|t, v|]; Nothing -> [||] }", ref.fall, lambda r: [r.uniform(5, 15), r.uniform(1, 9), r.gauss(0, 3)], 100, 1000),
    ("stiffOde", "[|stiffOde 1.0e-7 1.0e-9 (\\t y -> -(p ! 0) * (y - cos t)) (0, 1) (p ! 1)|]", ref.relaxation, lambda r: [10 ** r.uniform(0, 4), r.gauss(0, 1)], 1e11, 3e12),
    ("minimise", "minimise (\\v -> (v ! 0 - p ! 0) ^ 2 + p ! 1 * (v ! 1 - v ! 0 ^ 2) ^ 2) [|0, 0|]", lambda p: [p[0], p[0] ** 2], lambda r: [r.gauss(0, 1), r.uniform(1, 50)], 1e9, 1e10),
    ("lbfgs", "foundAt (lbfgs 5 500 1.0e-9 (\\v -> sum (zipWith (\\x a -> cosh (x - a)) v p)) (map (const 0) p))", lambda p: list(p), lambda r: gauss(r, 5), 1e8, 1e8),
    ("trustRegion", "foundAt (trustRegion 200 1.0e-9 (\\v -> (v ! 0 - p ! 0) ^ 2 + p ! 1 * (v ! 1 - v ! 0 ^ 2) ^ 2) [|0, 0|])", lambda p: [p[0], p[0] ** 2], lambda r: [r.gauss(0, 1), r.uniform(1, 50)], 1e9, 1e10),
    ("newtonMinimum", "newtonMinimum 60 (\\v -> exp (v ! 0) - p ! 0 * v ! 0 + (v ! 1 - p ! 1 * v ! 0) ^ 2) [|0, 0|]", lambda p: [mp.log(p[0]), p[1] * mp.log(p[0])], lambda r: [r.uniform(0.5, 5), r.gauss(0, 1)], 100, 1000),
    ("minimiseWithin", "minimiseWithin ([|p ! 1, -9|], [|9, 9|]) (\\v -> (v ! 0 - p ! 0) ^ 2 + (v ! 1 - v ! 0) ^ 2) [|0, 0|]", lambda p: [max(p[0], p[1])] * 2, lambda r: gauss(r, 2), 1e9, 1e9),
    ("nonlinearLeastSquares", "nonlinearLeastSquares (\\v -> zipWith (\\t y -> v ! 0 * exp (v ! 1 * t) - y) [|0, 0.5, 1, 1.5, 2|] p) [|1, -0.5|]", ref.decay_fit, lambda r: [3 * math.exp(-0.7 * t) + 0.1 * r.gauss(0, 1) for t in (0, 0.5, 1, 1.5, 2)], 1e9, 1e9),
    ("gaussNewton", "foundAt (gaussNewton 100 1.0e-9 (\\v -> zipWith (\\t y -> v ! 0 * exp (v ! 1 * t) - y) [|0, 0.5, 1, 1.5, 2|] p) [|2, -0.5|])", ref.decay_fit, lambda r: [3 * math.exp(-0.7 * t) + 0.1 * r.gauss(0, 1) for t in (0, 0.5, 1, 1.5, 2)], 1e9, 1e9),
    ("root", "[|root (\\x -> x ^ 3 + p ! 0 * x - p ! 1) (-20, 20)|]", ref.cubic_root, lambda r: [r.uniform(0.5, 3), r.gauss(0, 5)], 100, 1000),
    ("bisect", "[|bisect 1.0e-15 (\\x -> x ^ 3 + p ! 0 * x - p ! 1) (-20, 20)|]", ref.cubic_root, lambda r: [r.uniform(0.5, 3), r.gauss(0, 5)], 100, 1000),
    ("newtonRoot", "[|newtonRoot 60 (\\x -> x ^ 3 + p ! 0 * x - p ! 1) 1|]", ref.cubic_root, lambda r: [r.uniform(0.5, 3), r.gauss(0, 5)], 100, 1000),
    ("goldenSection", "[|goldenSection 1.0e-9 (\\x -> cosh (x - p ! 0)) (-5, 5)|]", lambda p: [p[0]], lambda r: gauss(r, 1), 1e9, 1e9),
    ("newtonSystem", "newtonSystem 60 (\\v -> [|v ! 0 ^ 3 + v ! 1 - p ! 0, v ! 1 ^ 3 - v ! 0 - p ! 1|]) [|p ! 0, p ! 1|]", ref.system, lambda r: gauss(r, 2), 100, 1000),
    ("fixedPoint", "fixedPoint (\\v -> [|p ! 0 * cos (v ! 0) + p ! 1|]) [|0|]", ref.kepler, lambda r: [r.uniform(-0.8, 0.8), r.gauss(0, 1)], 1000, 1e4),
    ("customRoot", "customRoot (\\v -> map (\\x -> x * x - p ! 0) v) [|sqrt (p ! 0)|]", lambda p: [mp.sqrt(p[0])], lambda r: [r.uniform(0.1, 9)], 10, 10),
    ("adam", "adam 20 (p ! 0) (\\v -> sum (map (\\x -> x ^ 4 + x * x) v)) (part 1 2 p)", ref.adam, lambda r: [r.uniform(0.01, 0.2), *gauss(r, 2)], 100, 1000),
    ("momentum", "momentum 9 (p ! 0) (p ! 1) (\\v -> sum (map (\\x -> x ^ 4 + x * x) v)) (part 2 2 p)", ref.momentum, lambda r: [r.uniform(0.001, 0.02), r.uniform(0.1, 0.9), *gauss(r, 2)], 20, 100),
    ("conjugateGradient", f"conjugateGradient 1.0e-14 (matVec (scaleMatrix 0.5 (addMatrix a (transpose a)))) b {MATRIX}", lambda p: ref.solved(p, True), lambda r: definite(r) + gauss(r, 3), 100, 100),
    ("gmres", f"gmres 3 1.0e-14 (matVec a) b {MATRIX}", lambda p: ref.solved(p, False), lambda r: definite(r) + gauss(r, 3), 100, 100),
    ("sparseMatVec", f"append (sparseMatVec s b) (sparseVecMat b s) where {{ s = sparse 3 4 [(0, 1, p ! 0), (2, 3, p ! 1), (2, 0, p ! 2), (0, 1, p ! 3)]; b = part 4 4 p }}".replace("sparseVecMat b s", "sparseVecMat (part 5 3 p) s"), ref.sparse_products, lambda r: gauss(r, 8), 10, 10),
    ("sparseMatMul", "concat (dense (sparseAdd (sparseMatMul s (sparseTranspose s)) (withStored (part 3 3 p) (sparse 3 3 [(0, 0, 1), (1, 2, 1), (2, 1, 1)])))) where s = sparse 3 4 [(0, 1, p ! 0), (2, 3, p ! 1), (2, 1, p ! 2)]", ref.sparse_square, lambda r: gauss(r, 6), 10, 10),
    ("sparseCholesky", "snoc (sparseCholeskySolve c (part 4 3 p)) (sparseLogDeterminant c) where c = sparseCholesky (sparse 3 3 [(0, 0, p ! 0), (1, 1, p ! 1), (2, 2, p ! 2), (2, 0, p ! 3)])", ref.sparse_solution, lambda r: [r.uniform(2, 9), r.uniform(2, 9), r.uniform(2, 9), r.gauss(0, 1), *gauss(r, 3)], 20, 100),
    ("solveTridiagonal", "solveTridiagonal (part 0 4 p) (part 4 4 p) (part 8 4 p) (part 12 4 p)", ref.tridiagonal, lambda r: gauss(r, 4) + [r.uniform(3, 9) for _ in range(4)] + gauss(r, 8), 20, 100),
]


def weight(k):
    return 1 / mp.mpf(k + 1)


def expected(reference, p):
    """Value, gradient of the weighted sum, and the units of error of both."""
    q = [mp.mpf(x) for x in p]
    v = reference(q)
    columns = []
    for i, x in enumerate(q):
        h = (abs(x) + mp.mpf(10) ** -5) * mp.mpf(10) ** -20
        up, down = (reference(q[:i] + [x + e] + q[i + 1:]) for e in (h, -h))
        columns.append([(a - b) / (2 * h) for a, b in zip(up, down)])
    g = [sum((weight(k) * d for k, d in enumerate(c)), mp.mpf(0)) for c in columns]
    moved = max((sum(abs(c[k] * x) for c, x in zip(columns, q)) for k in range(len(v))), default=0)
    return v, g, EPS * (max(map(abs, v), default=0) + moved), EPS * max([*map(abs, g), mp.mpf(10) ** -12])


def number(x):
    return [number(y) for y in x] if isinstance(x, list) else float(x.replace("Infinity", "inf")) if isinstance(x, str) else float(x)


def evaluate(options, body, ps, method):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "values.cot"
        file.write_text(HEAD + f"\nvalue :: Array Double -> Array Double\nvalue p = {body}\n"
                        "main :: [Array Double] -> [(Array Double, Array Double)]\n"
                        "main = map (\\p -> (value p, grad (\\q -> let v = value q in sum (build (length v) (\\k -> v ! k / fromIntegral (k + 1)))) p))\n")
        (pathlib.Path(folder) / "points.json").write_text(json.dumps([[list(p) for p in ps]]))
        run = subprocess.run([options.command, "run", str(file), "--args", f"@{folder}/points.json", "--out", f"{folder}/values.json", *method], capture_output=True, text=True)
        if run.returncode != 0:
            return run.stderr
        return number(json.loads((pathlib.Path(folder) / "values.json").read_text())["value"])


def worst(found, right, unit):
    if len(found) != len(right):
        return math.inf
    return max((float(abs(mp.mpf(f) - v) / unit) if math.isfinite(f) else math.inf for f, v in zip(found, right)), default=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--command", default=str(ROOT / "build" / "cotan"))
    parser.add_argument("--methods", default="")
    parser.add_argument("--engine", default="")
    parser.add_argument("--golden", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    mp.mp.dps = 50
    failures, rows = 0, []
    for name, body, reference, arguments, value_bound, slope_bound in CASES:
        if options.words and not any(word in name for word in options.words):
            continue
        r = random.Random(name)
        ps = [arguments(r) for _ in range(3 if options.golden else options.count)]
        right = [expected(reference, p) for p in ps]
        rows.append((name, body, value_bound, slope_bound, list(zip(ps, right))))
        for method in options.methods.split(",") if not options.golden else []:
            found = evaluate(options, body, ps, (["--method", method] if method else []) + (["--engine", options.engine] if options.engine else []))
            if isinstance(found, str):
                print(f"FAIL {name} {method}: {found[:300]}", flush=True)
                failures += 1
                continue
            value, at_value = max((worst(f[0], v, unit), p) for f, p, (v, _, unit, _) in zip(found, ps, right))
            slope, at_slope = max((worst(f[1], g, unit), p) for f, p, (_, g, _, unit) in zip(found, ps, right))
            wrong = value > value_bound or slope > slope_bound
            failures += wrong
            print(f"{'FAIL' if wrong else '    '} {value:12.3g} {slope:12.3g}  {name} {method}" + (f"  at {at_value if value > value_bound else at_slope}" if wrong else ""), flush=True)
    if options.golden:
        write_golden(rows)
    sys.exit(failures != 0)


def digits(x, n=20):
    return mp.nstr(mp.mpf(x), n).replace("e+", "e")


# The golden programs by the first case of each: as one, they would be too large for native code.
PROGRAMS = {"fft": "curves", "integrate: exponential": "integrals", "ode: linear": "ode", "minimise": "optimise", "newtonMinimum": "least_squares", "root": "roots", "conjugateGradient": "sparse"}


def write_golden(rows):
    programs = {}
    for row in rows:
        program = PROGRAMS.get(row[0]) or program
        programs.setdefault(program, []).append(row)
    for program, cases in programs.items():
        write_program(f"accuracy_{program}.cot", cases)


def write_program(file, rows):
    text, names = [], []
    for k, (name, body, value_bound, slope_bound, found) in enumerate(rows):
        text.append(f"value{k} :: Array Double -> Array Double\nvalue{k} p = {body}\n")
        table = "\n      , ".join(
            f"([|{', '.join(repr(x) for x in p)}|], [|{', '.join(digits(x) for x in v)}|], {digits(value_bound * u, 4)}, [|{', '.join(digits(x) for x in g)}|], {digits(slope_bound * w, 4)})"
            for p, (v, g, u, w) in found)
        names.append(f'Case "{name}" value{k}\n      [ {table} ]')
    (ROOT / "tests" / "golden" / "library" / file).write_text(
        "-- Numerical modules at random arguments: values against definitions and closed forms of 50 digits, and gradients against their differences. Written by\n"
        "-- `tests/accuracy_modules.py --golden`; each point has the value, its bound, the gradient of a weighted sum, its bound. A test prints what is outside.\n"
        "-- $ cotan run FILE\n" + HEAD +
        "\ndata Case = Case String (Array Double -> Array Double) [(Array Double, Array Double, Double, Array Double, Double)]\n\n"
        "main = [(name, p, f p, v, slopes f p, g) | Case name f points <- cases, (p, v, e, g, d) <- points, not (near e (f p) v && near d (slopes f p) g)]\n"
        "  where\n"
        "    near bound xs ys = length xs == length ys && all (<= bound) (map abs (zipWith (-) xs ys))\n"
        "    slopes f p = grad (\\q -> let v = f q in sum (build (length v) (\\k -> v ! k / fromIntegral (k + 1)))) p\n\n"
        + "\n".join(text) + "\ncases :: [Case]\ncases =\n  [ " + "\n  , ".join(names) + "\n  ]\n")


if __name__ == "__main__":
    main()
