#!/usr/bin/env python3
"""Products of matrices by CBLAS, where COTAN_BLAS asks for it: values and gradients are those of the own kernel but for rounding, cblas_dgemm is
called, small products and exact mathematics do without, and kernels of linear algebra are right at random matrices of every regime. A stand-in is asked,
which adds terms from the last to the first, so that its products have other bits than the own kernel's (the reference BLAS has the same on some machines); then the library that is installed, if one is.
tests/blas.py [--cotan PATH]"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run import ROOT  # noqa: E402

LIBRARIES = ["openblas", "blas", "cblas"]
STAND_IN = """
void cblas_dgemm(int order, int transposed_a, int transposed_b, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb,
                 double beta, double *c, int ldc)
{
    if (order != 101) return; /* CblasRowMajor; 111 is CblasNoTrans */
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = k - 1; l >= 0; l--) sum += (transposed_a == 111 ? a[i * lda + l] : a[l * lda + i]) * (transposed_b == 111 ? b[l * ldb + j] : b[j * ldb + l]);
            c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
        }
}
"""
PROGRAM = """import LinearAlgebra

table :: Int -> Int -> Double -> Matrix
table m n t = build m (\\i -> build n (\\j -> sin (fromIntegral (7 * i + 3 * j) + t)))

-- Both factors depend on the point: its reverse has products with either matrix transposed.
product' :: (Int, Double) -> Double
product' (n, t) = frobenius (matMul (table n (n + 3) t) (matMul (table (n + 3) (n + 5) (2 * t)) (transpose (table (n + 1) (n + 5) t))))

main = product' (4, 0.5)
"""


def provided(folder):
    """The first library that has cblas_dgemm, by the compiler."""
    source = os.path.join(folder, "has.c")
    with open(source, "w", encoding="ascii") as file:
        file.write("void cblas_dgemm(void);\nint main(void) { cblas_dgemm(); return 0; }\n")
    for name in LIBRARIES:
        if subprocess.run(["cc", "-w", source, "-o", source + ".out", "-l" + name], capture_output=True).returncode == 0:
            return name
    return None


def stand_in(folder):
    """The name of a library in the folder with STAND_IN."""
    source = os.path.join(folder, "stand_in.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(STAND_IN)
    subprocess.run(["cc", "-O2", "-w", "-fPIC", "-shared", source, "-o", os.path.join(folder, "libstand_in.so")], check=True)
    return "stand_in"


class Run:
    def __init__(self, cotan, folder):
        self.cotan, self.folder, self.caches = cotan, folder, 0
        self.paths = {name: ":".join(filter(None, [folder, os.environ.get(name)])) for name in ("LIBRARY_PATH", "LD_LIBRARY_PATH")}

    def gradient(self, n, blas, math):
        """Value and derivative, and whether the library that was compiled refers to cblas_dgemm."""
        self.caches += 1
        cache = os.path.join(self.folder, f"cache{self.caches}")
        environment = dict(os.environ, **self.paths, XDG_CACHE_HOME=cache, COTAN_NATIVE="require", COTAN_BLAS=blas)
        done = subprocess.run([self.cotan, "grad", os.path.join(self.folder, "program.cot"), "product'", "--at", f"[{n}, 0.5]", "--engine", "native",
                               "--math", math, "--json"], env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        answer = json.loads(done.stdout)
        files = [os.path.join(cache, "cotan", name) for name in os.listdir(os.path.join(cache, "cotan")) if name.endswith(".so")]
        calls = any(b"cblas_dgemm" in open(name, "rb").read() for name in files)
        return (answer["value"], answer["gradient"][1]), calls

    def kernels(self, name, blas):
        """What library/random_matrices.cot finds wrong in its values or gradients, with products by the library."""
        environment = dict(os.environ, **self.paths, XDG_CACHE_HOME=os.path.join(self.folder, "kernels"), COTAN_NATIVE="require", COTAN_BLAS=blas)
        done = subprocess.run([self.cotan, "run", os.path.join(ROOT, "tests", "golden", "library", "random_matrices.cot"), name, "--engine", "native"],
                              env=environment, capture_output=True, text=True)
        return done.stdout + done.stderr


def is_close(a, b):
    return all(abs(x - y) <= 1e-12 * abs(y) for x, y in zip(a, b))


def check(run, blas):
    for n in (3, 40, 101):
        own, calls = run.gradient(n, "", "fast")
        yield f"without COTAN_BLAS, n = {n}", None if not calls else "it calls CBLAS"
        by_blas, calls = run.gradient(n, blas, "fast")
        yield f"by {blas}, n = {n}", None if calls and is_close(by_blas, own) else f"calls {calls}: {by_blas} for {own}"
        if n == 3:
            yield f"by {blas}, a small product has the same bits", None if by_blas == own else f"{by_blas} for {own}"
        elif blas == "stand_in":
            yield f"a product of {n} rows is that of CBLAS", None if by_blas != own else "it has the bits of the own kernel"
    for name in ("values", "gradients"):
        wrong = run.kernels(name, blas)
        yield f"{name} of random_matrices.cot by {blas}", None if wrong == "[]\n" else wrong
    exact, calls = run.gradient(40, blas, "exact")
    yield "exact mathematics", None if not calls and exact == run.gradient(40, "", "exact")[0] else f"calls {calls}: {exact}"
    try:
        run.gradient(3, "no such; library", "fast")
        yield "a name that is none", "it is taken"
    except AssertionError as error:
        yield "a name that is none", None if "COTAN_BLAS is no name of a library" in str(error) else str(error)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "program.cot"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        for blas in filter(None, [stand_in(folder), provided(folder)]):
            for what, wrong in check(Run(os.path.abspath(options.cotan), folder), blas):
                passed += wrong is None
                failed += wrong is not None
                if wrong is not None:
                    print(f"FAIL {what}: {wrong}")
    print(f"products by cblas: {passed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
