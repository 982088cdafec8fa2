#!/usr/bin/env python3
"""With --math exact native code gives the evaluator's bits: every composition of two functions of primitives.def, and those of two arguments with one that
is a literal, alone and in a loop; run by Cotan, and as `cotan compile` writes it, by gcc, and clang where that is. tests/exact_math.py [--cotan PATH]."""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compilers import works  # noqa: E402
from run import ROOT  # noqa: E402

ROW = re.compile(r'^CT_PRIM\((\w+), "(\w+)", "([A-Z]+):R".*, (EXACT|LIBM), ', re.M)
OPERATORS = {"add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "div": "({} / {})", "pow": "({} ** {})"}
WHOLE = {"floor", "ceiling", "round", "truncate"}  # Ints in Cotan
APART = {"scale", "polygamma"}  # not in programs; takes an Int
LITERALS = ["2", "(-1)", "0.5", "3", "1", "0.3"]
POINTS = [1.7, 5.2500001, -3.3, 1e-9, 41.5] + [k / 7.3 for k in range(-12, 7)]
EXPORTED = {
    "cc": ["-O2", "-ffp-contract=off"],
    "cc, for this processor": ["-O3", "-march=native", "-ffp-contract=off"],
    "clang": ["-O2"],
    "clang, for this processor": ["-O3", "-march=native"],
}
MAIN = r"""#include <stdio.h>
#include "all.h"
int main(void) {
    const double points[] = {POINTS};
    all_run run = {0};
    for (unsigned i = 0; i < sizeof points / sizeof *points; i++) {
        all_array_double values;
        if (all(&run, points[i], &values).code != 0) return 1;
        for (size_t j = 0; j < values.size; j++) printf("%.17g\n", values.data[j]);
    }
    all_close(&run);
    return 0;
}
"""


def terms():
    """What is asked of x."""
    with open(os.path.join(ROOT, "src", "prim", "primitives.def"), encoding="utf-8") as file:
        rows = [row for row in ROW.findall(file.read()) if row[1] not in WHOLE | APART]
    ones = [name for _, name, letters, _ in rows if letters == "R"]
    libm = [name for _, name, letters, bits in rows if letters == "R" and bits == "LIBM"]
    twos = [OPERATORS.get(name, "(" + name + " {} {})") for _, name, letters, bits in rows if letters == "RR" and bits == "LIBM"]
    found = [f"{f} ({g} x)" for f in ones for g in ones if f in libm or g in libm]
    found += [f"{f} {literal}" for f in libm for literal in LITERALS]
    found += [two.format(*pair) for two in twos for literal in LITERALS for pair in [("x", literal), (literal, "x")]]
    found += [two.format(*pair) for two in twos for f in libm for pair in [(f"({f} x)", "x"), ("x", f"({f} x)"), (f"({f} x)", "2")]]
    return found + [f"polygamma {order} {x}" for order in range(6) for x in ["x", "(sin x)", "0.3", "2"]]


def program():
    """Each term has an x of its own: of what other terms compute as well compilers fold less."""
    body = ",\n  ".join(re.sub(r"\bx\b", f"(x + {i / 1024})", term) for i, term in enumerate(terms()))
    return f"all :: Double -> Array Double\nall x = [|\n  {body}|]\n\nrows :: Array Double -> Array (Array Double)\nrows = map all\n"


def asked(cotan, folder, name, value, engine, compiler="cc"):
    """What a function gives: a number's text is its bits."""
    words = [cotan, "run", "all.cot", name, "--args", "-", "--json", "--math", "exact", "--engine", engine]
    done = subprocess.run(words, cwd=folder, env=dict(os.environ, CC=compiler, COTAN_NATIVE="require"), input=json.dumps([value]),
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}\n{done.stderr}")
    return json.loads(done.stdout, parse_int=float)["value"]


def as_number(value):
    return float(value.replace("Infinity", "inf")) if isinstance(value, str) else value


def differences(what, wanted, found):
    """The terms whose numbers are not the same, at each point."""
    wrong = []
    for x, row, other in zip(POINTS, wanted, found):
        for term, a, b in zip(terms(), map(as_number, row), map(as_number, other)):
            if repr(a) != repr(b):
                wrong.append(f"{what}: x = {x}: {term} is {b!r}, not {a!r}")
    return wrong


def exported(cotan, folder, what, flags):
    compiler = what.partition(",")[0]
    made = subprocess.run([cotan, "compile", "all.cot", "all", "--math", "exact", "-o", "all"], cwd=folder, capture_output=True, text=True)
    built = made.returncode == 0 and subprocess.run(
        [compiler, "-std=c11", *flags, "all.c", "main.c", "-o", "program", "-lm"], cwd=folder, capture_output=True, text=True)
    if not built or built.returncode != 0:
        sys.exit(f"{what}: {made.stderr}{built and built.stderr}")
    done = subprocess.run([os.path.join(folder, "program")], capture_output=True, text=True, check=True)
    numbers = [float(line) for line in done.stdout.split()]
    each = len(numbers) // len(POINTS)
    return [numbers[i * each:(i + 1) * each] for i in range(len(POINTS))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    cotan = os.path.abspath(parser.parse_args().cotan)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "all.cot"), "w", encoding="utf-8") as file:
            file.write(program())
        with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
            file.write(MAIN.replace("POINTS", ", ".join(map(repr, POINTS))))
        wanted = asked(cotan, folder, "rows", POINTS, "eval")
        assert len(wanted) == len(POINTS) and all(len(row) == len(terms()) for row in wanted)
        for compiler in filter(works, ["cc", "clang"]):
            wrong += differences(f"{compiler}, alone", wanted, [asked(cotan, folder, "all", x, "native", compiler) for x in POINTS])
            wrong += differences(f"{compiler}, in a loop", wanted, asked(cotan, folder, "rows", POINTS, "native", compiler))
        for what, flags in EXPORTED.items():
            if works(what.partition(",")[0]):
                wrong += differences(f"compiled by {what}", wanted, exported(cotan, folder, what, flags))
    for line in wrong[:30]:
        print(line)
    count = len(terms())
    print(f"{len(wrong)} of {count} terms at {len(POINTS)} points are wrong, by some compiler")
    print(f"exact mathematics: {max(0, count - len(wrong))} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
