#!/usr/bin/env python3
"""The span of gradients, in steps (docs/parallel.md), by the methods that keep the parallelism of the program.

    tests/spans.py [--cotan PATH] [--random N] [--seed S] [--methods a,b] [--table]

    span of the gradient ≤ A + B · span of the program · log₂ of its work
    work of the gradient ≤ A + C · work of the program

for families of programs whose arrays grow, and for random compositions of array operations, each with short and long arrays.
--table prints work and span of all methods, for docs/parallel.md.
"""
import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

import families
import run as golden

# A, B and C of each method; docs/parallel.md has them too.
# evidence: CHAD §8: trees of independent terms, by let, as arguments, components, behind choices; random ones
# evidence: CHAD §8, complexity: span ≤ 3000 + 4 · span of the program · log₂ work
# evidence: DUAL §12: by tape, which numbers entries within tasks, span ≤ 3000 + 16 · span of the program · log₂ work
BOUNDS = {"chad": (3000, 4, 50), "tape": (3000, 16, 50), "delta": (3000, 12, 45), "delta-fused": (3000, 12, 35)}
SIZES = (256, 16384)

# name: text. The function h takes an array of n numbers, or, where `depth` stands in its name, a number: the depth is log₂ n.
FAMILIES = {
    "map": """h :: Array Double -> Double
h xs = reduce (+) 0 (map (\\x -> sin x * x) xs)
""",
    "map of a function": """h :: Array Double -> Double
h xs = reduce (+) 0 (map (\\x -> go 10 x) xs)

go :: Int -> Double -> Double
go k y = if k == 0 then y else go (k - 1) (sin y * y)
""",
    "build": """h :: Array Double -> Double
h xs = reduce (+) 0 (build (length xs) (\\i -> if i == 0 then xs ! i else xs ! i * xs ! (i - 1)))
""",
    "build of straight-line code": """h :: Array Double -> Double
h xs = let n = length xs in reduce (+) 0 (build n (\\i -> xs ! rem (7 * i) n * xs ! (n - 1 - i)))
""",
    "zipWith": """h :: Array Double -> Double
h xs = reduce (+) 0 (zipWith (\\x y -> if x > y then x * y else sin x) xs (reverse xs))
""",
    "a number used by all elements": """h :: Array Double -> Double
h xs = let w = xs ! 0 in reduce (+) 0 (map (\\x -> if x > 1.2 then w * x else sin (w * x)) xs)
""",
    "reduce": """h :: Array Double -> Double
h xs = reduce (\\a b -> a * b * 0.5 + a + b) 0 (map (\\x -> x / 5000) xs)
""",
    "reduce of pairs": """h :: Array Double -> Double
h xs = case reduce (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x / 1.2, x)) xs) of (a, b) -> a + b
""",
    "slices": """h :: Array Double -> Double
h xs = let n = length xs in reduce (+) 0 (zipWith (*) (slice 1 (n - 1) xs) (map sin (slice 0 (n - 1) xs)))
""",
    "nested loops": """h :: Array Double -> Double
h xs = reduce (+) 0 (build 16 (\\i -> reduce (+) 0 (map (\\x -> if x > fromIntegral i then x * x else sin x) xs)))
""",
    "rows": """h :: Array Double -> Double
h xs =
  let rows = reshape (quot (length xs) 16) 16 xs
      row r = reduce (+) 0 (map (\\x -> if x > 1.1 then sin x else x * x) r)
  in reduce (+) 0 (map row rows)
""",
    "sum types": """data Shape = Circle Double | Box Double Double

h :: Array Double -> Double
h xs = reduce (+) 0 (map area (zipWith shape xs (reverse xs)))

shape :: Double -> Double -> Shape
shape x y = if x > y then Circle (x * y) else Box x (sin y)

area :: Shape -> Double
area (Circle r) = r * r
area (Box a b) = a * b
""",
    "a tree, to the depth": """h :: Double -> Double
h x = go DEPTH x

go :: Int -> Double -> Double
go d x =
  if d == 0 then sin x
  else let ys = build 2 (\\i -> go (d - 1) (if i == 0 then x * 0.9 else x * 1.05)) in ys ! 0 * 0.5 + ys ! 1 * x
""",
    "a tree, to the depth, of sums and products": """data Value = Sum Double | Product Double Double

h :: Double -> Double
h x = number (go DEPTH x)

number :: Value -> Double
number (Sum x) = x
number (Product x y) = x * y

go :: Int -> Double -> Value
go d x =
  if d == 0 then Sum (sin x)
  else
    let vs = build 2 (\\i -> go (d - 1) (if i == 0 then x * 0.9 else x * 1.05))
    in if rem d 2 == 0 then Sum (number (vs ! 0) + x) else Product (number (vs ! 0) * 0.5) (number (vs ! 1))
""",
}

# Pairs that the program asks for (lib/Parallel.cot), which chad, tape, delta and delta-fused keep.
PAIRS = {
    "a pair, to the depth": """import Parallel

h :: Double -> Double
h x = go DEPTH x

go :: Int -> Double -> Double
go d x =
  if d == 0 then sin x
  else case inParallel (\\() -> go (d - 1) (x * 0.9)) (\\() -> go (d - 1) (x * 1.05)) of (a, b) -> a * 0.5 + b * x
""",
    "a pair of different types, to the depth": """import Parallel

data Value = Sum Double | Product Double Double

h :: Double -> Double
h x = number (go DEPTH x)

number :: Value -> Double
number (Sum x) = x
number (Product x y) = x * y

go :: Int -> Double -> Value
go d x =
  if d == 0 then Sum (sin x)
  else
    let (v, (y, z)) = inParallel (\\() -> go (d - 1) (x * 0.9)) (\\() -> let w = number (go (d - 1) (x * 1.05)) in (w, w * x))
    in if rem d 2 == 0 then Sum (number v * 0.5 + y) else Product (number v * 0.5 + z) (y * 0.5)
""",
    "pairs of functions that call each other, to the depth": """import Parallel

h :: Double -> Double
h x = even' DEPTH x

even' :: Int -> Double -> Double
even' d x = if d == 0 then x else both (inParallel (\\() -> odd' (d - 1) (x * 0.9)) (\\() -> odd' (d - 1) (x * 1.1) + x))

odd' :: Int -> Double -> Double
odd' d x = if d == 0 then sin x else both (inParallel (\\() -> even' (d - 1) (x * 0.9)) (\\() -> x * even' (d - 1) (x * 1.1)))

both :: (Double, Double) -> Double
both (a, b) = a * b * 0.5 + b * 0.5
""",
}

# What `chad` is not asked: see docs/parallel.md.
FURTHER = {
    "one element read by all": """h :: Array Double -> Double
h xs = reduce (+) 0 (map (\\y -> xs ! 0 * y) xs)
""",
    "a tree over an array": """h :: Array Double -> Double
h xs = go xs 0 (length xs)

go :: Array Double -> Int -> Int -> Double
go xs low n =
  if n == 1 then sin (xs ! low)
  else
    let half = quot n 2
        ys = build 2 (\\i -> if i == 0 then go xs low half else go xs (low + half) (n - half))
    in ys ! 0 * ys ! 1 + ys ! 0
""",
    "steps in parallel": """h :: Array Double -> Double
h xs = reduce (+) 0 (go 20 xs)

go :: Int -> Array Double -> Array Double
go k xs = if k == 0 then xs else let n = length xs in go (k - 1) (build n (\\i -> sin (xs ! i) + 0.5 * xs ! rem (i + 1) n))
""",
    "rows made": """h :: Array Double -> Double
h xs =
  let rows = reshape (quot (length xs) 16) 16 xs
      made = map (\\r -> map (\\x -> if x > 1.1 then x * x else sin x) r) rows
  in reduce (+) 0 (map (\\r -> reduce (+) 0 r) made)
""",
}

# Recursions whose branches are independent terms. Only `chad` keeps them so: see docs/parallel.md, and IN_SEQUENCE.
TERMS = {
    "a sum, to the depth": """h :: Double -> Double
h x = go DEPTH x

go :: Int -> Double -> Double
go d x = if d == 0 then sin x else go (d - 1) (x * 0.9) * 0.5 + go (d - 1) (x * 1.05) * x
""",
    "pairs, by let, to the depth": """h :: Double -> Double
h x = let (a, b) = go DEPTH x in a + b

go :: Int -> Double -> (Double, Double)
go d x =
  if d == 0 then (sin x, x)
  else
    let (a, b) = go (d - 1) (x * 0.9)
        (c, e) = go (d - 1) (x * 1.1)
    in (a * c, b * 0.5 + e * 0.5)
""",
    "records, by where, to the depth": """data Total = Total { value :: Double, weight :: Double }

h :: Double -> Double
h x = value total * 0.5 + weight total
  where
    total = go DEPTH x
    go d y = if d == 0 then Total { value = sin y, weight = x } else join (go (d - 1) (y * 0.9)) (go (d - 1) (y * 1.1))
    join a b = Total { value = value a * 0.5 + value b * x, weight = weight a * weight b }
""",
    "components of a tuple, to the depth": """h :: Double -> Double
h x = go DEPTH x

go :: Int -> Double -> Double
go d x =
  if d == 0 then sin x
  else case (go (d - 1) (x * 0.9), go (d - 1) (x * 1.1)) of
    (a, b) -> if a > b then a * 0.5 + b else a + b * 0.5
""",
    "terms behind choices, to the depth": """h :: Double -> Double
h x = go DEPTH x

go :: Int -> Double -> Double
go d x
  | d == 0 = sin x
  | otherwise = (if x > 0.1 then go (d - 1) (x * 0.9) * 0.5 else 0.1) + (if x < 100 then go (d - 1) (x * 1.1) * 0.5 else x)
""",
    "arguments, of functions that call each other, to the depth": """h :: Double -> Double
h x = even' DEPTH x

even' :: Int -> Double -> Double
even' d x = if d == 0 then x else both (odd' (d - 1) (x * 0.9)) (odd' (d - 1) (x * 1.1))

odd' :: Int -> Double -> Double
odd' d x = if d == 0 then sin x else both (even' (d - 1) (x * 0.9)) (even' (d - 1) (x * 1.1))

both :: Double -> Double -> Double
both a b = a * b * 0.5 + b * 0.5
""",
    "a tree of data, built and folded, to the depth": """data Tree a = Leaf a | Node (Tree a) (Tree a)

h :: Double -> Double
h x = fold (\\y -> y * x) (\\a b -> a * 0.5 + b * 0.5) (grow DEPTH x)

grow :: Int -> Double -> Tree Double
grow d x = if d == 0 then Leaf (sin x) else Node (grow (d - 1) (x * 0.9)) (grow (d - 1) (x * 1.1))

fold :: (a -> b) -> (b -> b -> b) -> Tree a -> b
fold f g (Leaf a) = f a
fold f g (Node l r) = g (fold f g l) (fold f g r)
""",
    "arrays put together, to the depth": """h :: Double -> Double
h x = reduce (+) 0 (go DEPTH x)

go :: Int -> Double -> Array Double
go d x = if d == 0 then [|x, sin x|] else append (go (d - 1) (x * 0.9)) (go (d - 1) (x * 1.01))
""",
    "three branches, of Floats, to the depth": """h :: Double -> Double
h x = realToFrac (go DEPTH (realToFrac x))

go :: Int -> Float -> Float
go d x = if d < 2 then sin x else go (d - 2) (x * 0.9) * 0.3 + go (d - 3) (x * 0.5) + go (d - 2) x * 0.3
""",
}

# The methods whose gradients have the terms of the program in sequence. When one of them keeps terms, this fails: then it belongs to
# in_terms, and docs/parallel.md has to change.
IN_SEQUENCE = ("tape", "delta", "delta-fused")

# The first of TERMS, with a budget: as long as it is above one, the branches are elements of a `build`, and have half of it each.
BUDGETED = """h :: Double -> Double
h x = go BUDGET DEPTH x

go :: Int -> Int -> Double -> Double
go b d x
  | d == 0 = sin x
  | b < 2 = go b (d - 1) (x * 0.9) * 0.5 + go b (d - 1) (x * 1.05) * x
  | otherwise =
      let ys = build 2 (\\i -> go (quot b 2) (d - 1) (if i == 0 then x * 0.9 else x * 1.05))
      in ys ! 0 * 0.5 + ys ! 1 * x
"""
BUDGETS = (1, 2, 4, 16, 64, 256, 16384)

TABLE = ("map of a function", "reduce", "a sum, to the depth", "a pair, to the depth")
METHODS = ("chad", "bulk", "tape", "delta", "delta-fused", "dual-arrays")


class Maker:
    """Random programs over an array of n numbers, whose own span is a logarithm; with `terms` some of them recursions with
    independent terms, with `pairs` with terms in pairs that are asked for."""

    def __init__(self, seed, terms=False, pairs=False):
        self.random = random.Random(seed)
        self.terms = terms or pairs
        self.pairs = pairs
        self.names = 0

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def number(self, vars_, depth):
        """An expression of type Double."""
        pick = self.random.randrange(9 + 2 * self.terms if depth > 0 else 3)
        one = lambda: self.number(vars_, depth - 1)
        if pick < 2:
            return self.random.choice(vars_)
        if pick == 2:
            return f"{self.random.randrange(1, 9) / 4}"
        if pick == 3:
            return f"({one()} * {one()} / 4)"
        if pick == 4:
            return f"({one()} + {one()})"
        if pick == 5:
            return f"sin ({one()})"
        if pick == 6:
            return f"(if {one()} > {one()} then {one()} else {one()})"
        if pick == 7:
            return f"(case (if {one()} > 1.1 then Just ({one()}) else Nothing) of {{ Just j -> j * 0.5; Nothing -> {one()} }})"
        if pick == 8:
            return f"turns {self.random.randrange(2, 6)} ({one()})"
        return f"branches {self.random.randrange(2, 6)} ({one()}) ({one()})"

    def array(self, arrays, numbers, depth):
        """An expression of type Array Double, of n elements."""
        pick = self.random.randrange(8) if depth > 0 else 0
        one = lambda: self.array(arrays, numbers, depth - 1)
        if pick == 0:
            return self.random.choice(arrays)
        if pick in (1, 2):
            x = self.name()
            return f"(map (\\{x} -> {self.number([x, x, *numbers], 3)}) {one()})"
        if pick == 3:
            x, y = self.name(), self.name()
            return f"(zipWith (\\{x} {y} -> {self.number([x, y, *numbers], 3)}) {one()} {one()})"
        if pick == 4:
            i, a, b = self.name(), self.random.choice(arrays), self.random.choice(arrays)
            reads = [f"({a} ! {i})", f"({b} ! rem ({self.random.choice((3, 5, 7))} * {i} + 1) n)"]
            return f"(build n (\\{i} -> {self.number([*reads, *numbers], 3)}))"
        if pick == 5:
            return f"(reverse {one()})"
        if pick == 6:
            a = self.name()
            return f"(let {a} = {one()} in append (slice (quot n 2) (n - quot n 2) {a}) (slice 0 (quot n 2) {a}))"
        a = self.name()
        return f"(let {a} = {one()} in {self.array([*arrays, a, a], numbers, depth - 1)})"

    def result(self, arrays, numbers, depth):
        """An expression of type Double over whole arrays."""
        pick = self.random.randrange(6 + 3 * self.terms) if depth > 0 else 0
        whole = self.array(arrays, numbers, 2)
        if pick == 6 and self.pairs:
            one = self.name()
            if self.random.random() < 0.5:
                return (f"(case inParallel (\\() -> {self.result(arrays, numbers, depth - 1)}) (\\() -> {self.result(arrays, numbers, depth - 1)}) "
                        f"of (p, q) -> p * 0.5 + q * q / fromIntegral n)")
            return (f"(case inParallel (\\() -> {whole}) (\\() -> {self.result(arrays, numbers, depth - 1)} / fromIntegral n) "
                    f"of (p, q) -> reduce (+) 0 (map (\\{one} -> {self.number([one, 'q'], 2)}) p))")
        if pick == 6:
            return f"({self.result(arrays, numbers, depth - 1)} * 0.5 + {self.result(arrays, numbers, depth - 1)})"
        if pick > 6:
            return f"branches n ({self.number(numbers, 2)}) (reduce (+) 0 {whole} / fromIntegral n)"
        if pick < 2:
            return f"reduce (+) 0 {whole}"
        if pick == 2:
            return f"reduce (\\a b -> a * b * 0.001 + a + b) 0 (map (\\e -> e / fromIntegral n) {whole})"
        if pick == 3:
            return f"(case reduce (\\(a, b) (c, d) -> (a + c, b + d * 0.5)) (0, 0) (map (\\e -> (e, e * e)) {whole}) of (a, b) -> a + b)"
        if pick == 4:
            i, x, y, a = self.name(), self.name(), self.name(), self.random.choice(arrays)
            inner = f"reduce (+) 0 (map (\\{y} -> {self.number([x, y, *numbers], 2)}) (slice (rem (3 * {i}) (n - 8)) 8 {a}))"
            return f"reduce (+) 0 (zipWith (\\{i} {x} -> {inner}) (iota n) {whole})"
        w = self.name()
        return f"(let {w} = {self.result(arrays, numbers, depth - 1)} / fromIntegral n in {self.result(arrays, [*numbers, w], depth - 1)})"

    def program(self):
        return ("import Parallel\n\n" if self.pairs else "") + f"""h :: Array Double -> Double
h xs = let n = length xs in {self.result(["xs"], ["0.75"], 2)}

turns :: Int -> Double -> Double
turns k x = if k == 0 then x else turns (k - 1) (sin x * 0.5 + x * 0.5)
""" + (self.branches() if self.terms else "")

    def branches(self):
        """A recursion with two or three branches, whose depth is log₂ of its first argument."""
        self.terms = False
        calls = [f"branches (quot k 2) ({self.number(['x', 'y'], 1)} * 0.5) ({self.number(['x', 'y'], 1)} * 0.5)" for _ in range(2)]
        a, b = calls if self.random.random() < 0.5 else [f"(if {self.number(['x', 'y'], 1)} < 2 then {call} else y)" for call in calls]
        form = f"case inParallel (\\() -> {a}) (\\() -> {b}) of (p, q) -> p * 0.5 + q * 0.3 * x" if self.pairs else self.random.choice((
            f"{a} * 0.5 + {b} * 0.4 * x", f"let {{ p = {a}; q = {b} }} in p * 0.5 + q * 0.5 + y",
            f"case ({a}, {b}) of (p, q) -> p * 0.5 + q * 0.3", f"hypot ({a}) ({b}) * 0.5"))
        return f"""
branches :: Int -> Double -> Double -> Double
branches k x y = if k <= 1 then sin x + y else {form}
"""


class Run:
    def __init__(self, cotan, folder):
        self.cotan, self.path = cotan, os.path.join(folder, "program.cot")
        self.passed = self.failed = 0
        self.most = {method: [0.0, 0.0] for method in BOUNDS}

    def check(self, holds, text):
        if not holds:
            print(f"FAIL {text}")
        self.passed += holds
        self.failed += not holds

    def counts(self, name, source, n, method):
        """Work and span of the program, and of its gradient."""
        depth = "depth" in name
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(source.replace("DEPTH", str(n.bit_length() - 1)))
        at = "0.5" if depth else json.dumps([round(x, 4) for x in families.reals(n)], separators=(",", ":"))
        command = [self.cotan, "grad", self.path, "h", "--at", at, "--count", "--json", "--method", method]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            sys.exit(f"{name}, {method}:\n{source}\n{done.stderr}")
        found = json.loads(done.stdout)
        self.gradient = found["gradient"]
        return found["primal_steps"], found["primal_span"], found["steps"], found["span"]

    def agrees(self, name, source, method):
        """The gradient is that of `chad`, but for rounding."""
        both = []
        for one in (method, "chad"):
            self.counts(name, source, SIZES[0], one)
            both.append(self.gradient if isinstance(self.gradient, list) else [self.gradient])
        largest = max(map(abs, both[1]))
        differ = [i for i, (a, b) in enumerate(zip(*both, strict=True)) if not abs(a - b) <= 1e-9 * largest]
        self.check(not differ, f"{name}: {method} and chad differ at {differ[:5]}\n{source}")

    def holds(self, name, source, method):
        a, b, c = BOUNDS[method]
        most = self.most[method]
        if method != "chad":
            self.agrees(name, source, method)
        for n in SIZES:
            work, span, grad_work, grad_span = self.counts(name, source, n, method)
            log = math.log2(work)
            most[0] = max(most[0], (grad_span - a) / (span * log))
            most[1] = max(most[1], (grad_work - a) / work)
            self.check(grad_span <= a + b * span * log and grad_work <= a + c * work,
                       f"{name}, {method}, n = {n}: work {work}, span {span}; gradient {grad_work}, {grad_span}\n{source}")


def in_terms(run, options):
    programs = [*TERMS.items(), *((f"random program {options.seed + i}, of terms", Maker(options.seed + i, True).program())
                                  for i in range(options.random))]
    for name, source in programs:
        run.holds(name, source, "chad")
        run.agrees(name, source, "tape")


def in_pairs(run, options, method):
    # evidence: CHAD §8: pairs in parallel that the program asks for, by chad, tape, delta and delta-fused
    for name, source in PAIRS.items():
        run.holds(name, source, method)
    for i in range(options.random):
        run.holds(f"random program {options.seed + i}, of pairs", Maker(options.seed + i, pairs=True).program(), method)


def in_sequence(run):
    """What docs/parallel.md says of terms by these methods: in sequence, with one exception, of which half is. The arrays of the exception
    are put together by loops, which are parallel."""
    for name, source in TERMS.items():
        for method in IN_SEQUENCE:
            _, _, work, span = run.counts(name, source, SIZES[0], method)
            part = 0.35 if "arrays" in name else 0.9
            run.check(span >= part * work, f"{name}, {method}: no longer in sequence, work {work}, span {span}")


def budgets(run):
    """Work and span of gradients of BUDGETED, for each budget and method: a row of docs/parallel.md for each budget."""
    for budget in BUDGETS:
        row = []
        for method in IN_SEQUENCE:
            row += run.counts("to the depth", BUDGETED.replace("BUDGET", str(budget)), SIZES[1], method)[2:]
        yield budget, row


def budgets_of_docs(run):
    text = golden.read(os.path.join(golden.ROOT, "docs", "parallel.md"))
    rows = re.findall(r"^\| ([\d,]+)((?: \| [\d,]+){6}) \|$", text, re.MULTILINE)
    number = lambda digits: int(digits.replace(",", ""))
    documented = {number(budget): [number(one) for one in row.split(" | ")[1:]] for budget, row in rows}
    run.check(sorted(documented) == sorted(BUDGETS), f"docs/parallel.md has the budgets {sorted(documented)}")
    for budget, row in budgets(run):
        told = documented.get(budget, [])
        near = len(told) == len(row) and all(abs(a - b) <= 0.1 * a for a, b in zip(row, told, strict=True))
        run.check(near, f"a budget of {budget}: {row}, but docs/parallel.md has {told}")


def table(run):
    for name in TABLE:
        print(f"\n| {name} | work, n = {SIZES[0]} | span | work, n = {SIZES[1]} | span |\n|---|---|---|---|---|")
        rows = {method: [run.counts(name, {**FAMILIES, **TERMS, **PAIRS}[name], n, method) for n in SIZES] for method in METHODS}
        few, many = rows["chad"]
        print(f"| alone | {few[0]:,} | {few[1]:,} | {many[0]:,} | {many[1]:,} |")
        for method, (few, many) in rows.items():
            print(f"| `{method}` | {few[2]:,} | {few[3]:,} | {many[2]:,} | {many[3]:,} |")
    print("\n| budget |" + "".join(f" `{method}`: work | span |" for method in IN_SEQUENCE) + "\n|---|" + "---|---|" * len(IN_SEQUENCE))
    for budget, row in budgets(run):
        print(f"| {budget:,} | " + " | ".join(f"{one:,}" for one in row) + " |")


def constants_of_docs(run):
    text = golden.read(os.path.join(golden.ROOT, "docs", "parallel.md"))
    rows = re.findall(r"^\| `([a-z-]+)` \| ([\d,]+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    constants = {method: tuple(int(number.replace(",", "")) for number in numbers) for method, *numbers in rows}
    run.check(constants == BOUNDS, f"docs/parallel.md has {constants}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--random", type=int, default=40, metavar="N", help="how many random programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--methods", default=",".join(BOUNDS))
    parser.add_argument("--table", action="store_true", help="print work and span of all methods instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(os.path.abspath(options.cotan), folder)
        if options.table:
            table(run)
            return
        for method in options.methods.split(","):
            for name, source in {**FAMILIES, **({} if method == "chad" else FURTHER)}.items():
                run.holds(name, source, method)
            for i in range(options.random):
                run.holds(f"random program {options.seed + i}", Maker(options.seed + i).program(), method)
            in_pairs(run, options, method)
            if method == "chad":
                in_terms(run, options)
            print("{}: at most span {:.1f}, work {:.1f}".format(method, *run.most[method]))
        in_sequence(run)
        constants_of_docs(run)
        budgets_of_docs(run)
    print(f"spans: {run.passed} passed, {run.failed} failed")
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
