#!/usr/bin/env python3
"""No folder of src/ includes a header of a folder behind it (scripts/layers.py, docs/layout.md). Prints a line for each include that does,
then how many files are right."""
import os
import re
import sys

import layers

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def why_not(folder, header):
    """What is wrong with an include in a file of this folder; None when nothing is."""
    if header == "cotan.h":
        return None
    inside = os.path.join(folder, header)
    path = inside if os.path.exists(os.path.join(layers.SOURCE, inside)) else header
    if not os.path.exists(os.path.join(layers.SOURCE, path)):
        return "there is no such file"
    target = os.path.dirname(path)
    if folder == "cli" and target != "cli":
        return "the command knows cotan.h alone"
    if layers.DOORS.get((folder, target)) == path:
        return None
    return layers.wrong(folder, target)


def main():
    passed, failed = 0, 0
    for place, _, files in sorted(os.walk(layers.SOURCE)):
        folder = os.path.relpath(place, layers.SOURCE)
        for name in sorted(files):
            if not name.endswith((".c", ".h", ".def")):
                continue
            faults = 0
            with open(os.path.join(place, name), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    match = INCLUDE.match(line)
                    why = why_not(folder, match[1]) if match else None
                    if why:
                        print(f"src/{folder}/{name}:{number}: may not include {match[1]}: {why}")
                        faults += 1
            failed += faults > 0
            passed += faults == 0
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
