#!/usr/bin/env python3
"""Warnings about patterns, held against all values up to a depth: a function is said not to cover everything exactly when some value
is not matched, the values shown are not matched, and a clause is said to be unreachable exactly when every value that it matches
is matched before.

    tests/patterns.py --cotan PATH [--count N] [--seed N]
"""
import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# type -> constructors with the types of their fields; integers and lists of them in between
TYPES = {
    "Colour": [("Red", ()), ("Green", ()), ("Blue", ())],
    "Tree": [("Leaf", ()), ("Node", ("Tree", "Colour", "Tree"))],
    "Wrap": [("Wrap", ("Colour", "Bool"))],
    "Bool": [("False", ()), ("True", ())],
    "Pair": [("(,)", ("Colour", "Bool"))],
    "List": [("[]", ()), (":", ("Bool", "List"))],
    "Number": None,
}
NAMES = {"Pair": "(Colour, Bool)", "List": "[Bool]", "Number": "Int"}
NUMBERS = [0, 1, 2, 3, 4, 5]
# a warning for each clause and one more: no more than the hundred that are shown
TOGETHER = 14
HEAD = """data Colour = Red | Green | Blue
data Tree = Leaf | Node Tree Colour Tree
data Wrap = Wrap Colour Bool

"""


def values(kind, depth):
    if kind == "Number":
        return [(n,) for n in NUMBERS]
    out = []
    for name, fields in TYPES[kind]:
        if fields and depth == 0:
            continue
        out.extend((name, *parts) for parts in itertools.product(*(values(f, depth - 1) for f in fields)))
    return out


def pattern(rng, kind, depth):
    """None is a wildcard."""
    if depth == 0 or rng.random() < 0.3:
        return None
    if kind == "Number":
        return (rng.choice(NUMBERS[:-2]),)
    name, fields = rng.choice(TYPES[kind])
    return (name, *(pattern(rng, f, depth - 1) for f in fields))


def text(rng, p, atomic=True):
    if p is None:
        return rng.choice(["_", "x" + str(rng.randrange(10**9))])
    name, parts = p[0], [text(rng, q) for q in p[1:]]
    if name == "(,)":
        return f"({', '.join(parts)})"
    if name == ":":
        out = " : ".join(parts)
    else:
        out = " ".join([str(name), *parts])
    out = f"({out})" if atomic and parts else out
    return f"y{rng.randrange(10**9)}@{out}" if atomic and rng.random() < 0.1 else out


def matches(p, value):
    return p is None or (p[0] == value[0] and all(matches(q, v) for q, v in zip(p[1:], value[1:])))


def tokens(shown):
    return re.findall(r"[A-Z]\w*|\d+|[()\[\],:_]", shown)


def parse(ts, kind):
    """A pattern of a witness, at the front of the tokens."""
    t = ts.pop(0)
    if t == "_":
        left = None
    elif t == "[":
        items = []
        while ts[0] != "]":
            items.append(parse(ts, "Bool"))
            if ts[0] == ",":
                ts.pop(0)
        ts.pop(0)
        left = ("[]",)
        for item in reversed(items):
            left = (":", item, left)
    elif t == "(":
        left = whole(ts, kind)
        if ts[0] == ",":
            ts.pop(0)
            left = ("(,)", left, whole(ts, "Bool"))
        assert ts.pop(0) == ")"
    elif t.isdigit():
        left = (int(t),)
    else:
        left = (t,)
    return left


def whole(ts, kind):
    """A constructor with its fields, or cells."""
    left = parse(ts, kind)
    if left is not None and len(left) == 1 and isinstance(left[0], str) and left[0][0].isupper():
        parts = []
        while ts and ts[0] not in (")", ",", ":", "]"):
            parts.append(parse(ts, None))
        left = (*left, *parts)
    if ts and ts[0] == ":":
        ts.pop(0)
        return (":", left, whole(ts, kind))
    return left


def function(rng, n):
    kinds = [rng.choice(list(TYPES)) for _ in range(rng.choice([1, 1, 2, 3]))]
    depth = 2 if len(kinds) == 1 else 1  # values are one deeper; there must not be too many of them
    clauses = [([pattern(rng, k, depth) for k in kinds], rng.random() < 0.15) for _ in range(rng.randrange(1, 7))]
    lines = [f"f{n} :: {' -> '.join(NAMES.get(k, k) for k in kinds)} -> Int"]
    for i, (ps, guarded) in enumerate(clauses):
        lines.append(f"f{n} {' '.join(text(rng, p) for p in ps)}{f' | n == {i}' if guarded else ''} = {i}")
    return kinds, clauses, lines, depth


def program(cotan, rng, numbers):
    """Generates and checks one program; how many of its functions passed, and failed."""
    lines, functions = (HEAD + "n :: Int\nn = 1\n\n").split("\n"), []
    for n in numbers:
        kinds, clauses, own, depth = function(rng, n)
        functions.append((kinds, clauses, len(lines) + 1, depth))
        lines.extend(own)
    with tempfile.NamedTemporaryFile("w", suffix=".cot") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        done = subprocess.run([cotan, "check", file.name, "--json"], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"the generated program does not check:\n{done.stderr[:2000]}")
    said = {}
    for line in done.stderr.splitlines():
        warning = json.loads(line)
        said.setdefault(warning["line"], {})[warning["code"]] = warning["message"]
    passed = failed = 0
    for kinds, clauses, line, depth in functions:
        everything = list(itertools.product(*(values(k, depth + 1) for k in kinds)))
        first = set()
        open_values = False
        for value in everything:
            for i, (ps, guarded) in enumerate(clauses):
                if all(matches(p, v) for p, v in zip(ps, value)):
                    first.add(i)
                    if not guarded:
                        break
            else:
                open_values = True
        missing = said.get(line + 1, {}).get("E0325")
        wrong = []
        if (missing is not None) != open_values:
            wrong.append(f"not everything is covered: {open_values}, said: {missing}")
        for shown in re.findall(r"`f\d+ (.*?)`", missing or ""):
            ts, witness = tokens(shown), []
            for kind in kinds:
                witness.append(parse(ts, kind))
            for value in everything:
                if not all(matches(p, v) for p, v in zip(witness, value)):
                    continue
                if any(not guarded and all(matches(p, v) for p, v in zip(ps, value)) for ps, guarded in clauses):
                    wrong.append(f"the witness {shown} is matched")
                    break
        for i in range(len(clauses)):
            unreachable = "E0326" in said.get(line + 1 + i, {})
            if unreachable == (i in first):
                wrong.append(f"clause {i} is reached: {i in first}, but said: {not unreachable}")
        passed += not wrong
        failed += bool(wrong)
        if wrong:
            print("\n".join(["FAIL", *lines[line - 1:line + len(clauses)], *wrong]))
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(os.path.dirname(HERE), "build", "cotan"))
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    passed = failed = 0
    for start in range(0, options.count, TOGETHER):
        p, f = program(options.cotan, rng, range(start, min(start + TOGETHER, options.count)))
        passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
