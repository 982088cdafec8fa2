#!/usr/bin/env python3
"""cotan fmt on every program of the repository, and on the same programs with their blanks disturbed: what is formatted is not changed by
formatting again, has the same comments, and means the same.

    tests/format.py --cotan PATH [--count N] [--seed N]
"""
import argparse
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def programs():
    for pattern in ("lib/**/*.cot", "examples/*.cot", "bench/gradbench/*.cot", "tests/golden/**/*.cot"):
        yield from sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))


def literals(text):
    """The text in parts: comments and literals, which stay as they are, and the rest."""
    return re.split(r'(--+(?![!#$%&*+./<=>?@\\^|~:])[^\n]*|\{-.*?-\}|"(?:\\\s*\n\s*\\|\\.|[^"\\\n])*"|\'(?:\\[^\n]+?|[^\'\\\n])\')',
                    text, flags=re.S)


def disturb(rng, text):
    """Other blanks where they do not matter: inside lines between words, at their ends, in blank lines; comments added at the ends."""
    out = []
    for i, part in enumerate(literals(text)):
        if i % 2 == 1:
            out.append(part)
            continue
        lines = part.split("\n")
        for k, line in enumerate(lines):
            if k > 0 and k + 1 < len(lines) and not line.strip():
                lines[k] = rng.choice(["", "   ", "\t", "\n"])
        out.append("\n".join(lines))
    lines = "".join(out).split("\n")
    shift = rng.choice([0, 0, 0, 1, 3])  # every line further right, as one block
    for k, line in enumerate(lines):
        if shift and line.strip() and not line.startswith("#"):
            line = " " * shift + line
        if rng.random() < 0.05 and line.strip() and '"' not in line and "{-" not in line and "-}" not in line and "'" not in line \
                and "--" not in line and not line.rstrip().endswith("\\"):
            line += rng.choice([" -- said", "    -- said so", " {- here -}"])
        lines[k] = line + rng.choice(["", "", "", "  ", "\t", "\r"]) if '\\' not in line else line
    return "\n".join(lines)


def widen(rng, text):
    """Blanks between words of lines that have no block opened in the middle, where columns do not matter."""
    lines = []
    for line in text.split("\n"):
        plain = not re.search(r'["\'`\\]|--|\{-|-\}|\b(let|where|of|do)\b', line)
        if plain and rng.random() < 0.3:
            indent = len(line) - len(line.lstrip())
            line = line[:indent] + re.sub(r" ", lambda _: " " * rng.choice([1, 1, 2, 3]), line[indent:])
        lines.append(line)
    return "\n".join(lines)


class Tests:
    def __init__(self, cotan, folder):
        self.cotan, self.folder, self.passed, self.failed = cotan, folder, 0, 0

    def fmt(self, text):
        done = subprocess.run([self.cotan, "fmt", "-"], input=text.encode("utf-8", "surrogateescape"), capture_output=True,
                              timeout=60)
        return done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "replace")

    def parsed(self, text):
        path = os.path.join(self.folder, "program.cot")
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        done = subprocess.run([self.cotan, "run", path, "main", "--dump", "parse", "--no-warnings"], capture_output=True, timeout=60)
        return done.stdout

    def check(self, name, sound, why=""):
        self.passed += bool(sound)
        self.failed += not sound
        if not sound:
            print(f"FAIL {name}: {why[:1500]}")

    def one(self, name, text):
        status, once, err = self.fmt(text)
        if status == 1 and "E0901" not in err:
            return None  # it has syntax errors
        self.check(name, status == 0, err)
        if status != 0:
            return None
        status, twice, err = self.fmt(once)
        self.check(f"{name}: twice", status == 0 and twice == once, err or difference(once, twice))
        self.check(f"{name}: no blanks at the ends of lines", not re.search(r"[ \t\r]$", once, re.M) or "\\" in once or "{-" in once)
        return once


def difference(a, b):
    for x, y in zip(a.split("\n"), b.split("\n")):
        if x != y:
            return f"\n{x}\n{y}"
    return "lengths differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every N-th program")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="from the K-th on")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        t = Tests(os.path.abspath(options.cotan), folder)
        paths = list(programs())[options.offset::options.sample]
        own = [p for p in paths if "/lib/" in p or "/examples/" in p]
        done = subprocess.run([t.cotan, "fmt", "--check", *own], capture_output=True, text=True)
        t.check("lib and examples are formatted", done.returncode == 0, done.stdout + done.stderr)
        for path in paths:
            name = os.path.relpath(path, ROOT)
            rng = random.Random(f"{options.seed} {name}")  # a new program changes nothing for the others
            with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                text = file.read()
            once = t.one(name, text)
            if once is None or rng.random() > options.count / len(paths):
                continue
            if "/lib/" not in path:
                t.check(f"{name}: the same syntax", t.parsed(text) == t.parsed(once))
            for change, disturbed in (("disturbed", disturb(rng, text)), ("widened", widen(rng, text))):
                again = t.one(f"{name}, {change}", disturbed)
                if again is not None and "/lib/" not in path:
                    t.check(f"{name}, {change}: the same syntax", t.parsed(disturbed) == t.parsed(again))
    print(f"{t.passed} passed, {t.failed} failed")
    sys.exit(1 if t.failed else 0)


main()
