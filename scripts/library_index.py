#!/usr/bin/env python3
"""docs/library-index.md, the names of the library in alphabetical order, is made of docs/library.md. With --write it is written;
otherwise it is compared with what stands there. Prints the counts.

The names are those of the signatures in a section's haskell blocks. A section without signatures has its names in the text, in backquotes."""
import os
import re
import sys

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
NAME = r"[a-z_][\w']*|\([^\w\s()]+\)"
SIGNATURE = re.compile(rf"^((?:{NAME})(?:, (?:{NAME}))*) :: ", re.M)
HEAD = """# The functions of the library, by name

Made by `scripts/library_index.py` from [the library](library.md), which says what each is. A name of [the prelude](library.md#the-prelude) needs no
import; for others, import one of the modules.
"""


def read(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


def names_of(section):
    blocks = re.findall(r"^```haskell\n(?!-- )(.*?)^```", section, re.M | re.S)
    names = [name.strip("()") for block in blocks for names in SIGNATURE.findall(block) for name in names.split(", ")]
    return dict.fromkeys(names or re.findall(r"`((?!main`)[a-z][\w']+)`", section))


def index(page):
    places, groups = {}, {}
    parts = re.split(r"^## (.*)\n", page, flags=re.M)
    for title, section in zip(parts[1::2], parts[2::2]):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for name in names_of(section):
            places.setdefault(name, []).append(f"[{title.replace('The p', 'the p')}](library.md#{anchor})")
    for name in sorted(places, key=lambda name: (name[0].isalpha(), name.lower(), name)):
        text = name.replace("|", "\\|")
        row = f"| `{text}` | {', '.join(places[name])} |\n"
        groups.setdefault(name[0].upper() if name[0].isalpha() else "Operators", []).append(row)
    made = [f"\n## {group}\n\n| name | where |\n|---|---|\n{''.join(rows)}" for group, rows in groups.items()]
    return HEAD + "".join(made), len(places)


def main():
    made, count = index(read("library.md"))
    if "--write" in sys.argv:
        with open(os.path.join(DOCS, "library-index.md"), "w", encoding="utf-8") as file:
            file.write(made)
    wrong = read("library-index.md") != made
    if wrong:
        print("docs/library-index.md is not that of docs/library.md: scripts/library_index.py --write")
    print(f"{count * (not wrong)} passed, {int(wrong)} failed")
    sys.exit(wrong)


main()
