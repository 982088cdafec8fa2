#!/usr/bin/env python3
"""What several threads compute, tests/threads/loops.cot: the same bits, steps, spans and errors as one; and in native code,
tests/threads/arrays.cot."""
import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import spans

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "threads", "loops.cot")
ARRAYS = os.path.join(HERE, "threads", "arrays.cot")

# Function, arguments of the command.
RESULTS = [
    ("uneven", ["--args", "[5000]"]),
    ("matrix", ["--args", "[300]"]),
    ("product'", ["--args", "[400]"]),
    ("shapes", ["--args", "[3000]"]),
    ("constants", ["--args", "[3000]"]),
    ("inPlace", ["--args", "[2000]"]),
    ("slopes", ["--args", "[600]"]),
    ("large", ["--args", "[150]"]),
    ("turned", ["--args", "[20000]"]),
    ("branched", ["--args", "[12]", "--method", "chad"]),
    ("branched", ["--args", "[12]", "--method", "tape"]),
    ("grownTexts", ["--args", "[8]"]),
    *[("pairs", ["--args", "[11]", "--method", method]) for method in ("tape", "delta", "delta-fused", "chad", "dual-arrays")],
    *[("lists", ["--args", "[60]", "--method", method]) for method in ("tape", "chad")],
]
GRADIENTS = ["tape", "dual-arrays", "delta", "bulk", "forward", "chad"]
ERRORS = [
    ("wrong", ["--args", "[30000]"], "E0501"),
    ("ragged", ["--args", "[4000]"], "E0507"),
    ("circular", ["--args", "[4000]"], "E0509"),
    ("wrongBranch", ["--args", "[10]"], "E0501"),
    ("wrongPair", ["--args", "[700]"], "E0501"),
    ("tooDeep", ["--args", "[4000]", "--max-depth", "5000"], "E0803"),
    ("endless", ["--args", "[4000]", "--max-steps", "1000000"], "E0802"),
    ("large", ["--args", "[2000]", "--max-memory", "8M"], "E0801"),
]
# Of arrays.cot: function, argument, how it ends. Its loops are parted as long ones are, and what is added up as if that cost nothing.
SMALL_PARTS = "cc -DCT_PART_WORK=64 -DCT_PART_COST=0 -DCT_FAR=0 -DCT_WIDE=16"
NATIVE = [("table", 300, None), ("ragged", 300, None), ("reduced", 900, None), ("reducing", 900, None), ("folds", 3000, None), ("layered", 40, None), ("multiplied", 90, None), ("spreading", 500, None),
          ("own", 300, None), ("scattered", 300, None), ("descent", 300, None), ("smoothed", 300, None), ("squaring", 40, None), ("wrong", 300, "E0501"),
          ("wrongSlope", 300, "E0501"), ("uneven", 300, "E0507"), ("large", 30, None), ("deep", 30, None),
          ("records", 300, None), ("lists", 300, None), ("branching", 60, None), ("weighing", 200, None)]
PRODUCTS = ["layered", "multiplied"]
PRIMALS = ["table", "ragged", "reduced", "folds", "left", "scattered", "smoothed", "wrong", "uneven", "large", "deep", "records", "lists"]


def run(cotan, threads, words, **more):
    environment = dict(os.environ, NO_COLOR="1", **more)
    environment.pop("COTAN_THREADS", None)
    done = subprocess.run([cotan, *words, "--threads", str(threads), "--json"], env=environment, capture_output=True,
                          text=True, timeout=300)
    if done.returncode not in (0, 1):
        return done.returncode, done.stdout, done.stderr
    text = done.stdout
    if text and "--count" in words:
        result = json.loads(text)
        result.pop("peak_memory")
        text = json.dumps(result)
    return done.returncode, text, done.stderr


class Tests:
    def __init__(self, cotan, numbers, flags):
        self.cotan, self.numbers, self.flags = cotan, numbers, flags
        self.passed = self.failed = 0

    def check(self, what, sound, found=""):
        if sound:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAIL {what}: {found}")

    def same(self, what, words, code=None):
        """As in one thread, which ends with an error of this code, or none. Where memory ends depends on who holds it."""
        first = run(self.cotan, 1, words)
        told = code is None or f'"code":"{code}"' in first[2]
        self.check(f"{what} in 1 thread", first[0] == (0 if code is None else 1) and told, first)
        for threads in self.numbers:
            found = run(self.cotan, threads, words)
            same = '"code":"E0801"' in found[2] if code == "E0801" else found == first
            self.check(f"{what} in {threads} threads", same, f"{found} instead of {first}")

    def native(self, folder):
        """Native code: the same bits for any number of threads, those of the evaluator with exact mathematics."""
        more = {"CC": f"{SMALL_PARTS} {self.flags}", "XDG_CACHE_HOME": folder}
        for function, n, code in [*NATIVE, ("left", 300, None)]:
            if function == "deep" and "thread" in self.flags:  # ThreadSanitizer has room for some 65,000 calls
                continue
            words = ["run", ARRAYS, function, "--args", f"[{n}]"]
            here = [*words, "--engine", "native", "--method", "native"]
            for math in ("fast", "exact"):
                first = run(self.cotan, 1, [*here, "--math", math], **more)
                told = first[2] == "" if code is None else f'"code":"{code}"' in first[2] and first[2].count("\n") == 1
                self.check(f"{function} natively, {math}", first[0] == (0 if code is None else 1) and told, first)
                for threads in self.numbers:
                    found = run(self.cotan, threads, [*here, "--math", math], **more)
                    self.check(f"{function} natively, {math}, {threads} threads", found == first, f"{found} instead of {first}")
            if function in PRIMALS:
                self.check(f"{function} natively as by the evaluator", first == run(self.cotan, 1, [*words, "--engine", "eval"]), first)
            dumped = subprocess.run([self.cotan, *here, "--math", "fast", "--dump", "c"], capture_output=True, text=True).stdout
            shared = dumped.count("    ct_share(rt, share_")
            multiplies = "= ct_matrix_product(" in dumped
            self.check(f"the products of {function}", multiplies == (function in PRODUCTS), multiplies)
            self.check(f"the loops of {function}", (shared == 0) == (function == "left"), f"{shared} are shared out")
        words = ["run", ARRAYS, "huge", "--args", "[30]", "--engine", "native", "--max-memory", "32M"]
        for threads in [1, *self.numbers]:
            found = run(self.cotan, threads, words, **more)
            self.check(f"no memory in {threads} threads", '"code":"E0801"' in found[2], found)

    def interrupted(self, folder):
        """Ctrl-C ends a native run within a part. The flag is volatile, since a signal handler sets it: ThreadSanitizer takes that for a race."""
        if "thread" in self.flags:
            return
        for threads in [1, *self.numbers]:
            cache = os.path.join(folder, f"interrupted-{threads}")
            environment = dict(os.environ, NO_COLOR="1", XDG_CACHE_HOME=cache, CC=f"cc {self.flags}")
            words = ["run", ARRAYS, "forever", "--args", "[1000000000]", "--engine", "native", "--json", "--threads", str(threads)]
            with subprocess.Popen([self.cotan, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
                while running.poll() is None and not glob.glob(os.path.join(cache, "cotan", "*.so")):
                    time.sleep(0.1)
                time.sleep(1)
                running.send_signal(signal.SIGINT)
                try:
                    found = running.communicate(timeout=60)[1]
                except subprocess.TimeoutExpired:
                    running.kill()
                    found = "it went on"
            self.check(f"Ctrl-C in {threads} threads", '"code":"E0804"' in found, found)

    def count(self, function, n):
        _, out, _ = run(self.cotan, self.numbers[0], ["run", PROGRAM, function, "--args", f"[{n}]", "--count"])
        return json.loads(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", required=True)
    parser.add_argument("--threads", default="2,3,8", help="how many, with commas between them")
    parser.add_argument("--flags", default="", help="for the compiler of native code")
    options = parser.parse_args()
    tests = Tests(os.path.abspath(options.cotan), options.threads.split(","), options.flags)
    for function, words in RESULTS:
        tests.same(function, ["run", PROGRAM, function, *words, "--count"])
    point = json.dumps([0.001 * i for i in range(1000)])
    for method in GRADIENTS:
        at = point if method != "forward" else json.dumps([0.5] * 30)
        tests.same(f"gradient by {method}", ["grad", PROGRAM, "objective", "--at", at, "--method", method, "--count"])
    for name in ("one element read by all", "rows made", "steps in parallel"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.cot")
            with open(path, "w", encoding="utf-8") as file:
                file.write(spans.FURTHER[name])
            at = json.dumps([0.001 * i for i in range(1600)])
            tests.same(f"gradient of {name}", ["grad", path, "h", "--at", at, "--method", "tape", "--count"])
    for method in ("tape", "chad", "bulk"):
        tests.same(f"gradient of reduce by {method}", ["run", PROGRAM, "turning", "--args", "[2000]", "--method", method, "--count"])
    for function, words, code in ERRORS:
        tests.same(function, ["run", PROGRAM, function, *words], code)
    with tempfile.TemporaryDirectory() as folder:
        tests.native(folder)
        tests.interrupted(folder)
    # The reverse pass goes over groups of elements or over tasks, which are independent: its span is no multiple of its work.
    for method in ("chad", "tape"):
        _, out, _ = run(tests.cotan, 2, ["grad", PROGRAM, "objective", "--at", point, "--method", method, "--count"])
        counts = json.loads(out)
        tests.check(f"{method} keeps the parallelism of a map", counts["span"] * 10 < counts["work"], counts["span"] / counts["work"])
    # What a reduce does by blocks, its reverse pass does too.
    for function, n in (("turned", 20000), ("turning", 20000)):
        _, out, _ = run(tests.cotan, 2, ["run", PROGRAM, function, "--args", f"[{n}]", "--method", "chad", "--count"])
        reduced = json.loads(out)
        tests.check(f"{function} is a reduce by blocks", reduced["span"] * 15 < reduced["work"], reduced["work"] / reduced["span"])
    # work n takes 6 n + 1 steps or so; of a loop only the longest element counts, and sharing it out.
    small, big = tests.count("constants", 1024), tests.count("constants", 4096)
    tests.check("work is all the steps", big["work"] == big["steps"], big)
    per = (big["work"] - small["work"]) / 3072
    tests.check("the work of an element", per == int(per) and per > 10, per)
    # The sum adds one after the other: 3072 more. Four times as many are shared out in 2 more rounds, in map and iota.
    tests.check("the span grows by the sum, and by 2 for the map and for the iota", big["span"] - small["span"] == 3072 + 4,
                big["span"] - small["span"])
    print(f"threads: {tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main())
