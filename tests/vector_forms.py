#!/usr/bin/env python3
"""The VECTOR column of primitives.def: every form gives in each lane the bits that the row's VALUE gives, on random and edge operands; by gcc, and clang
where that is, with vectors of every width that this processor has."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compilers import works  # noqa: E402
from run import HERE, ROOT  # noqa: E402

ROW = re.compile(r'^CT_PRIM\((\w+), "\w+", "([A-Z]+):([A-Z])"', re.M)
FLAGS = ["-std=gnu11", "-O1", "-ftree-vectorize", "-w", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
WIDTHS = ["-DCT_WIDTH=1", "-mtune=generic", "-mavx2", "-march=native"]


def operands(table):
    """What main.c includes."""
    lines = []
    for name, letters, result in ROW.findall(table):
        kinds = ["real" if letter in "RDF" else "int" for letter in (letters[0], letters[-1], result)]
        types = {"real": "reals", "int": "ints"}
        lines.append(f"#define OPERANDS_{name}(reals, ints) {types[kinds[0]]} A; {types[kinds[1]]} B")
        lines.append(f"#define RESULT_{name}(reals, ints) {types[kinds[2]]}")
    return "\n".join(lines) + "\n"


def check(compiler, width, folder):
    """How many vector forms are right, how many are wrong, and what to say."""
    program = os.path.join(folder, "forms")
    command = [*shlex.split(compiler), *FLAGS, width, "-I" + folder, "-I" + os.path.join(ROOT, "src"),
               os.path.join(HERE, "vector_forms", "main.c"), "-o", program, "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        return 0, 1, built.stderr
    done = subprocess.run([program], capture_output=True, text=True)
    counts = re.search(r"(\d+) vector forms of \d+ lanes, (\d+) wrong", done.stdout)
    if counts is None or (done.returncode == 0) != (counts[2] == "0"):
        return 0, 1, f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    return int(counts[1]) - int(counts[2]), int(counts[2]), done.stdout + done.stderr


def main():
    with open(os.path.join(ROOT, "src", "prim", "primitives.def"), encoding="utf-8") as file:
        table = file.read()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        has_avx2 = "avx2" in file.read()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "operands.h"), "w", encoding="utf-8") as file:
            file.write(operands(table))
        for compiler in filter(works, ["cc", "clang"]):
            for width in WIDTHS:
                if width == "-mavx2" and not has_avx2:
                    continue
                right, wrong, said = check(compiler, width, folder)
                passed, failed = passed + right, failed + wrong
                print(f"{compiler} {width}: {said.strip()}")
    print(f"vector forms: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
