#!/usr/bin/env python3
"""Runs the console sessions of README.md, CONTRIBUTING.md and all pages under docs/: see tests/README.md. Each command is one
test; so are the links of each page to files and headings of this repository, and its tables.

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
FENCE = re.compile(r"^( *)```(\w*)\s*$")
FILE = re.compile(r"^(?:-- ([\w/.-]+\.cot)|/\* ([\w/.-]+\.c) \*/)\s*$")
OURS = re.compile(r"\bcotan\b|^cc |^\./")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def blocks(path):
    """(kind, first line number, lines) of each fenced block; one in a list is indented."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    kind, indent, start, inside = None, "", 0, []
    for number, line in enumerate(lines, 1):
        match = FENCE.match(line)
        if kind is None and match:
            indent, kind, start, inside = match[1], match[2], number + 1, []
        elif kind is not None and line == indent + "```":
            yield kind, start, inside
            kind = None
        elif kind is not None:
            inside.append(line.removeprefix(indent))


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
                with open(os.path.join(folder, match[1] or match[2]), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
            if kind != "console":
                continue
            for number, command, expected in sessions(start, lines):
                if not OURS.search(command):
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


def prose(path):
    """The lines of a page outside of its fenced blocks, without what stands in backquotes."""
    fenced = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if FENCE.match(line.rstrip("\n")):
                fenced = not fenced
            elif not fenced:
                yield number, line


def anchors(path):
    """The names that GitHub gives to the headings of a page."""
    names = set()
    for _, line in prose(path):
        if line.startswith("#"):
            title = LINK.sub(lambda link: link[0][1:link[0].index("]")], line.lstrip("#").strip())
            name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            copy, number = name, 0
            while copy in names:
                number += 1
                copy = f"{name}-{number}"
            names.add(copy)
    return names


def links(page, failures):
    """Whether each link of a page that does not lead elsewhere leads to a file, and to a heading of it."""
    failed = len(failures)
    for number, line in prose(page):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if not os.path.exists(path) or anchor and anchor not in anchors(path):
                failures.append(f"{os.path.relpath(page, ROOT)}:{number}: the link {target} leads nowhere")
    return len(failures) == failed


def tables(page, failures):
    """Whether the rows of each table of a page have as many cells as its first row."""
    failed = len(failures)
    cells, last = 0, -1
    for number, line in prose(page):
        if line.startswith("|"):
            found = len(re.sub(r"`[^`]*`", "", line).replace(r"\|", "").strip().strip("|").split("|"))
            cells = cells if last == number - 1 else found
            last = number
            if found != cells:
                failures.append(f"{os.path.relpath(page, ROOT)}:{number}: a row with {found} cells in a table of {cells}")
    return len(failures) == failed


def all_pages():
    pages = [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md")]
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        pages += [os.path.join(folder, name) for name in names if name.endswith(".md")]
    return sorted(page for page in pages if os.path.exists(page))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    pages = all_pages()
    if options.words:
        pages = [page for page in pages if any(word in os.path.relpath(page, ROOT) for word in options.words)]
    failures = []
    passed = sum(run(page, os.path.abspath(options.cotan), failures) + links(page, failures) + tables(page, failures) for page in pages)
    for failure in failures:
        print(failure)
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(bool(failures) or passed == 0)


main()
