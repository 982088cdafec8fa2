#!/usr/bin/env python3
"""make bench: what the evaluator and the methods cost on this machine, as tables. Measured, never asserted.

Each figure is the median of several whole-process runs, less the time of an empty program, and is given as steps, as bytes
an operation, or as a ratio of two runs side by side.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import bulk
import chad
import ladders
import native
from generate import program

HERE = os.path.dirname(os.path.abspath(__file__))
COTAN = os.path.join(ladders.BUILD, "cotan")
PROGRAM = os.path.join(HERE, "loop.cot")
RUNS = 5
SIZES = [2500, 5000, 10000, 20000, 40000, 80000]
GRADIENTS = [("f6", "0.9"), ("poly", "0.9"), ("tree", "0.9"), ("folded", "0.9")]


def once(*args):
    """Seconds, peak resident bytes and the JSON answer of one run."""
    start = time.perf_counter()
    process = subprocess.Popen([COTAN, *args, "--json"], stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = status
    if status != 0:
        sys.exit(f"cotan {' '.join(args)} failed")
    return seconds, usage.ru_maxrss * 1024, json.loads(out)


def measure(*args):
    runs = [once(*args) for _ in range(RUNS)]
    return statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs), runs[0][2]


def checking():
    """How fast programs are read and type-checked, by size: user and system time of one core, the prelude's set apart."""
    def check(lines):
        with tempfile.NamedTemporaryFile("w", suffix=".cot") as file:
            file.write(program(lines) if lines else "main = 0\n")
            file.flush()
            runs = []
            for _ in range(RUNS):
                pid = os.posix_spawn(COTAN, [COTAN, "check", file.name], os.environ,
                                     file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
                _, status, usage = os.wait4(pid, 0)
                if status != 0:
                    sys.exit(f"a generated program of {lines} lines does not check")
                runs.append(usage.ru_utime + usage.ru_stime)
            return statistics.median(runs)

    prelude = check(0)
    print(f"\nchecking generated programs (the prelude alone takes {prelude:.3f} s)")
    print(f"{'lines':>8} {'seconds':>9} {'lines/s':>10} {'net of the prelude':>19}")
    for lines in SIZES:
        seconds = check(lines)
        print(f"{lines:8,} {seconds:9.3f} {lines / seconds:10,.0f} {lines / max(seconds - prelude, 1e-9):19,.0f}")


def threads():
    """Time in one thread over time in several, and work over span, which no number of threads can better."""
    several = str(min(os.cpu_count() or 1, 8))
    point = json.dumps([i / 2000 for i in range(2000)])
    loops = os.path.join(HERE, "..", "tests", "threads", "loops.cot")
    print(f"{'several threads':24} {'1 / ' + several:>8} {'work / span':>12}")
    for name, words in [("uneven", ["run", loops, "uneven", "--args", "[100000]"]),
                        ("objective", ["run", loops, "objective", "--args", f"[{point}]"]),
                        ("gradient by chad", ["grad", loops, "objective", "--at", point, "--method", "chad"])]:
        ratios = []
        for _ in range(RUNS):
            alone = once(*words, "--threads", "1")[0]
            ratios.append(alone / once(*words, "--threads", several)[0])
        counts = once(*words, "--count")[2]
        print(f"{name:24} {statistics.median(ratios):8.2f} {counts['work'] / counts['span']:12.1f}")
    print()


def main():
    checking()
    threads()
    empty, _, _ = measure("run", PROGRAM, "loop", "--args", "[1, 1, 1]")
    print(f"medians of {RUNS} runs; an empty program takes {empty:.3f} s\n")

    print(f"{'program':12} {'steps':>14} {'seconds':>9} {'million steps/s':>16}")
    for name in ["runFib", "runLoop", "runLists", "runArrays", "runDot"]:
        seconds, _, _ = measure("run", PROGRAM, name)
        steps = once("run", PROGRAM, name, "--count")[2]["steps"]
        net = max(seconds - empty, 1e-9)
        print(f"{name:12} {steps:14,} {net:9.3f} {steps / net / 1e6:16.1f}")

    small, small_bytes, _ = measure("grad", PROGRAM, "f5", "--at", "0.9")
    large, large_bytes, _ = measure("grad", PROGRAM, "f6", "--at", "0.9")
    operations = 2 * (5_000_000 - 500_000)
    print(f"\ntape, a loop of 10^7 operations: {(large_bytes - small_bytes) / operations:.1f} bytes of resident memory an operation")

    print(f"\n{'function':12} {'method':8} {'steps/primal':>13} {'time/primal':>12}")
    for name, point in GRADIENTS:
        primal, _, _ = measure("run", PROGRAM, name, "--args", f"[{point}]")
        start, _, _ = measure("check", PROGRAM)
        for method in ["tape", "forward"]:
            seconds, _, _ = measure("grad", PROGRAM, name, "--at", point, "--method", method)
            counted = once("grad", PROGRAM, name, "--at", point, "--method", method, "--count")[2]
            ratio = (seconds - start) / max(primal - start, 1e-9)
            print(f"{name:12} {method:8} {counted['steps'] / counted['primal_steps']:13.1f} {ratio:12.1f}")
    sys.stdout.flush()
    ladders.main()
    bulk.main()
    chad.main()
    native.main()


main()
