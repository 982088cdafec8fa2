#!/usr/bin/env python3
"""No room includes a header of a room below it (docs/layout.md). Prints a line for each file that does, then the counts."""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ROOMS = ["base", "rt", "prim", "syntax", "types", "core", "elab", "ad", "value", "eval", "flow", "emit", "run", "io"]
ROOF = len(ROOMS)  # pipeline and api, which know all rooms; the command above them knows the public header
APART = {("flow", "eval"), ("eval", "flow")}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def level(path):
    room = path.split("/")[0]
    if room in ROOMS:
        return ROOMS.index(room)
    return ROOF + 1 if room == "cli" else ROOF


def main():
    passed, failed = 0, 0
    source = os.path.join(ROOT, "src")
    for folder, _, files in sorted(os.walk(source)):
        for name in sorted(files):
            if not name.endswith((".c", ".h", ".def")):
                continue
            path = os.path.relpath(os.path.join(folder, name), source)
            wrong = []
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    match = INCLUDE.match(line)
                    if not match or match[1] == "cotan.h":
                        continue
                    inside = "/" not in match[1] and os.path.exists(os.path.join(folder, match[1]))
                    target = path if inside else match[1]
                    pair = (path.split("/")[0], target.split("/")[0])
                    if level(target) > level(path) or pair in APART:
                        wrong.append(f"src/{path}:{number}: may not include {match[1]}")
            for line in wrong:
                print(line)
            failed += bool(wrong)
            passed += not wrong
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
