#!/usr/bin/env python3
"""bench/chad.py: gradients by `chad` beside `tape`: steps and time over the function alone.

First on the programs of the other benches, measured by bench/ladders.c; then steps alone on the gradients of all golden
programs, which are too short to be timed.
"""
import json
import os
import re
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

import bulk
import ladders

METHODS = ["tape", "chad"]
PROGRAMS = [("ladders.cot", name, 1000) for name, _, _ in ladders.FUNCTIONS] + \
    [("fused.cot", name, 1) for name, _ in ladders.PROGRAMS] + \
    [("bulk.cot", name, 10000) for name, _ in bulk.FUNCTIONS]


def print_program(name, n, rows):
    """One line: what either takes over the function alone, and chad over tape."""
    line = f"{name:12} {n:>7,}"
    for row in rows:
        line += f"   {ladders.figures(row['steps'] / row['primal_steps']):>8} {ladders.figures(row['over_primal']):>8}"
    print(line + f"   {rows[1]['steps'] / rows[0]['steps']:>8.2f} {rows[1]['over_first']:>8.2f}")
    sys.stdout.flush()


def programs():
    print("\ngradients by chad beside tape, over the function alone\n")
    print(f"{'':20}   {METHODS[0]:>17}   {METHODS[1]:>17}   {'chad / tape':>17}")
    print(f"{'program':12} {'n':>7}" + f"   {'steps':>8} {'time':>8}" * 3)
    for file, name, n in PROGRAMS:
        rows = {row["method"]: row for row in ladders.measure(file, ",".join(METHODS), f"{name}:{n}")}
        if all("seconds" in rows.get(method, {}) for method in METHODS):
            print_program(name, n, [rows[method] for method in METHODS])


def corpus_steps(cotan):
    """For each `cotan grad` of the golden programs that gives one: its steps over the function's, by either method."""
    sys.path.insert(0, os.path.join(ladders.HERE, "..", "tests"))
    import corpus
    fails = re.compile(r"^exit|^! error", re.MULTILINE)
    found = [c for c in corpus.commands([], False)[0] if c.verb == "grad" and not fails.search(c.expected)]

    def over_primal(command, method):
        text = command.run(f" --json --count --method {method}", cotan, 300)
        line = next((line for line in text.splitlines() if line.startswith('{"value"')), None)
        counts = json.loads(line) if line else {}
        return counts["steps"] / counts["primal_steps"] if counts.get("primal_steps") else None

    def both(command):
        return [over_primal(command, method) for method in METHODS]

    with ThreadPoolExecutor(max_workers=corpus.WORKERS) as pool:
        return [ratios for ratios in pool.map(both, found) if None not in ratios]


def golden_programs():
    ratios = corpus_steps(os.path.join(ladders.BUILD, "cotan"))
    print(f"\nsteps over the function alone, {len(ratios)} gradients of the golden programs\n")
    print(f"{'':12} {'a tenth':>8} {'half':>8} {'9 of 10':>8} {'all':>8}")
    columns = [(method, [pair[k] for pair in ratios]) for k, method in enumerate(METHODS)]
    for name, column in [*columns, ("chad / tape", [chad / tape for tape, chad in ratios])]:
        tenths = statistics.quantiles(column, n=10)
        cells = [tenths[0], tenths[4], tenths[8], max(column)]
        print(f"{name:12}" + "".join(f" {ladders.figures(cell):>8}" for cell in cells))


def main():
    programs()
    golden_programs()


if __name__ == "__main__":
    ladders.compile_driver()
    main()
