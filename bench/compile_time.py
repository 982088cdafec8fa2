#!/usr/bin/env python3
"""bench/compile_time.py [--rounds N] [NAME…]: how long the examples and the programs of GradBench take to become native code: lines of C
that the compiler is given, processor time of Cotan up to the C, and of the whole run with an empty cache, each the least of several
rounds. A program of GradBench is defined, as the suite does it: all its functions and derivatives are compiled; nothing runs."""
import argparse
import json
import os
import resource
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
COTAN = os.path.join(os.environ.get("COTAN_BUILD", os.path.join(ROOT, "build")), "cotan")
EXAMPLES = [
    ("quaternion", ["run", "quaternion.cot"]),
    ("newton", ["run", "newton.cot"]),
    ("tree", ["run", "tree.cot"]),
    ("logsumexp", ["run", "logsumexp.cot"]),
    ("logsumexp, grad", ["grad", "logsumexp.cot", "logsumexp", "--at", "[1, 2, 3]"]),
    ("iris", ["run", "iris.cot", "--args", "@iris.json"]),
    ("iris, grad", ["grad", "iris.cot", "sixFlowers", "--at", "@untrained.json"]),
]
EVALS = ["hello", "llsq", "lse", "det", "ode", "gmm", "kmeans", "lstm", "ba", "ht", "saddle", "particle"]
# A compiler that keeps what it is given.
KEEPING = '#!/bin/sh\nfor word; do case $word in *.c) cat "$word" >>"{kept}";; esac; done\nexec {cc} "$@"\n'


def seconds(words, environment, messages=None):
    """Processor time of a command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([COTAN, *words], cwd=os.path.join(ROOT, "examples"), env=environment, input=messages, text=True,
                   stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines_given(words, environment, folder, messages=None):
    kept, compiler = os.path.join(folder, "kept.c"), os.path.join(folder, "cc")
    with open(compiler, "w", encoding="utf-8") as file:
        file.write(KEEPING.format(kept=kept, cc=os.environ.get("CC", "cc")))
    os.chmod(compiler, 0o700)
    seconds(words, dict(environment, CC=compiler), messages)
    with open(kept, encoding="utf-8") as file:
        return sum(1 for _ in file)


def measure(words, rounds):
    with tempfile.TemporaryDirectory() as folder:
        def fresh():
            return dict(os.environ, XDG_CACHE_HOME=tempfile.mkdtemp(dir=folder))
        native = [*words, "--engine", "native"]
        return (lines_given(native, fresh(), folder), min(seconds([*words, "--dump", "c"], fresh()) for _ in range(rounds)),
                min(seconds(native, fresh()) for _ in range(rounds)))


def measure_eval(name, rounds):
    messages = "".join(json.dumps(message) + "\n" for message in (
        {"id": 0, "kind": "start", "eval": name}, {"id": 1, "kind": "define", "module": name}))
    with tempfile.TemporaryDirectory() as folder:
        def fresh():
            return dict(os.environ, XDG_CACHE_HOME=tempfile.mkdtemp(dir=folder))
        return (lines_given(["gradbench"], fresh(), folder, messages),
                min(seconds(["gradbench"], fresh(), messages) for _ in range(rounds)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(f"{'':18}{'lines':>8}{'to the C':>10}{'all':>8}   (seconds)")
    chosen = lambda name: not options.names or any(word in name for word in options.names)
    for name, words in EXAMPLES:
        if chosen(name):
            lines, front, whole = measure(words, options.rounds)
            print(f"{name:18}{lines:8}{front:10.3f}{whole:8.3f}", flush=True)
    for name in EVALS:
        if chosen(name):
            lines, whole = measure_eval(name, options.rounds)
            print(f"{name:18}{lines:8}{'':10}{whole:8.3f}", flush=True)


if __name__ == "__main__":
    main()
