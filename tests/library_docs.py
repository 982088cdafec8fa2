#!/usr/bin/env python3
"""docs/library.md has every name that a module of lib/ exports, with the type that its source says. Each name is one test. A golden program, an example or
a program of tests/haskell has to use it.

In the page, each module has a section `## NAME`; lines `names :: type -- what they are` of its haskell blocks document values, and a
word in backquotes documents a type. The prelude's section is held to types only: its sources have helpers, too.
"""
import glob
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PRELUDE = ["prelude", "sequences", "text", "elementwise", "reading", "monads", "io", "derivatives"]
PASS_ON = ["Data.Foldable", "Data.String", "Data.Text", "Data.Text.IO", "Data.Traversable"]
NAMES = r"(?:[\w']+|\([^\s)]+\))(?:, (?:[\w']+|\([^\s)]+\)))*"
SIGNATURE = re.compile(rf"(?:primitive \"[^\"]*\" )?({NAMES}) :: (.*?)\s*(?:-- .*)?$")
CLASS = re.compile(r"class (?:.*=> )?(\w+) (\w+) where")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def names_of(text):
    return [name[1:-1] if name.startswith("(") else name for name in text.split(", ")]


def with_class(type_, class_):
    """A method's type, with the class in its context."""
    context, arrow, rest = type_.rpartition(" => ")
    if not arrow:
        return f"{class_} => {type_}"
    return f"({class_}, {context.strip('()')}) => {rest}"


def signatures(path):
    """The type of each name at top level or in a class."""
    types, class_ = {}, None
    for line in read(path).split("\n"):
        if line and not line.startswith(" "):
            match = CLASS.match(line)
            class_ = f"{match[1]} {match[2]}" if match else None
        inside = class_ is not None and re.match(r"  [\w(]", line)
        match = SIGNATURE.match(line.strip() if inside else line)
        for name in names_of(match[1]) if match else []:
            types.setdefault(name, with_class(match[2], class_) if inside else match[2])
    return types


def documented(section):
    """The types that the blocks of a section give, and the words in backquotes around them."""
    types = {}
    for block in re.findall(r"^```haskell\n(.*?)^```", section, re.M | re.S):
        if block.startswith("-- "):
            continue  # a program
        for line in block.split("\n"):
            match = SIGNATURE.match(line)
            for name in names_of(match[1]) if match else []:
                types[name] = match[2]
    prose = re.sub(r"^```.*?^```", "", section, flags=re.M | re.S)
    return types, set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", prose))))


def exports(text):
    """(values, types) that a module's header names; None when it passes on another module."""
    header = re.search(r"^module [\w.]+\s*\((.*?)\n?\s*\) where", text, re.M | re.S)
    if header is None or re.search(r"\bmodule\b", header[1]):
        return None
    items = [item.strip() for item in re.split(r",\s", header[1]) if item.strip()]
    # names with a prime in the middle are for the compiler, or for modules of the library
    values = [item.strip("()") for item in items if not item[0].isupper() and not re.search(r"\w'\w", item)]
    return values, [re.match(r"\w+", item)[0] for item in items if item[0].isupper()]


def used_names():
    """The words of all programs of the tests."""
    paths = [path for pattern in ("tests/golden/**/*.cot", "examples/**/*.cot", "tests/haskell/*.hs", "tests/haskell/*.checks")
             for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)]
    return {word for path in paths for word in re.findall(r"[A-Za-z_][\w']*", re.sub(r"--.*", "", read(path)))}


def check_module(path, sections, prelude, used, wrong):
    module = os.path.relpath(path, os.path.join(ROOT, "lib"))[:-4].replace("/", ".")
    wanted = exports(read(path))
    if wanted is None:
        return 0
    # what a module passes on of the prelude stands in the prelude's section
    own = signatures(path)
    if module in PASS_ON:
        wanted = [name for name in wanted[0] if name in own or name not in prelude], []
    if module not in sections:
        wrong.append(f"{module}: docs/library.md has no section of it")
        return 0
    types, words = documented(sections[module])
    sources = dict(prelude)
    for passed_on in re.findall(r"^import ([A-Z][\w.]+)(?: \(.*\))?$", read(path), re.M):
        path_of = os.path.join(ROOT, "lib", passed_on.replace(".", "/") + ".cot")
        if os.path.exists(path_of):  # else it is one of the compiler's, in lib/ad
            sources.update(signatures(path_of))
    for near in glob.glob(path[:-4] + "/*.cot") + [path]:
        sources.update(signatures(near))
    failed = [f"type {name} is not in its section" for name in wanted[1] if name not in words]
    for name in wanted[0]:
        if name not in types:
            failed.append(f"{name} is not in its section")
        elif types[name] != sources.get(name):
            failed.append(f"{name} is documented as {types[name]}, but is {sources.get(name)}")
    failed += [f"{name} is in no golden program" for name in wanted[0] if name[0].isalpha() and name not in used]
    failed += [f"{name} is documented, but not exported" for name in types if name not in wanted[0]]
    wrong.extend(f"{module}: {line}" for line in failed)
    return len(wanted[0]) + len(wanted[1]) - len(failed)


def main():
    parts = re.split(r"^## (.*)\n", read(os.path.join(ROOT, "docs", "library.md")), flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2]))
    prelude = {}
    for name in PRELUDE:
        prelude.update(signatures(os.path.join(ROOT, "lib", name + ".cot")))
    wrong = []
    types, _ = documented(sections["The prelude"])
    bad = [name for name in types if prelude.get(name) != types[name]]
    wrong.extend(f"the prelude: {name} is documented as {types[name]}, but is {prelude.get(name)}" for name in bad)
    passed = len(types) - len(bad)
    used = used_names()
    for path in sorted(glob.glob(os.path.join(ROOT, "lib", "**", "[A-Z]*.cot"), recursive=True)):
        if not path.endswith("Data/Map/Tree.cot"):
            passed += check_module(path, sections, prelude, used, wrong)
    for line in wrong:
        print(line)
    print(f"{passed} passed, {len(wrong)} failed")
    sys.exit(bool(wrong) or passed == 0)


main()
