#!/usr/bin/env python3
"""same_lets.py FILE INPUT…: holds the term that `cotan explain --method delta` prints, on standard input, to the Lets of a figure in FILE, a line
`NAME = TERM` each. The inputs are the names of the figure for Var 1, Var 2, … Two Lets are the same if their terms are, with the terms of other
Lets in the place of their names. A Zero, and a Scale of one, is left out of a sum. Prints each Let of the figure with ours, and those that only
one side has."""
import re
import sys


def parse(tokens):
    head = tokens.pop(0)
    if head == "(":
        inner = parse(tokens)
        tokens.pop(0)
        return inner
    if head in ("Scale", "Add"):
        return (head, parse(tokens), parse(tokens))
    return (head, tokens.pop(0)) if head == "Var" else head


def text(term, lets):
    """The term without names, but for those of inputs; "" for Zero."""
    if term == "Zero":
        return ""
    if term[0] == "Var":
        return text(lets[term[1]], lets) if term[1] in lets else term[1]
    if term[0] == "Scale":
        inner = text(term[2], lets)
        return inner and f"{float(term[1]):g}·{inner}"
    parts = [part for part in (text(term[1], lets), text(term[2], lets)) if part]
    return parts[0] if len(parts) == 1 else parts and f"({parts[0]} + {parts[1]})" or ""


def read(lines, pattern):
    found = {}
    for line in lines:
        match = re.match(pattern, line)
        if match:
            found[match[1]] = parse(re.findall(r"[()]|[^\s()]+", match[2]))
    return found


inputs = {str(i + 1): name for i, name in enumerate(sys.argv[2:])}
with open(sys.argv[1], encoding="utf-8") as file:
    figure = read(file, r"(\w+) = (.*)$")
ours = read(sys.stdin, r"Let (\w+) = (.*) in$")
mine = {text(term, {**ours, **{i: ("Var", name) for i, name in inputs.items()}}): name for name, term in ours.items()}
for name, term in figure.items():
    print(f"{name:4} {mine.pop(text(term, figure), 'none' if term != 'Zero' else 'none: a constant has no name here')}")
print(f"{len(mine)} of ours are not in the figure{''.join(', ' + name for name in mine.values())}")
