#!/usr/bin/env python3
"""bench/native.py [--quick] [--method M] [--jax PYTHON] [--threads N] [NAME…]: times compiled gradients, the functions
themselves, hand-written derivatives in C, and JAX; or the same on several threads and on one.

Cotan compiles each program of bench/native; bench/native.c calls the libraries from the cache, in one process with the C of bench/hand.
bench/README.md explains the table.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

from ladders import duration, figures

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.environ.get("COTAN_BUILD", os.path.join(ROOT, "build"))
COTAN = os.path.join(BUILD, "cotan")

# name, what, size, other size; the same, quick; arguments with which it is compiled
SUBJECTS = [
    ("scalar", "10⁶ multiplications", (10**6, 0), (10**4, 0), [[[1, 2]]]),
    ("dot", "dot product of 10⁶", (10**6, 0), (10**4, 0), [[1, 2], [3, 4]]),
    ("matvec", "matrix · vector, 1000²", (1000, 0), (100, 0), [[[1, 2], [3, 4]], [5, 6]]),
    ("rotations", "10⁵ rotations", (10**5, 0), (10**3, 0), [[[{"Vec3": [1, 2, 3]}, {"Quaternion": [1, 2, 3, 4]}]]]),
    ("sines", "Σ sin(x)·x, 10⁶", (10**6, 0), (10**4, 0), [[1, 2]]),
    ("logsumexp", "log Σ exp, 10⁶", (10**6, 0), (10**4, 0), [[1, 2]]),
    ("mixture", "mixture, d 10, K 25, N 1000", (10, 1000), (4, 40),
     [[1, 2], [[1, 2], [3, 4]], [[0.1, 0.2], [0.3, 0.4]], [[0.5], [0.7]], [[1, 0], [2, 2], [3, 1]]]),
    ("mixture", "mixture, d 64, K 25, N 1000", (64, 1000), None, None),
    ("bundle", "bundle adjustment, 30,000", (30000, 0), (304, 0),
     [[[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.01, 0.02, 1.1, 1.2, 1.3, 1.5]], [[0.1, 0.2]]]),
    ("lstm", "LSTM, 16 units, 1000 steps", (16, 1000), (8, 20),
     [[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]], [0.1, 0.2, 0.3, 0.4], [[1], [2]], [[1], [2]]]),
    ("minors", "determinant by minors, 8", (8, 0), (5, 0), [[[1, 2], [3, 4]]]),
    ("kmeans", "k-means, 10⁴ points, d 10, and H", (10, 10**4), (4, 200), [[[1, 2], [3, 5]], [[1, 1], [2, 2]]]),
    ("perceptron", "perceptron 784-128-10, 128", (784, 128), (20, 8),
     [[[0.1, 0.2]], [0.3], [[0.1], [0.2]], [0.1, 0.2], [[1, 2], [3, 4]], [0, 1]]),
]
NOT_IN_JAX = ["minors"]
TOLERANCE, DIFFERENCES = 1e-9, 1e-5


def compile_driver(folder):
    """The driver and the hand-written derivatives, with the part of rt that Cotan does not compile again, and OpenBLAS if it is installed."""
    sources = [os.path.join(HERE, "native.c")] + sorted(
        os.path.join(HERE, "hand", name) for name in os.listdir(os.path.join(HERE, "hand")) if name.endswith(".c"))
    blas = subprocess.run(["pkg-config", "--cflags", "--libs", "openblas"], capture_output=True, text=True)
    target = os.path.join(folder, "native")
    command = [*os.environ.get("CC", "cc").split(), "-std=gnu17", "-O3", "-march=native", "-fno-math-errno", "-w", "-I" + os.path.join(ROOT, "src"),
               "-I" + HERE, *sources, os.path.join(BUILD, "libcotan.a"), "-o", target, "-lmvec", "-lm", "-ldl", "-pthread"]
    if blas.returncode == 0:
        command += ["-DHAND_BLAS", *blas.stdout.split()]
    if subprocess.run(command).returncode != 0:
        sys.exit("bench/native.c does not compile")
    return target


def library(folder, name, function, arguments, method):
    """What Cotan compiles of a function: a copy of the library in a cache of its own."""
    cache = tempfile.mkdtemp(dir=folder)
    environment = dict(os.environ, XDG_CACHE_HOME=cache)
    words = [COTAN, "run", os.path.join(HERE, "native", name + ".cot"), function, "--args", json.dumps(arguments),
             "--engine", "native", *(["--method", method] if method else [])]
    run = subprocess.run(words, env=environment, capture_output=True, text=True)
    made = [os.path.join(top, file) for top, _, files in os.walk(cache) for file in files if file.endswith(".so")]
    if run.returncode != 0 or not made:
        sys.exit(f"{' '.join(words)}: {run.stderr}")
    target = os.path.join(folder, f"{name}_{function}.so")
    shutil.copy(made[0], target)
    return target


def measure(driver, name, size, libraries, jax, threads):
    with tempfile.TemporaryDirectory() as point:
        row, error = line_of([driver, str(threads), name, *map(str, size), *libraries, *([point] if jax else [])])
        if row is not None and jax and name not in NOT_IN_JAX:
            beside, error = line_of([jax, os.path.join(HERE, "jax_peer.py"), name, point])
            row = beside and {**row, **beside}
    return row, error


def line_of(command):
    run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
    if run.returncode != 0:
        return None, run.stderr.strip() or f"ended by signal {-run.returncode}"
    return json.loads(run.stdout), None


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def disagreement(row):
    """What does not agree with what; None when all does."""
    for key, bound in [("scalar_differs", TOLERANCE), ("lanes_differ", TOLERANCE), ("jax_differs", TOLERANCE), ("differences", DIFFERENCES),
                       ("threads_differ", 0)]:
        if key in row and not row[key] <= bound:
            return f"{key} by {row[key]}"
    return None


def print_row(what, row, others):
    times = "".join(f"{duration(row[key]) if key in row else '–':>9}" for key in ["primal", "derivative", *others])
    ratios = "".join(f"{figures(row['derivative'] / row[key]) if key in row else '–':>9}" for key in ["primal", *others])
    print(f"{what:34}{times}  {ratios}", flush=True)


def print_heads(quick, method, others):
    heads = [("C,", "scalar"), ("C,", "vector"), ("the", "machine"), ("", "JAX")][:len(others)]
    print(f"\ncompiled derivatives ({method or 'the best engine'}), one thread, and the function and hand-written C{', small' if quick else ''}\n")
    for times, ratios in [("deriva-", "/ the"), ("tive", "function")]:
        second = times == "tive"
        print(f"{'':34}{'function' if second else '':>9}{times:>9}" + "".join(f"{head[second]:>9}" for head in heads)
              + f"  {ratios:>9}" + "".join(f"{head[1] if second else '/ ' + (head[0] or head[1]):>9}" for head in heads))


def print_shared_heads(quick, threads):
    print(f"\ncompiled functions and derivatives, by the clock, with one thread and with {threads}{', small' if quick else ''}\n")
    print(f"{'':34}{'function':>9}{threads:>9}{'speed-up':>9}  {'deriv.':>9}{threads:>9}{'speed-up':>9}")


def print_shared_row(what, row):
    texts = [f"{duration(row[one]):>9}{duration(row['shared_' + one]):>9}{figures(row[one] / row['shared_' + one]):>9}"
             for one in ("primal", "derivative")]
    print(f"{what:34}{'  '.join(texts)}", flush=True)


def print_means(ratios):
    means = [f"{figures(mean([r[key] for r in ratios if key in r]))} of {what}"
             for key, what in [("primal", "the function"), ("scalar", "scalar C"), ("limit", "what the machine allows"), ("jax", "JAX")] if any(key in r for r in ratios)]
    print(f"\ngeometric means: {', '.join(means)}")


def main(quick=False, method="", jax=None, threads=1, only=()):
    wrong, others = [], ["scalar", "lanes", "limit", *(["jax"] if jax else [])]
    if threads > 1:
        print_shared_heads(quick, threads)
    else:
        print_heads(quick, method, others)
    with tempfile.TemporaryDirectory() as folder:
        driver, arguments, ratios = compile_driver(folder), {}, []
        for name, what, size, small, args in SUBJECTS:
            arguments.setdefault(name, args)
            if only and name not in only or quick and small is None:
                continue
            libraries = [library(folder, name, function, arguments[name], method) for function in ["primal", "derivative"]]
            row, error = measure(driver, name, small if quick else size, libraries, jax, threads)
            if row is None:
                print(f"{what:34} {error}", flush=True)
                wrong.append(f"{name}: {error}")
                continue
            if threads > 1:
                print_shared_row(what, row)
            else:
                print_row(what, row, others)
            ratios.append({key: row["derivative"] / row[key] for key in ["primal", *others] if key in row})
            if disagreement(row):
                wrong.append(f"{name}: {disagreement(row)}")
    if ratios and threads == 1:
        print_means(ratios)
    for line in wrong:
        print("WRONG " + line)
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--method", default="", help="of the derivatives")
    parser.add_argument("--jax", metavar="PYTHON", help="a Python that has JAX, to be set beside it")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="measure N threads and one, instead of hand-written C")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.jax and options.threads > 1:
        parser.error("--jax is for one thread")
    sys.exit(1 if main(options.quick, options.method, options.jax, options.threads, options.names) else 0)
