#!/usr/bin/env python3
"""bench/bulk.py: gradients of programs over arrays by `bulk` against `tape`, at growing sizes, on the evaluator.

The measuring is done by bench/ladders.c; here its lines are set out.
"""
import sys

import ladders

SIZES = [100, 1000, 10000, 100000, 1000000]
FUNCTIONS = [
    ("dot", "the dot product of two vectors"),
    ("matmul", "the product of two square matrices"),
    ("convolution", "a picture convolved with a kernel of 5 by 5"),
    ("perceptron", "a perceptron of two layers on a batch, its weights' gradient"),
]
METHODS = ["tape", "bulk"]


def print_size(n, rows):
    """One line: what either takes over the function alone, and how many times less bulk takes than tape."""
    tape, bulk = (rows.get(method) for method in METHODS)
    line = f"{n:>9,}   {ladders.duration(rows[None]['seconds']):>8}"
    for row in (tape, bulk):
        if row is None or "needs" in row:
            line += f"   {'–':>8} {'–':>8} {'–':>8}"
            continue
        steps = row["steps"] / row["primal_steps"]
        line += f"   {ladders.duration(row['seconds']):>8} {ladders.figures(row['over_primal']):>8} {ladders.figures(steps):>8}"
    if tape and bulk and "seconds" in tape and "seconds" in bulk:
        line += f"   {ladders.figures(1 / bulk['over_first']):>8} {ladders.figures(tape['steps'] / bulk['steps']):>8}"
    print(line)
    sys.stdout.flush()


def print_function(function, what, sizes):
    print(f"\n{function}: {what}")
    print(f"{'':9}   {'alone':>8}   {'tape':>8} {'time':>8} {'steps':>8}   {'bulk':>8} {'time':>8} {'steps':>8}   "
          f"{'tape / bulk':>17}")
    print(f"{'products':>9}   {'time':>8}   {'time':>8} {'/ alone':>8} {'/ alone':>8}   {'time':>8} {'/ alone':>8} "
          f"{'/ alone':>8}   {'time':>8} {'steps':>8}")
    at = {}
    for row in ladders.measure("bulk.cot", ",".join(METHODS), f"{function}:{','.join(map(str, sizes))}"):
        at.setdefault(row["n"], {})[row["method"]] = row
        if row["method"] == METHODS[-1]:
            print_size(row["n"], at[row["n"]])


def main(names=None):
    print("\ngradients of programs over arrays by bulk and by tape, on the evaluator: processor time and steps")
    for function, what in FUNCTIONS:
        if not names or function in names:
            print_function(function, what, SIZES)


if __name__ == "__main__":
    ladders.compile_driver()
    main(sys.argv[1:])
