#!/usr/bin/env python3
"""bench/ladders.py: what gradients cost by every method, as two tables; bench/README.md says how they are read.

The measuring is done by bench/ladders.c in one process; here it is compiled, run, and its lines are set out.
"""
import json
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("COTAN_BUILD", os.path.join(os.path.dirname(HERE), "build"))
PROGRAM = os.path.join(BUILD, "bench_ladders")

FUNCTIONS = [
    ("scalar", "a multiplication of two numbers, differentiated n times", [10, 1000, 100000]),
    ("dot", "the dot product of two lists of n numbers", [10, 1000, 100000]),
    ("matvec", "the sum of a matrix times a vector, both lists; the matrix has about n elements", [10, 1000, 100000]),
    ("rotate", "a vector rotated by a quaternion, differentiated n times", [10, 1000, 100000]),
    ("rotations", "the sum of n vectors rotated by quaternions", [10, 1000, 100000]),
]
PAIR = ["delta", "delta-fused"]
PROGRAMS = [
    ("small1", "1 input, 3 operations"),
    ("large1", "1 input, 23 operations"),
    ("small2", "2 inputs, 4 operations"),
    ("large2", "2 inputs, 27 operations"),
    ("small5", "5 inputs, 5 operations"),
    ("large5", "5 inputs, 35 operations"),
    ("small20", "20 inputs, 4 operations"),
    ("large20", "20 inputs, 64 operations"),
    ("sum20", "20 inputs, 19 additions"),
    ("constants", "20 arguments, 19 constants"),
    ("idle", "constants only"),
    ("largest", "results that are not used"),
    ("branches", "four branches"),
    ("gaussian", "log density of 1000 data"),
    ("quaternion", "100 rotations"),
    ("layer", "a layer of a neural network"),
    ("roots", "recursion: Newton's method"),
    ("horner", "recursion: a polynomial"),
    ("tree", "recursion: a tree"),
    ("orbit", "two results: z² + c"),
    ("pendulum", "functions as arguments"),
]


def compile_driver():
    libraries = subprocess.run(["pkg-config", "--libs", "jansson", "libzip"], capture_output=True, text=True, check=True)
    sources = [os.path.join(HERE, name) for name in ["ladders.c", "derivatives.c"]]
    command = [*os.environ.get("CC", "cc").split(), "-std=gnu17", "-O3", "-march=native", "-I" + os.path.join(HERE, "..", "include"),
               *sources, os.path.join(BUILD, "libcotan.a"), *shlex.split(libraries.stdout), "-lm", "-o", PROGRAM]
    if subprocess.run(command).returncode != 0:
        sys.exit("bench/ladders.c does not compile against " + BUILD)


def measure(file, methods, *what):
    """The rows of one run, as they come."""
    process = subprocess.Popen([PROGRAM, os.path.join(HERE, file), methods, *what], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        yield json.loads(line)
    if process.wait() != 0:
        sys.exit("the ladders failed")


def duration(seconds):
    for unit, scale in [("s", 1), ("ms", 1e3), ("µs", 1e6)]:
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def figures(x):
    """Three figures, never an exponent."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def print_row(row, before):
    name = row["method"] or "primal"
    each = row["seconds"] / row["elements"]
    line = f"{name:12} {row['n']:>7,}   {duration(row['seconds']):>8} {duration(each):>8}"
    line += f" {figures(row['over_c']):>8} {figures(row['over_primal']):>8}"
    if "steps" in row:
        steps = row["steps"] / row["elements"]
        line += f"   {figures(steps):>8} {figures(row['steps'] / row['primal_steps']):>8}"
        line += f" {steps / before[name]:>8.2f}" if name in before else ""
        before[name] = steps
    print(line)


def print_function(function, what, sizes):
    """The table of one function; its rows at the largest size."""
    print(f"\n{function}: {what}")
    print(f"{'':20}   {'time':>8} {'time':>8} {'time':>8} {'time':>8}   {'steps':>8} {'steps':>8} {'growth':>8}")
    print(f"{'method':12} {'n':>7}   {'gradient':>8} {'element':>8} {'/ C':>8} {'/ primal':>8}  "
          f" {'element':>8} {'/ primal':>8} {'of steps':>8}")
    before, needs, n, largest = {}, {}, None, {}
    for row in measure("ladders.cot", ",".join(known_methods()), f"{function}:{','.join(map(str, sizes))}"):
        if row["n"] != n and n is not None:
            print()
        n = row["n"]
        if "needs" in row:
            needs.setdefault(row["method"], f"{row['method']} at {n:,} ({row['needs'] / 1e6:,.3g} million)")
            continue
        print_row(row, before)
        if n == sizes[-1]:
            largest[row["method"]] = row
    if needs:
        print("too many steps, from the size on that is named, with how many were allowed:")
        print("  " + ", ".join(needs.values()))
    sys.stdout.flush()
    return largest


def cell(row):
    if row is None:
        return f"{'–':>17}"
    return f"{duration(row['seconds'] / row['elements']):>9} {figures(row['over_c']):>7}"


def ladders():
    print("\ngradients by every method, on the evaluator, and by hand in C:"
          " processor time, medians of rounds in which all take turns")
    largest = {function: print_function(function, what, sizes) for function, what, sizes in FUNCTIONS}
    n = FUNCTIONS[0][2][-1]
    print(f"\ntime for an element at n = {n:,}, and over the time in C\n")
    print(f"{'method':12}" + "".join(f"{function:>17}" for function in largest))
    for method in known_methods():
        cells = [rows.get(method) for rows in largest.values()]
        print(f"{method:12}" + "".join(cell(row) for row in cells))


def print_pair(name, what, plain, fused_row):
    steps = fused_row["steps"] / plain["steps"]
    print(f"{name:11} {what:27} {plain['steps']:10,} {fused_row['steps']:10,} {steps:6.2f} {'>' if steps > 1.1 else ' '}"
          f" {duration(plain['seconds']):>8} {duration(fused_row['seconds']):>8} {fused_row['over_first']:6.2f}")
    return steps


def fused():
    """The second method of PAIR against the first."""
    print(f"\n{PAIR[1]} against {PAIR[0]}: steps and times of a gradient; > more than 1.1 times the steps\n")
    print(f"{'program':11} {'what is called':27} {'steps':>10} {'fused':>10} {'ratio':>6}  "
          f" {'time':>8} {'fused':>8} {'ratio':>6}")
    rows = {}
    for row in measure("fused.cot", ",".join(PAIR), *[f"{name}:1" for name, _ in PROGRAMS]):
        rows.setdefault(row["function"], {})[row["method"]] = row
    ratios = [(print_pair(name, what, *[rows[name][method] for method in PAIR]), name) for name, what in PROGRAMS]
    print(f"\nfewer steps in {sum(ratio < 1 for ratio, _ in ratios)} of {len(ratios)} programs,"
          f" more than 1.1 times in {sum(ratio > 1.1 for ratio, _ in ratios)};"
          f" from {min(ratios)[0]:.2f} ({min(ratios)[1]}) to {max(ratios)[0]:.2f} ({max(ratios)[1]})")


def known_methods():
    out = subprocess.run([os.path.join(BUILD, "cotan"), "methods"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in out.splitlines()]
    return [name for name in names if name != "native"]  # which counts no steps: native.py measures it


def main():
    compile_driver()
    ladders()
    if set(PAIR) <= set(known_methods()):
        fused()


if __name__ == "__main__":
    main()
