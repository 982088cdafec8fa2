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
WIDTHS = ["-mtune=generic", "-mavx2", "-march=native"]


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
    """Whether all is well, and what to say."""
    program = os.path.join(folder, "forms")
    command = [*shlex.split(compiler), *FLAGS, width, "-I" + folder, "-I" + os.path.join(ROOT, "src"),
               os.path.join(HERE, "vector_forms", "main.c"), "-o", program, "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        return False, built.stderr
    done = subprocess.run([program], capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def main():
    with open(os.path.join(ROOT, "src", "prim", "primitives.def"), encoding="utf-8") as file:
        table = file.read()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        has_avx2 = "avx2" in file.read()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "operands.h"), "w", encoding="utf-8") as file:
            file.write(operands(table))
        for compiler in filter(works, ["cc", "clang"]):
            for width in WIDTHS:
                if width == "-mavx2" and not has_avx2:
                    continue
                well, said = check(compiler, width, folder)
                failed |= not well
                print(f"{compiler} {width}: {said.strip()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
