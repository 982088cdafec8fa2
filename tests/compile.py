#!/usr/bin/env python3
"""Programs in C around what `cotan compile` writes: tests/compile/NAME.c, whose first comment holds the commands that write, and those
that say what the program prints. Each is built in a folder with nothing else, by gcc, and by clang and g++ where they are there, without
a warning, and under AddressSanitizer and UBSan. Then programs full of names that mean something in C: tests/compile.py [--cotan PATH] [--names N]."""
import argparse
import json
import math
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compilers import works  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
FOLDER = os.path.join(ROOT, "tests", "compile")
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Wpedantic", "-Werror"]
BUILDS = {
    "gcc": ["gcc", *WARNINGS, "-O2"],
    "clang": ["clang", *WARNINGS, "-O1"],
    "gcc, sanitized": ["gcc", "-std=c11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "gcc, OpenMP": ["gcc", *WARNINGS, "-O2", "-fopenmp", "-DCT_PART_WORK=16", "-DCT_PART_COST=0", "-DCT_FAR=0", "-DCT_WIDE=16"],
    "clang, sanitized": ["clang", "-std=c11", "-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
}


def near(a, b):
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, str) or isinstance(b, str):
        return a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b)) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(near(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(near(a[k], b[k]) for k in a)
    return False


def run(command, folder):
    environment = dict(os.environ, OMP_NUM_THREADS="3")
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=300)


def expected(cotan, words):
    done = run([cotan, *words[1:]], FOLDER)
    value = json.loads(done.stdout if done.returncode == 0 else done.stderr.splitlines()[0])
    value.pop("file", None)
    return value


def check_program(cotan, name):
    """(what, what is wrong or None) for each build."""
    with open(os.path.join(FOLDER, name + ".c"), encoding="utf-8") as file:
        text = file.read()
    commands = [shlex.split(line) for line in re.findall(r"^(?:/\*| \*) (cotan .*)$", text[:text.index("*/")], re.M)]
    with tempfile.TemporaryDirectory() as folder:
        for words in commands:
            if words[1] != "compile":
                continue
            words[2] = os.path.join(FOLDER, words[2])
            done = run([cotan, *words[1:]], folder)
            if done.returncode != 0 or done.stdout or done.stderr:
                yield " ".join(words[1:]), done.stdout + done.stderr
                return
        wanted = [expected(cotan, words) for words in commands if words[1] != "compile"]
        with open(os.path.join(folder, "program.c"), "w", encoding="utf-8") as file:
            file.write(text)
        sources = sorted(path for path in os.listdir(folder) if path.endswith(".c"))
        for what, compiler in BUILDS.items():
            if not works(*compiler):
                continue
            done = run([*compiler, *sources, "-o", "program", "-lm", "-pthread"], folder)
            if done.returncode != 0 or done.stderr:  # a note of the compiler's counts too
                yield f"{name}.c, {what}", done.stderr[:2000]
                continue
            done = run([os.path.join(folder, "program")], folder)
            lines = [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []
            if done.returncode != 0 or done.stderr:
                yield f"{name}.c, {what}", f"status {done.returncode}\n{done.stdout[:1000]}{done.stderr[:2000]}"
            elif not near(lines, wanted):
                yield f"{name}.c, {what}", f"printed {lines}\nwanted {wanted}"
            else:
                yield f"{name}.c, {what}", None
        for header in sorted(path for path in os.listdir(folder) if path.endswith(".h") and works("g++")):
            done = run(["g++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c++", header], folder)
            yield f"{header} in C++", done.stderr or None


# Words and functions of C, what the emitted code itself calls things, and what is no identifier of C.
NAMES = """auto break char const continue default double do else' enum extern float for goto int long register restrict return short signed
sizeof static struct switch typedef union unsigned void volatile while inline bool true false asm typeof class' new delete this namespace
template try catch operator errno stdin stdout linux unix main exp sin exit malloc free printf puts gamma y0 j1 index time log1pf sinl
ct_run ct_fail cotan_entry f_entry entry grad_f_f results_1 group_1 constant_0 run in' out own state value result cotangent x' x'' x'''
begin ended failed places work_f in_Model error_of init_ naïve größe αβγ 変数 _x __attribute__ a_very_long_name_that_goes_on_and_on_and_on_and_on
null eof size rows columns data tag as'""".split()
RESERVED = {"case", "class", "data", "default", "deriving", "do", "else", "foreign", "if", "import", "in", "infix", "infixl", "infixr", "instance",
            "let", "module", "newtype", "of", "then", "type", "where", "_"}


def odd_program(number):
    rng = random.Random(number)
    names = [n for n in NAMES if n not in RESERVED and (n[0].islower() or n[0] == "_")]
    f, a, b, c, d = rng.sample(names, 5)
    con, kind, other = rng.sample(["NULL", "Double'", "EOF", "INFINITY", "Struct", "I", "Int_", "X'", "X", "BUFSIZ", "Run", "Error"], 3)
    return f, f"""data {kind} = {con} {{ {a} :: Double, {b} :: Array Double }} | {other}
{f} :: {kind} -> Double -> [({kind}, Double)] -> Double
{f} {c} {d} {a}{b} = {d} * part {c} + sum (map (\\(m, x) -> x * part m) {a}{b})
  where part {other} = 1
        part m = {a} m * sum ({b} m)
"""


def check_names(cotan, number):
    name, text = odd_program(number)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "odd.cot"), "w", encoding="utf-8") as file:
            file.write(text)
        texts = []
        for _ in range(2):
            done = run([cotan, "compile", "odd.cot", name, "--grad", "--jvp", "-o", "odd"], folder)
            if done.returncode != 0:
                return text + done.stderr
            with open(os.path.join(folder, "odd.c"), encoding="utf-8") as source, open(os.path.join(folder, "odd.h"), encoding="ascii") as header:
                texts.append((source.read(), header.read()))
        if texts[0] != texts[1]:
            return text + "the text is another one the second time"
        for compiler in filter(works, ["gcc", "clang"]):
            done = run([compiler, *WARNINGS, "-c", "odd.c", "-o", "odd.o"], folder)
            if done.returncode != 0:
                return text + done.stderr[:2000]
        if not works("g++"):
            return None
        with open(os.path.join(folder, "all.cpp"), "w", encoding="ascii") as file:
            file.write("#include <cmath>\n#include <complex.h>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include \"odd.h\"\n")
        done = run(["g++", "-Wall", "-Wextra", "-fsyntax-only", "-Werror", "all.cpp"], folder)
        return text + done.stderr[:2000] if done.returncode != 0 else None


def check_files(cotan):
    """What becomes of files that are there, or cannot be written."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(FOLDER, "results.cot")
        os.mkdir(os.path.join(folder, "taken.h"))
        cases = [(["pick", "-o", "no/such/folder"], 2, "E0704"), (["pick", "-o", "taken"], 2, "E0704"), (["pick"], 2, "E0701"),
                 (["pick", "-o", "folder/"], 2, "E0701"), (["nothing", "-o", "x"], 2, "E0702"),
                 (["pick", "--prefix", "a b", "-o", "x"], 2, "E0701"), (["pick", "--prefix", "", "-o", "x"], 2, "E0701"), (["pick", "--prefix", "ct_", "-o", "x"], 2, "E0701"), (["main", "--grad", "-o", "x"], 1, "E0405")]
        for words, status, code in cases:
            done = run([cotan, "compile", program, *words], folder)
            wrong = done.returncode != status or code not in done.stderr
            left = [path for path in os.listdir(folder) if path != "taken.h"]
            yield "compile " + " ".join(words), f"{done.returncode} {done.stderr} {left}" if wrong or left else None
        for path in ["old.c", "old.h"]:
            with open(os.path.join(folder, path), "w", encoding="ascii") as file:
                file.write("old")
            os.chmod(os.path.join(folder, path), 0o640)
        done = run([cotan, "compile", program, "pick", "-o", "old"], folder)
        rights = {os.stat(os.path.join(folder, path)).st_mode & 0o777 for path in ["old.c", "old.h"]}
        yield "files are replaced", None if done.returncode == 0 and rights == {0o640} else f"{done.stderr} {rights}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("--names", type=int, default=12, help="how many programs of odd names")
    options = parser.parse_args()
    cotan, passed, failed = os.path.abspath(options.cotan), 0, 0

    def tell(what, wrong):
        nonlocal passed, failed
        passed += wrong is None
        failed += wrong is not None
        if wrong is not None:
            print(f"FAIL {what}: {wrong}")

    for name in sorted(path[:-2] for path in os.listdir(FOLDER) if path.endswith(".c")):
        if not options.words or any(word in name for word in options.words):
            for what, wrong in check_program(cotan, name):
                tell(what, wrong)
    if not options.words:
        for number in range(options.names):
            tell(f"names {number}", check_names(cotan, number))
        for what, wrong in check_files(cotan):
            tell(what, wrong)
    print(f"compiled programs: {passed} passed, {failed} failed")
    sys.exit(bool(failed) or passed == 0)


if __name__ == "__main__":
    main()
