#!/usr/bin/env python3
"""Random functions that make and consume lists give the same, value, gradient or failure with its place, where their lists become arrays
and where they stay lists (COTAN_LISTS=keep).

    tests/lists.py [--cotan PATH] [--from SEED] [--count N] [--native N] [--show SEED]

--native N: the first N are also run as native code, with exact mathematics.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
POINT = [0.5, 2.0, -1.25, 0.75, 3.0]


class Maker:
    """Terms over xs :: Array Double, n = length xs, and the variables of enclosing generators and λs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0
        self.functions = []  # name, kinds of the lists that it is given

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def pick(self, *choices):
        return self.random.choice(choices)()

    def chance(self, p):
        return self.random.random() < p

    # ---- numbers ----

    def int(self, scope, depth=2):
        ints = [v for v, t in scope if t == "Int"]
        leaf = [lambda: str(self.random.randint(-1, 6)), lambda: "n", *[lambda v=v: v for v in ints * 3]]
        if depth == 0:
            return self.pick(*leaf)
        a, b = self.int(scope, depth - 1), self.int(scope, depth - 1)
        return self.pick(*leaf, *leaf, lambda: f"({a} + {b})", lambda: f"({a} - {b})", lambda: f"({a} * {b})",
                         lambda: f"({a} `mod` 3)", lambda: f"({a} `div` {b})" if self.chance(0.3) else f"(max {a} {b})")

    def index(self, scope):
        i = self.int(scope, 1)
        return f"({i} `mod` n)" if self.chance(0.8) else i

    def real(self, scope, depth=2):
        reals = [v for v, t in scope if t == "Double"]
        leaf = [lambda: self.random.choice(["0.5", "2.0", "1.5"]), lambda: f"xs ! {self.index(scope)}", *[lambda v=v: v for v in reals * 3]]
        if depth == 0:
            return "(" + self.pick(*leaf) + ")"
        a, b = self.real(scope, depth - 1), self.real(scope, depth - 1)
        return self.pick(lambda: "(" + self.pick(*leaf) + ")", lambda: f"({a} + {b})", lambda: f"({a} * {b})", lambda: f"(sin {a})",
                         lambda: f"(fromIntegral {self.int(scope, 1)})", lambda: f"(if {self.test(scope)} then {a} else {b})",
                         lambda: f'(if {self.test(scope)} then error "stop" else {b})' if self.chance(0.1) else f"({a} - {b})")

    def test(self, scope):
        a = self.int(scope, 1)
        return self.pick(lambda: f"(even {a})", lambda: f"({a} < {self.int(scope, 1)})", lambda: f"({self.real(scope, 0)} > 0.6)")

    def number(self, scope, kind, depth=2):
        return self.int(scope, depth) if kind == "Int" else self.real(scope, depth)

    # ---- lists ----

    def function(self, scope, kinds, result):
        params = [self.name("x") for _ in kinds]
        inner = scope + list(zip(params, kinds))
        body = self.test(inner) if result == "Bool" else self.number(inner, result)
        return f"(\\{' '.join(params)} -> {body})"

    def list(self, scope, kind, depth):
        from_other = self.random.choice(["Int", "Double"])
        lists = [v for v, t in scope if t == "[" + kind]
        if depth <= 0 or self.chance(0.15):
            sources = [lambda: f"(replicate {self.int(scope, 1)} {self.number(scope, kind, 1)})", *[lambda v=v: v for v in lists * 4]]
            if kind == "Int":
                sources += 3 * [lambda: f"[{self.int(scope, 1)} .. {self.int(scope, 1)}]", lambda: "[0 .. n - 1]"]
            else:
                sources += 3 * [lambda: "(toList xs)"] + [lambda: f"(map {self.function(scope, ['Int'], 'Double')} [0 .. n - 1])"]
            return self.pick(*sources)
        again = lambda k=kind: self.list(scope, k, depth - 1)
        choices = 2 * [lambda: f"(map {self.function(scope, [from_other], kind)} {again(from_other)})"]
        choices += [lambda: f"(filter {self.function(scope, [kind], 'Bool')} {again()})", lambda: f"(reverse {again()})",
                    lambda: f"({again()} ++ {again()})",
                    lambda: f"(zipWith {self.function(scope, ['Int', kind], kind)} {again('Int')} {again()})",
                    lambda: f"(map (\\(a, b) -> {self.number(scope + [('a', 'Int'), ('b', 'Double')], kind)}) (zip {again('Int')} {again('Double')}))"]
        choices += 4 * [lambda: self.comprehension(scope, kind, depth)]
        choices += [lambda: self.part(scope, kind, again), lambda: self.bound(scope, kind, depth)]
        return self.pick(*choices)

    def part(self, scope, kind, again):
        """Some elements of a list, or those of a scan. Not all of these functions have arrays."""
        test = self.function(scope, [kind], "Bool")
        return self.pick(lambda: f"({self.random.choice(['fst', 'snd'])} ({self.random.choice(['partition', 'span', 'break'])} {test} {again()}))",
                         lambda: f"({self.random.choice(['takeWhile', 'dropWhile'])} {test} {again()})",
                         lambda: f"({self.random.choice(['take', 'drop'])} {self.int(scope, 1)} {again()})",
                         lambda: f"({self.random.choice(['tail', 'init'])} {again()})",
                         lambda: f"(zipWith {self.function(scope, [kind, kind], kind)} {again()} (drop 1 {again()}))",
                         lambda: f"(scanl {self.function(scope, [kind, kind], kind)} {self.number(scope, kind, 1)} {again()})",
                         lambda: f"(case {again()} of {{ [] -> {again()}; _ : rest -> rest }})")

    def bound(self, scope, kind, depth):
        """A list that is named inside of the list that it is used for."""
        other, v = self.random.choice(["Int", "Double"]), self.name("v")
        return f"(let {v} = {self.list(scope, other, depth - 1)} in {self.list(scope + [(v, '[' + other)], kind, depth - 1)})"

    def comprehension(self, scope, kind, depth):
        parts, inner = [], list(scope)
        for _ in range(self.random.choice([1, 1, 2])):
            over, x = self.random.choice(["Int", "Double"]), self.name("x")
            parts.append(f"{x} <- {self.list(inner, over, depth - 1)}")
            inner.append((x, over))
            if self.chance(0.4):
                parts.append(self.test(inner))
            if self.chance(0.3):
                y = self.name("y")
                parts.append(f"let {y} = {self.real(inner, 1)}")
                inner.append((y, "Double"))
        return f"[{self.number(inner, kind)} | {', '.join(parts)}]"

    # ---- consumers ----

    def consumer(self, scope, depth):
        kind = self.random.choice(["Int", "Double"])
        real = (lambda e: f"fromIntegral {e}") if kind == "Int" else (lambda e: e)
        xs = self.list(scope, kind, depth)
        if depth > 0 and self.chance(0.3):
            v = self.name("v")
            inner = scope + [(v, "[" + kind)]
            return f"(let {v} = {xs} in {self.consumer(inner, depth - 1)} + {self.consumer(inner, depth - 1)})"
        if self.functions and self.chance(0.3):
            name, kinds = self.random.choice(self.functions)
            return f"({name} xs {' '.join(self.list(scope, k, depth - 1) for k in kinds)})"
        return "(" + self.pick(
            lambda: real(f"(sum {xs})"), lambda: real(f"(sum {xs})"), lambda: real(f"(product {xs})"),
            lambda: f"fromIntegral (length {xs})", lambda: real(f"(maximum {xs})"), lambda: real(f"(minimum {xs})"),
            lambda: f"foldl {self.function(scope, ['Double', kind], 'Double')} 0.5 {xs}",
            lambda: f"foldr {self.function(scope, [kind, 'Double'], 'Double')} 0.5 {xs}",
            lambda: f"(if all {self.function(scope, [kind], 'Bool')} {xs} then 1.5 else 2.5)",
            lambda: f"(if any {self.function(scope, [kind], 'Bool')} {xs} then 1.5 else 2.5)",
            lambda: f"(if and (map {self.function(scope, [kind], 'Bool')} {xs}) then 1.5 else 2.5)",
            lambda: real(f"(sum (fromList {xs} :: Array {kind}))")) + ")"

    def definition(self):
        kinds = self.random.choices(["Int", "Double"], k=self.random.choice([1, 1, 2]))
        params = [self.name("v") for _ in kinds]
        scope = [(v, "[" + k) for v, k in zip(params, kinds)]
        body = " + ".join(self.consumer(scope, 1) for _ in range(2))
        name = self.name("g")
        self.functions.append((name, kinds))
        types = "".join(f" -> [{k}]" for k in kinds)
        return f"{name} :: Array Double{types} -> Double\n{name} xs {' '.join(params)} = {body}\n  where n = length xs\n"

    def program(self):
        definitions = "".join(self.definition() for _ in range(self.random.choice([0, 1, 1, 2])))
        body = self.consumer([], self.random.choice([1, 2, 3]))
        return f"{definitions}f :: Array Double -> Double\nf xs = {body}\n  where n = length xs\n"


def outcome(cotan, command, path, extra, keep):
    environment = dict(os.environ, **({"COTAN_LISTS": "keep"} if keep else {}), COTAN_MATH="exact", COTAN_CHECK_PASSES="1")
    words = [cotan, *command(path), "--json", "--max-steps", "3000000", *extra]
    try:
        run = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60)
    except subprocess.TimeoutExpired:
        return None
    lines = [json.loads(line) for line in run.stderr.splitlines() if line.startswith("{")]
    errors = [(e["code"], e["line"], e["column"], e["message"]) for e in lines if e["code"][0] == "E"]
    if any(e[0] in ("E0801", "E0802") for e in errors):
        return None
    return run.returncode, run.stdout, errors


def check(cotan, seed, native, folder):
    path = os.path.join(folder, "lists.cot")
    with open(path, "w") as out:
        out.write(Maker(seed).program())
    point = json.dumps(POINT)
    commands = [lambda path: ["run", path, "f", "--args", json.dumps([POINT])], lambda path: ["grad", path, "f", "--at", point]]
    wrong = []
    for command in commands:
        extras = [["--engine", "eval"], *([["--engine", "native"]] if native else [])]
        for extra in extras:
            lists, arrays = outcome(cotan, command, path, extra, True), outcome(cotan, command, path, extra, False)
            same = lists is None or arrays is None or lists == arrays or command is commands[1] and is_close(lists, arrays)
            if not same:
                wrong.append((" ".join(command(path)[:1] + extra), lists, arrays))
    return wrong


def is_close(a, b):
    """Gradients add in another order."""
    if a[0] != 0 or b[0] != 0:
        return False
    x, y = json.loads(a[1]), json.loads(b[1])
    if x["value"] != y["value"]:
        return False
    return all(p == q or isinstance(p, float) and isinstance(q, float) and abs(p - q) <= 1e-9 * max(1, abs(p)) for p, q in zip(x["gradient"], y["gradient"]))


def main(options):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.count):
            wrong = check(options.cotan, seed, seed - options.first < options.native, folder)
            failed += bool(wrong)
            for how, lists, arrays in wrong:
                print(f"seed {seed}, {how}:\n{Maker(seed).program()}  lists:  {lists}\n  arrays: {arrays}\n", flush=True)
    print(f"random lists: {options.count - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--native", type=int, default=0)
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    if options.show is not None:
        print(Maker(options.show).program())
        sys.exit(0)
    sys.exit(1 if main(options) else 0)
