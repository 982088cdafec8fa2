#!/usr/bin/env python3
"""bench/idioms.py [--quick] [NAME…]: what idiomatic array and list programs cost as native code, beside the same functions written out.

The functions are pairs of bench/idioms.cot. bench/idioms.c times both of a pair, and their gradients, in one process through the C API.
bench/README.md explains the table.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from ladders import duration, figures
from native import mean

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.environ.get("COTAN_BUILD", os.path.join(ROOT, "build"))

# name, what, shapes of the arguments: N numbers, the side of a matrix of as many, a tenth
SUBJECTS = [
    ("zipRows", "zipWith3 over rows", "{rows}x10 {rows}x10 {rows}x10"),
    ("zip3Sum", "map over zip3", "{n} {n} {n}"),
    ("zipPairs", "zip of rows and numbers", "{rows}x10 {rows}"),
    ("unzipSums", "unzip of pairs", "{n}"),
    ("unzipRows", "unzip of pairs of a row and a number", "{rows}x10"),
    ("rangeSum", "sum (map f [0 .. n - 1])", "{n}"),
    ("comprehension", "sum [… | i <- …]", "{n} {n}"),
    ("guarded", "the same with let and guard", "{n}"),
    ("nested", "the same with two generators", "{rows}x10"),
    ("zipLists", "zipWith of lists", "{n} {n}"),
    ("allOf", "and [… | …], all p (zip …)", "{n} {n}"),
    ("foldsOf", "foldr over map and filter", "{n}"),
    ("fromLists", "fromList [… | …]", "{n}"),
    ("odeSteps", "[|1|] ++ init y", "=10 {rows}"),
    ("appended", "row ++ [|1|]", "{rows}x10 11"),
    ("literals", "rows [|x, y, z|]", "{n} {n}"),
    ("indices", "sums over rows of indices", "{rows}x10:{n} {n}"),
    ("columns", "two columns of an Int matrix", "{n}x3:{n} {n}"),
    ("divided", "div, mod, shiftR", "{n} {n}"),
    ("nestedData", "an array of records of arrays", "1x10 {rows}"),
    ("matrixVector", "a record of an array", "{n} 10"),
    ("records", "records of 15 numbers", "{rows}x15"),
    ("changed", "records that are changed", "{rows}x15"),
    ("shifted", "y ! (i - 1)", "{n}"),
    ("column", "a column", "{rows}x10"),
    ("smooth", "second differences", "{n}"),
    ("nearest", "a minimum by recursion", "8x10 {rows}x10"),
    ("largest", "foldl1 max", "{n}"),
    ("triangle", "a packed triangle, by a running place", "45 {rows}x10"),
]
TOLERANCE = 1e-9


def compile_driver(folder):
    target = os.path.join(folder, "idioms")
    command = [*os.environ.get("CC", "cc").split(), "-std=gnu17", "-O2", "-I" + os.path.join(ROOT, "include"), os.path.join(HERE, "idioms.c"),
               "-L" + BUILD, "-lcotan", "-Wl,-rpath," + BUILD, "-lm", "-o", target]
    if subprocess.run(command).returncode != 0:
        sys.exit("bench/idioms.c does not compile")
    return target


def measure(driver, name, shapes):
    run = subprocess.run([driver, os.path.join(HERE, "idioms.cot"), name, name + "Hand", *shapes.split()], capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr.strip() or f"ended by signal {-run.returncode}"
    return json.loads(run.stdout), None


def disagreement(name, row):
    """`divided` is set beside the same loop without div, mod and shiftR."""
    if name == "divided":
        return None
    for key in ["values_differ", "gradients_differ"]:
        if not row[key] <= TOLERANCE:
            return f"{key} by {row[key]}"
    return None


def print_row(what, row):
    times = [row["idiomatic"], row["written"], row["idiomatic_gradient"], row["written_gradient"]]
    ratios = [times[0] / times[1], times[2] / times[3], times[2] / times[0]]
    print(f"{what:38}" + "".join(f"{duration(time):>9}" for time in times) + " " + "".join(f"{figures(ratio):>8}" for ratio in ratios), flush=True)
    return ratios


def main(quick=False, only=()):
    n = 10**3 if quick else 10**5
    sizes = {"n": n, "rows": n // 10}
    wrong, ratios = [], []
    print(f"\nidiomatic programs and the same written out, as native code, one thread, n = {n}\n")
    print(f"{'':38}{'idio-':>9}{'written':>9}{'gradient:':>10}{'written':>8} {'':>16}{'gradient':>8}")
    print(f"{'':38}{'matic':>9}{'out':>9}{'idiom.':>9}{'out':>9} {'ratio':>8}{'of gr.':>8}{'/ fun.':>8}")
    with tempfile.TemporaryDirectory() as folder:
        driver = compile_driver(folder)
        for name, what, shapes in SUBJECTS:
            if only and name not in only:
                continue
            row, error = measure(driver, name, shapes.format(**sizes))
            if row is None:
                print(f"{what:38} {error}", flush=True)
                wrong.append(f"{name}: {error}")
                continue
            ratios.append(print_row(what, row))
            if disagreement(name, row):
                wrong.append(f"{name}: {disagreement(name, row)}")
    if ratios:
        print(f"\ngeometric means: {figures(mean([r[0] for r in ratios]))} of what is written out, {figures(mean([r[1] for r in ratios]))} of its gradient")
    for line in wrong:
        print("WRONG " + line)
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sys.exit(1 if main(options.quick, options.names) else 0)
