#!/usr/bin/env python3
"""Derivatives at the edges, by every method: 0, -0, infinities, NaN, branches not taken.

    tests/edges.py [--cotan PATH] [--methods a,b] [--asked a,b] [--engine native] [--exact] [--verbose] [WORD…]

Each of the functions below uses each of its variables once, so that a partial derivative is one product, and no method may
group sums and products in another way than the others (docs/methods.md). Their gradients and tangents at every pair of edge
values must be the same by every method of `cotan methods`, NaN for NaN. The evaluator's `forward` is what the others are held
against. Second derivatives are asked of those only in whose first derivatives a number is used once. By native code that is
not exact a 0 may stand for NaN.
"""
import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile

import corpus
import run as golden

POINTS = ["0", "-0.0", "1", "-1", "2.5", "1 / 0", "-1 / 0", "0 / 0"]
UNARY = {  # by name, with a hole for the argument
    "sqrt": "sqrt ({})", "log": "log ({})", "recip": "recip ({})", "abs": "abs ({})", "negate": "negate ({})",
    "exp": "exp ({})", "cbrt": "cbrt ({})", "relu": "max 0 ({})", "cap": "min ({}) 0", "zero": "0 * ({})",
    "minus0": "({}) * (-0.0)", "pow0": "({}) ** 0", "half": "({}) ** 0.5", "base0": "0 ** ({})", "square": "({}) ** 2",
    "branch": "(if 0 < ({0}) then ({0}) else 3)", "asin": "asin ({})", "atanh": "atanh ({})", "log1p": "log1p ({})",
}
BINARY = {
    "mul": "({}) * ({})", "div": "({}) / ({})", "add": "({}) + ({})", "sub": "({}) - ({})", "max": "max ({}) ({})",
    "min": "min ({}) ({})", "pow": "({}) ** ({})", "atan2": "atan2 ({}) ({})", "hypot": "hypot ({}) ({})",
    "maximum": "maximum [| {}, 0, {} |]", "minimum": "minimum [| {}, {}, 1 |]", "maxlist": "maximum [{}, {}, -1]",
    "last": "maximum [| 0, {}, {} |]", "lastlist": "minimum [2, {}, {}]", "just": "maximum (Just (max ({}) ({})))",
    "fmod": "fmod ({}) ({})", "product": "product [| {}, 2, {} |]", "sum": "sum [| {}, 2, {} |]",
}


NESTED_UNARY = ["sqrt", "log", "exp", "abs", "negate", "relu", "cap", "branch"]
NESTED_BINARY = ["max", "min", "maximum", "minimum", "maxlist", "last"]


def nested(name):
    """Whether the derivative of the function uses a number once, so that its derivative is one product."""
    parts = [part for part in name.split() if part != "_"]
    return all(part in NESTED_UNARY + NESTED_BINARY for part in parts)


def functions():
    """Names and bodies, over x and y."""
    for name, of in BINARY.items():
        yield name, of.format("x", "y")
        for inner, g in UNARY.items():
            yield f"{name} {inner}", of.format(g.format("x"), "y")
            yield f"{name} _ {inner}", of.format("x", g.format("y"))
            yield f"{inner} {name}", g.format(of.format("x", "y")) if inner != "branch" else \
                f"let z = {of.format('x', 'y')} in if 0 < z then z else 3"
    for (one, f), (two, g) in itertools.product(UNARY.items(), UNARY.items()):
        yield f"{one} {two}", f.format(g.format("x")) if one != "branch" else \
            f"let z = {g.format('x')} in if 0 < z then z else 3"


def program(chosen, what):
    """Each function by itself, and their derivatives at all points as one value."""
    lines = ["points :: [(Double, Double)]",
             f"points = [(x, y) | x <- values, y <- values] where values = [{', '.join(POINTS)}]"]
    rows = []
    for i, (_, body) in enumerate(chosen):
        lines += [f"f{i} :: (Double, Double) -> Double", f"f{i} (x, y) = {body}"]
        rows.append(f"map ({what.format(f=f'f{i}')}) points")
    lines += ["main :: [[(Double, Double)]]", "main = [" + "\n  ,".join(rows) + "]"]
    return "\n".join(lines) + "\n"


ASKED = {
    "grad": "grad {f}",
    "jvp": "(\\p -> (snd (jvp {f} p (1, -0.0)), snd (jvp {f} p (-0.0, 1))))",
    "rate": "(\\p -> grad (\\(x, y) -> snd (jvp {f} (x, y) (1, 1))) p)",
    "hvp": "(\\p -> hvp {f} p (1, 1))",
    "twice": "(\\p -> grad (\\q -> fst (grad {f} q)) p)",
}


def run(options, text, method, native):
    with tempfile.NamedTemporaryFile("w", suffix=".cot") as file:
        file.write(text)
        file.flush()
        command = [options.cotan, "run", file.name, "--method", method, "--json", "--no-warnings"]
        if native:
            command += ["--engine", "native", "--math", "exact" if options.exact else "fast"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    if done.returncode:
        return done.stderr
    answer = json.loads(done.stdout)
    return answer["value"] if isinstance(answer, dict) else answer


def number(x):
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[x] if isinstance(x, str) else float(x)


def agrees(expected, found, loose):
    a, b = number(expected), number(found)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and (math.isnan(b) or (loose and b == 0))
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="functions whose name holds one of them")
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--methods", help="separated by commas; all")
    parser.add_argument("--asked", help="separated by commas; all of " + ", ".join(ASKED))
    parser.add_argument("--engine", choices=["eval", "native"], default="eval")
    parser.add_argument("--exact", action="store_true", help="of native code: --math exact")
    parser.add_argument("--chunk", type=int, default=100, help="functions in a program")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--verbose", action="store_true", help="name every point that differs")
    options = parser.parse_args()
    options.cotan = os.path.abspath(options.cotan)
    methods = options.methods.split(",") if options.methods else corpus.methods(options.cotan)
    asked = options.asked.split(",") if options.asked else list(ASKED)
    chosen = [f for f in functions() if not options.words or any(word in f[0] for word in options.words)]
    loose = options.engine == "native" and not options.exact
    points = list(itertools.product(POINTS, POINTS))
    passed, failed = 0, 0
    for what in asked:
        these = [f for f in chosen if what in ("grad", "jvp") or nested(f[0])]
        for start in range(0, len(these), options.chunk):
            some = these[start:start + options.chunk]
            text = program(some, ASKED[what])
            wanted = run(options, text, "forward", False)
            if isinstance(wanted, str):
                sys.exit(f"tests/edges.py: forward fails\n{wanted}")
            for method in methods:
                if method == "forward" and options.engine == "eval":
                    continue
                found = run(options, text, method, options.engine == "native")
                if isinstance(found, str):
                    failed += 1
                    print(f"FAIL {what} --method {method}\n{found}")
                    continue
                for (name, body), theirs, ours in zip(some, wanted, found):
                    wrong = [(p, a, b) for p, a, b in zip(points, theirs, ours) if not all(agrees(*pair, loose) for pair in zip(a, b))]
                    passed += not wrong
                    failed += bool(wrong)
                    for point, a, b in wrong[:None if options.verbose else 1]:
                        print(f"FAIL {what} --method {method}, {name}: {body} at {point}: {b}, forward says {a}"
                              f" ({len(wrong)} points)")
    print(f"edges: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
