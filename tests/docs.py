#!/usr/bin/env python3
"""Runs the console sessions of README.md and docs/*.md: see tests/README.md. Each command is one test.

    tests/docs.py [--cotan PATH] [WORD…]
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
FENCE = re.compile(r"^```(\w*)\s*$")
FILE = re.compile(r"^-- ([\w/.-]+\.cot)\s*$")


def blocks(path):
    """(kind, first line number, lines) of each fenced block."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    kind, start, inside = None, 0, []
    for number, line in enumerate(lines, 1):
        match = FENCE.match(line)
        if kind is None and match:
            kind, start, inside = match[1], number + 1, []
        elif kind is not None and line == "```":
            yield kind, start, inside
            kind = None
        elif kind is not None:
            inside.append(line)


def sessions(start, lines):
    """(line number, command, expected lines) of each `$ ` line; a command goes on after a backslash."""
    command, expected, at = None, [], start
    continued = False
    for number, line in enumerate(lines, start):
        if continued:
            command += "\n" + line
            continued = line.endswith("\\")
        elif line.startswith("$ "):
            if command is not None:
                yield at, command, expected
            command, expected, at = line[2:], [], number
            continued = line.endswith("\\")
        else:
            expected.append(line)
    if command is not None:
        yield at, command, expected


def pattern(lines):
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*")
        else:
            parts.append(".*".join(re.escape(part) for part in line.split("…")) + r"\n")
    return re.compile("".join(parts))


PROMPTS = ("cotan> ", " … > ")


def typed(lines):
    """What is typed at the prompts of `cotan repl`, and the lines between."""
    inputs = [line[len(p):] for line in lines for p in PROMPTS if line.startswith(p)]
    return "".join(text + "\n" for text in inputs), [line for line in lines if not line.startswith(PROMPTS)]


def run(page, cotan, failures):
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
        os.symlink(cotan, os.path.join(folder, "cotan"))
        environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], NO_COLOR="1")
        for kind, start, lines in blocks(page):
            match = FILE.match(lines[0]) if lines else None
            if match:
                with open(os.path.join(folder, match[1]), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
            if kind != "console":
                continue
            for number, command, expected in sessions(start, lines):
                if not re.search(r"\bcotan\b", command):
                    continue
                inputs, expected = typed(expected)
                if inputs:
                    command += " 2>&1"
                done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True,
                                      encoding="utf-8", input=inputs, timeout=120)
                printed = done.stdout + done.stderr
                if printed and not printed.endswith("\n"):
                    printed += "\n"
                if pattern(expected).fullmatch(printed):
                    passed += 1
                else:
                    where = f"{os.path.relpath(page, ROOT)}:{number}"
                    failures.append(f"{where}: $ {command}\nexpected:\n" + "\n".join(expected) + f"\nprinted:\n{printed}")
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    pages = [os.path.join(ROOT, "README.md")]
    pages += sorted(os.path.join(ROOT, "docs", name) for name in os.listdir(os.path.join(ROOT, "docs"))
                    if name.endswith(".md"))
    if options.words:
        pages = [page for page in pages if any(word in page for word in options.words)]
    failures = []
    passed = sum(run(page, os.path.abspath(options.cotan), failures) for page in pages)
    for failure in failures:
        print(failure)
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(bool(failures) or passed == 0)


main()
