#!/usr/bin/env python3
"""make bench-haskell: Table 1 of DUAL 2022, whose peer is Kmett's Haskell library `ad`, and the sentence of BULK §8 on it. Needs GHC and `ad`;
where they are missing and cannot be installed it says so, and ends with status 1.

Gradients by `ad` (bench/haskell/Table1.hs, compiled by GHC) and by Cotan take turns on the same points; all results are compared first. A time is
for an element, as in bench/ladders.py, and the median of the rounds; a ratio is the median of the ratios of each round.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys

import ladders

FOLDER = os.path.join(ladders.BUILD, "haskell")
PROGRAM = os.path.join(FOLDER, "Table1")
ENVIRONMENT = os.path.join(FOLDER, "packages")  # where cabal notes what it has installed
VERSION = "ad-4.5"  # the paper's
ROUNDS, SECONDS = 5, 0.2

# Function, size, and what the paper prints: microseconds of its implementation (dual-defunc's algorithm, compiled) and of `ad`, and their ratio.
TABLE = [("scalar", 1000, 0.146, 0.536, 0.27), ("dot", 1000, 2.21, 2.07, 1.1), ("matvec", 1000, 2.05, 1.32, 1.5),
         ("rotate", 1000, 8.77, 6.13, 1.43)]
METHODS = ["dual-defunc", "tape"]
# On arrays, by bulk: function of bench/bulk.cot, and the same for `ad`.
ARRAYS = [("dot", 1000), ("dot", 100000)]


def give_up(why):
    sys.exit(f"bench-haskell: {why}\nbench-haskell: nothing was measured")


def compiled():
    command = ["ghc", "-v0", "-O2", "-outputdir", FOLDER, "-o", PROGRAM, os.path.join(ladders.HERE, "haskell", "Table1.hs")]
    if os.path.exists(ENVIRONMENT):
        command[1:1] = ["-package-env", ENVIRONMENT]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def build():
    os.makedirs(FOLDER, exist_ok=True)
    if shutil.which("ghc") is None:
        give_up("GHC is missing: apt-get install ghc cabal-install")
    done = compiled()
    if done.returncode != 0 and "Numeric.AD" in done.stderr:
        # Debian has no package of it, so it can only come from Hackage.
        if shutil.which("cabal") is None:
            give_up(f"the Haskell library `ad` is missing, and so is cabal to install {VERSION}: apt-get install cabal-install")
        print(f"bench-haskell: installing {VERSION} from Hackage", flush=True)
        got = subprocess.run(["cabal", "install", "--lib", "--package-env", ENVIRONMENT, VERSION], capture_output=True, text=True, check=False)
        if got.returncode != 0:
            give_up(f"the Haskell library `ad` is missing. Debian has no package of it, and cabal cannot install {VERSION}; "
                    f"if Hackage can be reached, run `cabal update` first. It says:\n{got.stderr.strip() or got.stdout.strip()}")
        done = compiled()
    if done.returncode != 0:
        give_up(f"bench/haskell/Table1.hs does not compile:\n{done.stderr}")


def ad(function, n, what):
    done = subprocess.run([PROGRAM, function, str(n), str(what)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        give_up(f"{function} by ad fails:\n{done.stderr}")
    return json.loads(done.stdout)


def agrees(function, n):
    """All numbers by `ad` against those by Cotan, to a relative 1e-10."""
    done = subprocess.run([os.path.join(ladders.BUILD, "cotan"), "run", os.path.join(ladders.HERE, "ladders.cot"), f"{function}_results",
                           "--args", f"[{n}]", "--json"], capture_output=True, text=True, check=True)
    ours, theirs = json.loads(done.stdout), ad(function, n, "results")
    ours = ours["value"] if isinstance(ours, dict) else ours
    if len(ours) != len(theirs) or any(abs(a - b) > 1e-10 * max(abs(a), abs(b)) for a, b in zip(ours, theirs)):
        give_up(f"{function} at {n}: ad and Cotan give other numbers")


def rounds(file, methods, function, n):
    """Seconds of `ad` and of each method for an element, round by round; None where a method does not take the function."""
    found = {name: [] for name in ["ad", *methods]}
    for _ in range(ROUNDS):
        for row in ladders.measure(file, ",".join(methods), f"{function}:{n}"):
            elements = row["elements"] if file == "ladders.cot" else n
            if row["method"] in methods:
                found[row["method"]].append(row["seconds"] / elements if "seconds" in row else None)
        found["ad"].append(ad(function, n, SECONDS) / elements)
    return found


def line(name, n, found, method, printed=""):
    times = found[method]
    if None in times:
        return f"{name:8} {n:>7,} {method:12} {'refused':>9}"
    ratio = statistics.median(ours / theirs for ours, theirs in zip(times, found["ad"]))
    columns = f"{ladders.duration(statistics.median(times)):>9} {ladders.duration(statistics.median(found['ad'])):>9}"
    return f"{name:8} {n:>7,} {method:12} {columns} {ladders.figures(ratio):>8}   {printed}"


def main():
    build()
    ladders.compile_driver()
    for function, *_ in TABLE:
        agrees(function, 10)
    print("\nTable 1 of DUAL 2022, for an element: gradients by Cotan's evaluator, by `ad` compiled by GHC, and what the paper prints\n")
    print(f"{'function':8} {'n':>7} {'method':12} {'time':>9} {'ad':>9} {'ratio':>8}   the paper: TH, ad, TH / ad")
    for function, n, th, peer, ratio in TABLE:
        found = rounds("ladders.cot", METHODS, function, n)
        for method in METHODS:
            print(line(function, n, found, method, f"{th} µs, {peer} µs, {ratio}" if method == METHODS[0] else ""), flush=True)
    print("\nBULK §8, \"the library benchmarks favourably against ad\": programs over arrays by `bulk`, on the evaluator\n")
    print(f"{'function':8} {'n':>7} {'method':12} {'time':>9} {'ad':>9} {'ratio':>8}")
    for function, n in ARRAYS:
        print(line(function, n, rounds("bulk.cot", ["bulk"], function, n), "bulk"), flush=True)


if __name__ == "__main__":
    main()
