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
BUILD = os.environ.get("COTAN_BUILD", os.path.join(HERE, "..", "build"))
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
    ("small1", "1 input, 4 operations"),
    ("large1", "1 input, 25 operations"),
    ("small2", "2 inputs, 4 operations"),
    ("large2", "2 inputs, 27 operations"),
    ("small5", "5 inputs, 5 operations"),
    ("large5", "5 inputs, 36 operations"),
    ("small20", "20 inputs, 4 operations"),
    ("large20", "20 inputs, 66 operations"),
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
    command = [os.environ.get("CC", "cc"), "-std=gnu17", "-O3", "-march=native", "-I" + os.path.join(HERE, "..", "include"),
               *sources, os.path.join(BUILD, "libcotan.a"), *shlex.split(libraries.stdout), "-lm", "-o", PROGRAM]
    subprocess.run(command, check=True)


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
    elements = row["elements"]
    seconds = row["seconds"]
    line = f"{name:14} {row['n']:>7,} {duration(seconds):>9} {duration(seconds / elements):>9}"
    line += f" {figures(row['over_c']):>9} {figures(row['over_primal']):>9}"
    if "steps" in row:
        each = row["steps"] / elements
        line += f" {figures(each):>9} {figures(row['steps'] / row['primal_steps']):>9}"
        if name in before:
            line += f" {each / before[name]:>7.2f}"
        before[name] = each
    print(line)


def ladders():
    print("\ngradients by every method, and by hand in C; times are medians of rounds in which all take turns")
    for function, what, sizes in FUNCTIONS:
        print(f"\n{function}: {what}")
        print(f"{'':14} {'':>7} {'--- time':>9} {'---':>9} {'--- time':>9} {'over ---':>9} {'--- steps':>9} {'---':>9}")
        print(f"{'method':14} {'n':>7} {'gradient':>9} {'element':>9} {'C':>9} {'primal':>9} {'element':>9} {'/ primal':>9}"
              f" {'growth':>7}")
        before, left_out, n = {}, [], None
        for row in measure("ladders.cot", "all", f"{function}:{','.join(map(str, sizes))}"):
            if n not in (None, row["n"]):
                print()
            n = row["n"]
            if "seconds" in row:
                print_row(row, before)
            else:
                left_out.append(row)
        for row in left_out:
            if row["method"] not in [other["method"] for other in left_out[:left_out.index(row)]]:
                print(f"left out from n = {row['n']:,}: {row['method']}, more than {row['needs'] / 1e6:,.0f} million steps")
        sys.stdout.flush()


def fused():
    methods = {json_row for json_row in known_methods()}
    if not set(PAIR) <= methods:
        return
    print(f"\n{PAIR[1]} against {PAIR[0]}: a gradient's steps and times, and their ratios; > is more than 1.1 times the steps\n")
    print(f"{'program':11} {'what is called':28} {'steps':>11} {'fused':>11} {'ratio':>6}   {'time':>8} {'fused':>8} {'ratio':>6}")
    ratios, rows = [], {}
    for row in measure("fused.cot", ",".join(PAIR), *[f"{name}:1" for name, _ in PROGRAMS]):
        rows.setdefault(row["function"], {})[row["method"]] = row
    for name, what in PROGRAMS:
        plain, fused_row = (rows[name][method] for method in PAIR)
        steps = fused_row["steps"] / plain["steps"]
        ratios.append((steps, name))
        print(f"{name:11} {what:28} {plain['steps']:11,} {fused_row['steps']:11,} {steps:6.2f} {'>' if steps > 1.1 else ' '}"
              f" {duration(plain['seconds']):>8} {duration(fused_row['seconds']):>8} {fused_row['over_first']:6.2f}")
    better = sum(steps < 1 for steps, _ in ratios)
    worse = sum(steps > 1.1 for steps, _ in ratios)
    best, worst = min(ratios), max(ratios)
    print(f"fewer steps in {better} of {len(ratios)}, more than 1.1 times in {worse};"
          f" best {best[0]:.2f} ({best[1]}), worst {worst[0]:.2f} ({worst[1]})")


def known_methods():
    out = subprocess.run([os.path.join(BUILD, "cotan"), "methods"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in out.splitlines() if line.strip()]


def main():
    compile_driver()
    ladders()
    fused()


if __name__ == "__main__":
    main()
