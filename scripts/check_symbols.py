#!/usr/bin/env python3
"""check_symbols.py BUILD: the external symbols of src/, as nm tells them of the object files of a build. Each carries the prefix of its
folder, is used by another file (else it is to be static), and is used by no folder in front of its own (scripts/layers.py). Tests count
as users of what is declared in a header. Prints a line for each symbol that is wrong, then how many are right."""
import glob
import os
import re
import subprocess
import sys

import layers


def symbols(path):
    """What an object file defines, and what it uses of others."""
    defined, used = set(), set()
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, name = line.split()[-2:]
        name = name.split(".")[0]
        if kind in "TDRBCV":
            defined.add(name)
        elif kind == "U":
            used.add(name)
    return defined, used


def source_of(path):
    """src/…/NAME.c, relative to src/, of an object file's name; None for what is generated or a test."""
    name = os.path.basename(path)[: -len(".o")]
    return files.get(name)


files = {}


def main():
    build = sys.argv[1]
    for path in glob.glob(os.path.join(layers.SOURCE, "**", "*.c"), recursive=True):
        relative = os.path.relpath(path, layers.SOURCE)
        files["src_" + relative.replace("/", "_")] = relative
    objects = glob.glob(os.path.join(build, "libcotan.so*.p", "*.o")) + glob.glob(os.path.join(build, "cotan.p", "*.o"))
    tests = glob.glob(os.path.join(build, "tests", "*.p", "*.o"))
    defined, users = {}, {}
    for path in objects + tests:
        source = source_of(path)
        if source is None and os.path.basename(path).startswith("src_"):
            continue  # of a file that is no more
        made, used = symbols(path)
        for name in made if source else ():
            defined[name] = source
        for name in used:
            users.setdefault(name, set()).add(source or os.path.basename(path))
    if not defined or len({*defined.values()}) < len(files) / 2:
        print(f"{build} holds no object files of src/\n0 passed, 1 failed")
        sys.exit(1)
    wrong = 0
    for name, source in sorted(defined.items(), key=lambda item: (item[1], item[0])):
        faults = faults_of(name, source, users.get(name, set()) - {source})
        for fault in faults:
            print(f"src/{source}: {name} {fault}")
        wrong += len(faults) > 0
    print(f"{len(defined) - wrong} passed, {wrong} failed")
    sys.exit(wrong > 0)


def is_public(name):
    with open(os.path.join(layers.ROOT, "include", "cotan.h"), encoding="utf-8") as file:
        return re.search(rf"\b{name}\(", file.read()) is not None


def faults_of(name, source, users):
    folder = os.path.dirname(source)
    prefixes = layers.LAYERS.get(folder, [])
    if name == "main":
        return []
    faults = []
    if not any(name.startswith(prefix) for prefix in prefixes):
        faults.append(f"has not the prefix {' or '.join(prefixes)}")
    if not users and not (name.startswith("cotan_") and is_public(name)):
        faults.append("is used in no other file")
    for user in sorted(users):
        if not user.endswith(".c") or user not in files.values():
            continue
        place = os.path.dirname(user)
        why = layers.wrong(place, folder)
        in_table = any(layers.within(folder, below) for below in layers.TABLES.get(user, ()))
        if why and not in_table and name not in layers.door(place, folder):
            faults.append(f"is used by src/{user}: {why}")
    return faults


main()
