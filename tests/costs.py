#!/usr/bin/env python3
"""What the methods cost, in steps (docs/cost-model.md), against what their papers say.

    tests/costs.py [--cotan PATH] [--random N] [--methods a,b]

- On terms with much sharing the naive methods take exponential time; `vector` takes time in proportion to the inputs.
- The others stay under a constant, the same on growing programs, on all golden programs and on random programs.
- The Delta terms of `bulk` have as many nodes whatever the sizes of the arrays.
- Moving a component of a wide state costs `chad` steps, and the other methods none (docs/chad.md).
- The memory of a gradient is at most a constant for each step of the program.
- The memory of `cotan explain` does not grow with the product of the values and their parts.
- `taylor n` takes a constant times (n + 1)² times the program, and less than nested derivatives.
- A loop with checkpoints runs as many steps as Revolve's formula says, also if it gets them from a memory limit.
- What a function of a library becomes does not depend on the program that differentiates it.
The constants stand here and nowhere else, but for the table of docs/methods.md, which has to be the same.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import corpus
import families
import run as golden

# A gradient takes at most so many steps for each step of the program and each part of its point and result.
CONSTANTS = {"delta": 45, "delta-fused": 35, "dual-arrays": 45, "dual-defunc": 45, "tape": 50,
             "bulk": 60, "chad": 75}
# The same, and for each doubling of the number of operations: steps ≤ c · (program + sizes) · log2(trace + 2).
LOGARITHMIC = {"dual-staged": 80, "dual-cayley": 50}

TAYLOR = 20  # steps ≤ TAYLOR · (n + 1)² · (steps of the program + 1)
EXPONENTIAL = ("dual-naive", "delta-tree")
BY_INPUTS = ("vector", "forward", "taylor")
BY_ENVIRONMENT = ("chad-naive", "chad-sparse")  # each use of a variable takes time with the variables in scope
# Bytes at the peak for each step of the program and each part of its point and result, above those of an empty program.
MEMORY, EMPTY = 150, 70000
# Kilobytes of `cotan explain` for 1500 numbers, above those for 100.
EXPLAINED = 60000
# Steps of `chad` for each step of the program and each component that it moves in tuples or arguments.
WIDTH = 25
# Those whose inner derivatives convert what is captured to dual numbers.
CONVERTING = ("tape", "delta", "delta-fused", "dual-arrays", "dual-defunc", "dual-staged", "dual-cayley", "chad")
RUN_AGAIN = ("tape", "chad", "chad-sparse")  # those on the evaluator that run checkpointed calls again
NATIVE = 20  # the same for `native`, whose steps are those of Flow
GROWTH = 1.15  # of the cost for each step, from a size to four times the size


def size(value):
    """The parts of a value in JSON."""
    if isinstance(value, dict):
        return 1 + sum(size(part) for part in value.values())
    if isinstance(value, list):
        return 1 + sum(size(part) for part in value)
    return max(1, len(value)) if isinstance(value, str) else 1


class Cost:
    """What `--count --json` says of a gradient. `scale`: the steps of the program and the parts of point and result."""

    def __init__(self, answer):
        self.steps = answer["steps"]
        derivative = answer["gradient"] if "gradient" in answer else answer["cotangent"]
        self.derivative = derivative
        self.scale = answer["primal_steps"] + size(answer["value"]) + size(derivative)
        self.primal, self.memory = answer["primal_steps"], answer["peak_memory"]
        self.trace = answer.get("trace")


class Run:
    def __init__(self, cotan, methods):
        self.cotan, self.methods = cotan, methods
        self.passed = self.failed = 0
        self.largest = {}  # method ▶ (cost for each step, where)

    def of(self, names):
        return [name for name in names if name in self.methods]

    def check(self, holds, text):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {text}")

    def note(self, method, cost, where):
        if cost > self.largest.get(method, (0, ""))[0]:
            self.largest[method] = (cost, where)

    def gradient(self, folder, source, at, method, memory="4G"):
        """The cost of the gradient of f at a point."""
        path = os.path.join(folder, "program.cot")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        command = [self.cotan, "grad", path, "f", "--at", "-", "--count", "--json", "--method", method,
                   "--max-memory", memory]
        done = subprocess.run(command, input=families.point(at).encode(), capture_output=True, timeout=300)
        if done.returncode != 0:
            self.check(False, f"{' '.join(command)}\n{done.stderr.decode()}")
            return None
        return Cost(json.loads(done.stdout))


def unit(cost, method):
    """The steps for each step of the program, and for each doubling of the trace where the method may take them."""
    return cost.steps / cost.scale / (math.log2(cost.trace + 2) if method in LOGARITHMIC else 1)


def exponential(run, folder):
    """Four more bindings, each of which uses the one before twice: 16 times the steps."""
    # evidence: DELTA §5.3: four more take 14 to 17 times the steps, by delta-tree
    # evidence: DUAL §5.4: four more take 14 to 17 times the steps, by dual-naive
    # evidence: DUAL 2023 §12.2: delta-tree takes as many times more as dual-naive
    for op in "+*":
        source = families.nested(op)
        for method in run.of(EXPONENTIAL):
            few, many = (run.gradient(folder, source(n), 1, method) for n in (10, 14))
            if few and many:
                ratio = many.steps / few.steps
                text = f"{method}: x{op}x nested 10 and 14 deep takes {few.steps} and {many.steps} steps, {ratio:.2f} times"
                run.check(14 < ratio < 17, text)
                print(text)


def fibonacci(run, folder):
    """Each sum uses the two before it: naively four more take 6.85 times the steps, the fourth power of the golden ratio."""
    # evidence: DUAL §2: four more take 6.3 to 7.4 times the steps, by dual-naive
    # evidence: DUAL 2023 Fig. 2: four more take 6.3 to 7.4 times the steps
    for method in run.of(EXPONENTIAL):
        few, many = (run.gradient(folder, families.fibonacci(n), [1, 2], method) for n in (16, 20))
        if few and many:
            text = f"{method}: sums of the two before, 16 and 20 deep, take {few.steps} and {many.steps} steps"
            run.check(6.3 < many.steps / few.steps < 7.4, text)
            print(text)


def by_inputs(run, folder):
    """On one program with 4 … 32 inputs the steps lie on a line, which rises by more than a step for each operation."""
    # evidence: DELTA Figs. 5, 6: steps on a line over 4 to 32 inputs, by vector
    # evidence: DELTA §5.2: more than a step for each operation and input, by vector and forward
    # evidence: DELTA §3.2: forward: in proportion to the inputs
    # evidence: DUAL 2023 §12.2: vector: in proportion to the inputs
    inputs = [4, 8, 16, 32]
    for method in run.of(BY_INPUTS):
        costs = [run.gradient(folder, families.INPUTS, families.reals(k), method) for k in inputs]
        if None in costs:
            continue
        steps = [cost.steps for cost in costs]
        mean_k, mean_steps = sum(inputs) / len(inputs), sum(steps) / len(steps)
        slope = sum((k - mean_k) * (s - mean_steps) for k, s in zip(inputs, steps))
        slope /= sum((k - mean_k) ** 2 for k in inputs)
        apart = max(abs(mean_steps + slope * (k - mean_k) - s) / s for k, s in zip(inputs, steps))
        operations = 3 * 2000
        text = f"{method}: {slope:.0f} steps for each input of {operations} operations; off the line by {apart:.1%}"
        run.check(apart < 0.05 and slope > operations, f"{text}: {steps}")
        print(text)


def growing(run, folder):
    """Programs of size n, 2n, 4n: the cost for each step does not grow."""
    # evidence: DELTA §8.5: recursion, trees, lists of sizes n, 2n, 4n: the cost for each step grows {GROWTH} times at most
    # evidence: DELTA §5.3.3: the cost for each step does not grow with the trace
    # evidence: DELTA Lemma 3 (1): the cost for each step, of both passes, does not grow with the program
    # evidence: DELTA Lemma 3 (2): at most {MEMORY} bytes for each step of the program and part of point and result
    # evidence: DELTA Theorem 5 (2): at most {MEMORY} bytes for each step of the program and part of point and result
    # evidence: DUAL §10, efficiency: loops, recursion, data, functions, arrays, derivatives inside: the cost for each step does not grow
    # evidence: DUAL 2023 §7, space: at most {MEMORY} bytes for each step, by dual-arrays, dual-defunc and tape
    # evidence: BULK §4.4: arrays by elements and by gathers: the cost for each step does not grow, by bulk
    for name, (source, point, n) in families.GROWING.items():
        for method in run.of([*CONSTANTS, *LOGARITHMIC]):
            costs = [run.gradient(folder, source(k), point(k), method) for k in (n, 2 * n, 4 * n)]
            if None in costs:
                continue
            units = [unit(cost, method) for cost in costs]
            for k, u in zip((n, 2 * n, 4 * n), units):
                run.note(method, u, f"{name}, {k}")
            run.check(units[2] <= GROWTH * units[0],
                      f"{method}, {name}, sizes {n}, {2 * n}, {4 * n}: {[f'{u:.2f}' for u in units]} a step")
            if method in CONSTANTS:
                memory, limit = costs[2].memory, EMPTY + MEMORY * costs[2].scale
                run.check(memory <= limit, f"{method}, {name}, size {4 * n}: {memory} bytes at the peak, above {limit}")


def widths(run, folder):
    """What an iteration costs where the state has 2 … 30 components, from the difference of 400 and 200 iterations."""
    # evidence: CHAD §4, n-ary tuples: at most {WIDTH} steps for each step and each of 2 to 30 components; {CONSTANTS[chad]} for each step with pairs
    sizes = (2, 5, 10, 20, 30)
    for kind, source in families.WIDE.items():
        for method in run.of([*CONSTANTS, *LOGARITHMIC]):
            costs = [[run.gradient(folder, source(w), [[0.5] * w, n], method) for n in (200, 400)] for w in sizes]
            if any(cost is None for pair in costs for cost in pair):
                continue
            rows = [((many.steps - few.steps) / 200, (many.primal - few.primal) / 200) for few, many in costs]
            steps, primal = zip(*rows)
            text = f"{method}, {kind} of {sizes}: an iteration takes {[f'{s:g}' for s in steps]} steps, alone {[f'{p:g}' for p in primal]}"
            if kind == "nested pairs":
                limit = {**CONSTANTS, **LOGARITHMIC}[method]
                run.check(all(s <= limit * p for s, p in rows), text)
            elif method == "chad":
                run.check(all(s <= WIDTH * (p + w) for (s, p), w in zip(rows, sizes)), text)
                run.check(primal[0] == primal[-1] and steps[-1] - steps[0] > 10 * (sizes[-1] - sizes[0]), text)
            else:
                run.check(steps[-1] <= GROWTH * steps[0], text)
            if method in ("chad", "tape"):
                print(text)


STEPS = re.compile(r"checked: 1 programs, \d+ steps, (\d+) with updates in place: a result")


def native_steps(run, path, words, at):
    """The steps of native code, counted by the interpreter of Flow."""
    command = [run.cotan, *words, "--engine", "native"]
    done = subprocess.run(command, input=families.point(at).encode(), capture_output=True, timeout=300,
                          env={**os.environ, "COTAN_CHECK_PASSES": "4", "COTAN_NATIVE": "require"})
    counts = STEPS.findall(done.stderr.decode())
    if done.returncode != 0 or len(counts) != 1:
        run.check(False, f"{' '.join(command)}\n{done.stderr.decode()}")
        return None
    return int(counts[0])


def natively(run, folder):
    """By `native`, a gradient takes at most a constant times the steps of the program, which does not grow."""
    largest = (0, "nothing")
    for name, (source, point, n) in {**families.GROWING, **families.NAMES}.items():
        units = []
        for k in (n, 3 * n):
            path = os.path.join(folder, "program.cot")
            with open(path, "w", encoding="utf-8") as file:
                file.write(source(k))
            primal = native_steps(run, path, ["run", path, "f", "--args", "-"], [point(k)])
            steps = native_steps(run, path, ["grad", path, "f", "--at", "-"], point(k))
            if primal is None or steps is None:
                break
            units.append(steps / (primal + size(point(k))))
            largest = max(largest, (units[-1], f"{name}, {k}"))
        if len(units) == 2:
            run.check(units[1] <= GROWTH * units[0], f"native, {name}, sizes {n}, {3 * n}: {units}")
    run.check(largest[0] <= NATIVE, f"native: {largest[0]:.2f} steps a step, above {NATIVE}, on {largest[1]}")
    print(f"native: at most {largest[0]:.2f} steps for each step; the constant is {NATIVE}; on {largest[1]}")


def on_golden_programs(run, sample, offset):
    """Every `cotan grad` and `cotan vjp` of the golden programs that gives a derivative. Where a program gives a rule for
    one, it costs what the rule does; with checkpoints, what checkpoints() says. With --wrt the trace is not counted."""
    found, _ = corpus.commands([], False)
    fails = re.compile(r"^exit|^(! )?error", re.MULTILINE)
    rule = re.compile(r"\b(with(Vjp|Jvp)|checkpointed\w*)\b")
    found = [c for c in found if c.verb in ("grad", "vjp") and not fails.search(c.expected) and "--wrt" not in c.text
             and "$(" not in c.text and not rule.search(golden.read(c.path))]

    def ask(command, method):
        # A command that already has --json takes it twice, which changes nothing.
        text = command.run(f" --json --count --method {method}", run.cotan, 300)
        line = next((line for line in text.splitlines() if line.startswith('{"value"')), None)
        return Cost(json.loads(line)) if line else None

    methods = run.of([*CONSTANTS, *LOGARITHMIC])
    jobs = [(command, method) for command in found for method in methods][offset % sample::sample]
    with ThreadPoolExecutor(max_workers=corpus.WORKERS) as pool:
        costs = dict(zip(((c.shown(), m) for c, m in jobs), pool.map(lambda job: ask(*job), jobs)))
    for command, method in jobs:
        cost = costs[command.shown(), method]
        run.check(cost is not None, f"{method} gives no count: {command.shown()}")
        if cost:
            run.note(method, unit(cost, method), command.shown())


def on_random_programs(run, count):
    program = os.path.join(os.path.dirname(run.cotan), "tests", "random_programs")
    methods = run.of([*CONSTANTS, *LOGARITHMIC])
    done = subprocess.run([program, "--count", str(count), "--methods", ",".join(methods), "--costs"],
                          capture_output=True, text=True, check=False)
    costs = re.findall(r"^cost of (\S+): (\S+), by the logarithm (\S+)$", done.stdout, re.MULTILINE)
    measured = {name: by_log if name in LOGARITHMIC else cost for name, cost, by_log in costs}
    for method in methods:
        run.check(method in measured, f"random programs tell no cost of {method}:\n{done.stdout}{done.stderr}")
        run.note(method, float(measured.get(method, 0)), "a random program")


def captured(run, folder):
    """A derivative that reads elements of a captured table costs as much for a table of twice the size: n of them take twice the steps."""
    for method in run.of(CONVERTING):
        few, many = (run.gradient(folder, families.CAPTURED, [0.5, [i / n for i in range(n)]], method) for n in (128, 256))
        if few and many:
            run.check(many.primal < 2.1 * few.primal, f"{method}: 128 and 256 derivatives take {few.primal} and {many.primal} steps")
            text = f"{method}: gradients of 128 and 256 derivatives that read a table take {few.steps} and {many.steps} steps"
            run.check(many.steps < 2.5 * few.steps, text)
            print(text)


CHECKPOINTED = """import Checkpoint
f :: Double -> Double
f x = checkpointedLoop {c} (\\s i -> if {condition} == 7 then s * 1.5 + x else s * 0.5 + x) x {n}
repeated = repeatedSteps {c} {n}
"""


def revolve(c, n):
    """The least number of steps that a reverse sweep over n steps runs again with c stored states: r n - β(c + 1, r - 1) with
    β(c, r) = (c + r)! / (c! r!) and the least r that has n ≤ β(c, r) (Griewank and Walther 2000)."""
    r = 0
    while math.comb(c + r, c) < n:
        r += 1
    return r * n - math.comb(c + r, c + 1)


def checkpoints(run, folder):
    """A checkpointed loop runs its steps as often as Revolve's formula says: that many are added by each step that a
    longer condition in them takes. The library's own formula says the same."""
    for method in run.of(RUN_AGAIN):
        for c, n in ((1, 1), (1, 2), (1, 30), (2, 3), (2, 100), (3, 20), (4, 126), (4, 127), (9, 5), (10, 500)):
            costs = [run.gradient(folder, CHECKPOINTED.format(c=c, n=n, condition=condition), 0.5, method)
                     for condition in ("i", "i * i * i")]
            if None in costs:
                continue
            steps = (costs[1].steps - costs[0].steps) / 2
            wanted = revolve(c, n) + n
            run.check(steps == wanted, f"{method}: {n} steps with {c} stored states are run {steps} times, not {wanted}")
    for c, n in ((1, 30), (3, 20), (3, 21), (20, 1000000)):
        path = os.path.join(folder, "program.cot")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CHECKPOINTED.format(c=c, n=n, condition="i"))
        done = subprocess.run([run.cotan, "run", path, "repeated"], capture_output=True, text=True, check=True)
        run.check(int(done.stdout) == revolve(c, n), f"repeatedSteps {c} {n} is {done.stdout.strip()}, not {revolve(c, n)}")


UNCHECKED = """f :: Double -> Double
f x = fst (foldl (\\(s, t) i -> (sin (t * (if {condition} == 7 then s * 1.5 + t else s * 0.5 + t)), t)) (x, x) (iota {n}))
"""


def checkpoints_by_limit(run, folder):
    """A loop without checkpoints gets some where its trace does not fit into the memory limit: the derivative is the same, in a tenth of
    the memory at most, and its steps run as often as Revolve's formula says for 2 log₂ n + 1 stored states."""
    n = 300000
    c = 2 * int(math.log2(n)) + 1
    for method in run.of(RUN_AGAIN):
        plain = run.gradient(folder, UNCHECKED.format(n=n, condition="i"), 0.5, method)
        costs = [run.gradient(folder, UNCHECKED.format(n=n, condition=condition), 0.5, method, memory="16M")
                 for condition in ("i", "i * i * i")]
        if plain is None or None in costs:
            continue
        steps = (costs[1].steps - costs[0].steps) / 2
        wanted = revolve(c, n) + n
        run.check(steps == wanted, f"{method}: {n} steps beneath a memory limit are run {steps} times, not {wanted}")
        run.check(costs[0].memory * 10 < plain.memory,
                  f"{method}: {costs[0].memory} bytes beneath a memory limit, {plain.memory} without")
        run.check(costs[0].derivative == plain.derivative,
                  f"{method}: {costs[0].derivative} beneath a memory limit, {plain.derivative} without")
        print(f"{method}: {n} steps in {plain.memory} bytes, or {wanted} steps in {costs[0].memory}")


SQUARES = "f :: Array Double -> Double\nf xs = sum (map (\\x -> x * x) xs)\n"


def explanations(run, folder):
    """The memory of `cotan explain`: what it notes of the parts of one value, of which a page has thousands, it does not keep."""
    path = os.path.join(folder, "program.cot")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SQUARES)
    for method in run.of([*CONSTANTS, *LOGARITHMIC]):
        peaks = []
        for count in (100, 1500):
            words = [run.cotan, "explain", path, "f", "--at", json.dumps([1.5] * count), "--method", method]
            running = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
            run.check(running.returncode == 0, f"explain by {method} fails: {running.returncode}")
            peaks.append(usage.ru_maxrss)
        run.check(peaks[1] - peaks[0] < EXPLAINED, f"explain by {method}: {peaks} kilobytes for 100 and 1500 numbers")


def traces_of_arrays(run, folder):
    """BULK §4.1: the Delta term of `bulk` is as long as the program, whatever the sizes of its arrays."""
    # evidence: BULK §4.1, size: programs over arrays of sizes 2, 5 and 40
    for name, (source, point) in families.ARRAYS.items():
        sizes = (2, 5, 40)
        costs = [run.gradient(folder, source, point(n), "bulk") for n in sizes]
        if None in costs:
            continue
        traces = [cost.trace for cost in costs]
        run.check(traces[0] and len(set(traces)) == 1, f"bulk, {name}, sizes {sizes}: traces of {traces} nodes")
        print(f"bulk, {name}: {traces[0]} nodes for all sizes")


TAYLOR_FUNCTIONS = {
    "polynomial": r"foldl (\s k -> s * x + toDouble k) 0 [1 .. 20]",
    "composed": "exp (sin (x * x) / (1 + x)) * sqrt (1 + x ** 2.5)",
    "of the table": "atan (log (2 + erf x)) + asinh (acos (x / 2)) + log1p (abs x)",
    "recursive": r"let go i y = if i == (0 :: Int) then y else go (i - 1) (sin (x * y)) in go 30 x",
    "constant": "toDouble (length [1 .. 30 :: Int])",
}
NESTED = "diff (diff (diff (diff (diff (diff (diff (diff f)))))))"


def taylor_series(run, folder):
    """Of order 1 … 32; of order 8, against eight nested derivatives."""
    def steps(source, name):
        path = os.path.join(folder, "program.cot")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        done = subprocess.run([run.cotan, "run", path, name, "--count", "--json"], capture_output=True, check=True, timeout=300)
        return json.loads(done.stdout)["steps"]

    for name, body in TAYLOR_FUNCTIONS.items():
        source = f"f :: Double -> Double\nf x = {body}\nonce = f 0.5\nnested = {NESTED} 0.5\n"
        source += "".join(f"order{n} = taylor {n} f 0.5\n" for n in (1, 2, 4, 8, 16, 32))
        once = steps(source, "once")
        costs = {n: steps(source, f"order{n}") for n in (1, 2, 4, 8, 16, 32)}
        most = max(cost / ((n + 1) ** 2 * (once + 1)) for n, cost in costs.items())
        run.check(most <= TAYLOR, f"taylor, {name}: {most:.2f} steps a step and (n + 1)², above {TAYLOR}: {costs}")
        print(f"taylor, {name}: at most {most:.2f} steps for each step and (n + 1)²; the constant is {TAYLOR}")
        if name == "composed":
            nested = steps(source, "nested")
            run.check(20 * costs[8] < nested, f"taylor 8, {name}: {costs[8]} steps, eight nested derivatives {nested}")


def all_claimed(run):
    for method in run.methods:
        run.check(any(method in table for table in (CONSTANTS, LOGARITHMIC, EXPONENTIAL, BY_INPUTS, BY_ENVIRONMENT)),
                  f"{method} is in no table of tests/costs.py")


def under_constants(run):
    # evidence: DELTA Theorem 5 (1): at most {CONSTANTS[delta]} steps by delta, {CONSTANTS[delta-fused]} by delta-fused, of many programs
    # evidence: DUAL §3: at most {CONSTANTS[dual-arrays]} by dual-arrays, {CONSTANTS[dual-defunc]} by dual-defunc, {CONSTANTS[tape]} by tape
    # evidence: DUAL §8.2: at most {CONSTANTS[dual-arrays]} by dual-arrays
    # evidence: DUAL 2023 §7, time: at most {CONSTANTS[dual-arrays]} by dual-arrays
    # evidence: DUAL §6.3: at most {LOGARITHMIC[dual-staged]} by dual-staged, times a logarithm
    # evidence: DUAL §7.2: at most {LOGARITHMIC[dual-cayley]} by dual-cayley, times a logarithm
    # evidence: DUAL 2023 §§5, 6: at most {LOGARITHMIC[dual-cayley]} by dual-cayley, times a logarithm
    # evidence: CHAD Eq. 1: at most {CONSTANTS[chad]} by chad
    for method in run.of([*CONSTANTS, *LOGARITHMIC]):
        cost, where = run.largest.get(method, (math.inf, "nothing"))
        limit = {**CONSTANTS, **LOGARITHMIC}[method]
        run.check(cost <= limit, f"{method}: {cost:.2f} steps a step, above {limit}, on {where}")
        log = ", and each doubling of the trace" if method in LOGARITHMIC else ""
        print(f"{method}: at most {cost:.2f} steps for each step{log}; the constant is {limit}; on {where[:100]}")


def table_of_docs(run):
    """The rows of the table in docs/methods.md whose columns are `method` and `constant`, if it is there."""
    text = golden.read(os.path.join(golden.ROOT, "docs", "methods.md"))
    table = re.search(r"^\| method \| constant \|.*\n\|[-:| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    if not table:
        return
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (\d+)", table[1], re.MULTILINE))
    wanted = {name: str(limit) for name, limit in {**CONSTANTS, **LOGARITHMIC}.items()}
    run.check(rows == wanted, f"docs/methods.md has the constants {rows}, costs.py {wanted}")


LIBRARY = """module Library where

data Shape = Circle Double | Box Double Double

power :: Int -> Double -> Double
power n x = if n == 0 then 1 else x * power (n - 1) x

areas :: [Shape] -> Double
areas [] = 0
areas (Circle r : rest) = 3 * power 2 r + areas rest
areas (Box a b : rest) = a * b - areas rest

applied :: [Double -> Double] -> Double -> Double
applied [] x = x
applied (f : fs) x = f (applied fs x)

polynomial :: [Double] -> Double -> Double
polynomial [] _ = 0
polynomial (c : cs) x = c + x * polynomial cs x

total :: Array Double -> Double
total xs = go 0 0
  where go i y = if i == length xs then y else go (i + 1) (y * sin (xs ! i))
"""

MAINS = ["""import Library
main = grad (\\x -> areas [Box (power 3 x) x] + polynomial [x, 1, 2] (applied [cos, sin] x) + total [|x, x|]) 2
""", """import Library
model :: ([Double], (Double, Array Double)) -> Double
model (cs, (x, ys)) = polynomial cs x * total ys - applied [\\z -> power 2 z * x] (areas [Circle (ys ! 0)])
main = grad model ([1, 2], (3, [|0.5, 0.25|]))
"""]


def modular(run, folder):
    """What a library's functions become is the same text in two programs with different points."""
    # evidence: DELTA §8.1: the derivative of a library is the same text in two programs, by every method
    # evidence: DUAL §5.3: the derivative of a library is the same text in two programs
    with open(os.path.join(folder, "Library.cot"), "w", encoding="utf-8") as file:
        file.write(LIBRARY)
    names = re.findall(r"^(\w+) ::", LIBRARY, re.MULTILINE)
    for method, reverse in run.methods.items():
        if not reverse or method == "bulk":  # which makes its derivatives when the program runs
            continue
        texts = []
        for i, source in enumerate(MAINS):
            path = os.path.join(folder, f"main{i}.cot")
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)
            done = subprocess.run([run.cotan, "run", path, "--dump", "differentiate", "--method", method],
                                  capture_output=True, text=True, check=False)
            blocks = done.stdout.split("\n\n")
            texts.append({name: [block.strip() for block in blocks if re.match(rf"\s*{name}\.{method} :", block)]
                          for name in names})
        for name in names:
            run.check(texts[0][name] and texts[0][name] == texts[1][name],
                      f"{method} makes of {name}, in one program\n{texts[0][name]}\nand in another\n{texts[1][name]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--random", type=int, default=60, metavar="N", help="how many random programs")
    parser.add_argument("--methods", help="separated by commas; all")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="golden programs: each by every N-th method, in turn")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="which of them: from the K-th on")
    options = parser.parse_args()
    cotan = os.path.abspath(options.cotan)
    known = corpus.methods(cotan)
    chosen = options.methods.split(",") if options.methods else list(known)
    run = Run(cotan, {name: known[name] for name in chosen if name != "native"})
    with tempfile.TemporaryDirectory() as folder:
        exponential(run, folder)
        fibonacci(run, folder)
        by_inputs(run, folder)
        growing(run, folder)
        widths(run, folder)
        modular(run, folder)
        if os.environ.get("COTAN_BULK") != "run":
            traces_of_arrays(run, folder)
        taylor_series(run, folder)
        captured(run, folder)
        checkpoints(run, folder)
        checkpoints_by_limit(run, folder)
        explanations(run, folder)
        if not options.methods or "native" in chosen:
            natively(run, folder)
    on_golden_programs(run, options.sample, options.offset)
    on_random_programs(run, options.random)
    under_constants(run)
    all_claimed(run)
    table_of_docs(run)
    print(f"costs: {run.passed} passed, {run.failed} failed")
    sys.exit(1 if run.failed or not run.passed else 0)


if __name__ == "__main__":
    main()
