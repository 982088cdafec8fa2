#!/usr/bin/env python3
"""docs/evidence.md: what the papers claim, and what shows it. Made of two things:

- tests/claims.txt, the list of claims: `PAPER PLACE | what is claimed`; below it, indented, `deviates: …` where Cotan does otherwise, and
  `open: …` where nothing shows it.
- tags in tests and benchmarks, one a line: `evidence: PAPER PLACE: what is shown`, in a comment of a golden program (behind `-- `), of Python (`# `)
  or of C (in a comment of its own). In Python and C the tag belongs to the function that follows or encloses it. In Python {NAME} and {NAME[key]}
  stand for a constant of the file, so that numbers are those that the test asserts.

With --write the page is written; otherwise it is compared. A claim without a tag has to be open, an open one has none, and each tag names a claim of
the list. Prints the counts."""
import ast
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CLAIMS = os.path.join("tests", "claims.txt")
PAGE = os.path.join("docs", "evidence.md")
# A bar inside of a cell.
BAR = r"\|"
KINDS = {".cot": r"^-- evidence: (.*)$", ".py": r"^ *# evidence: (.*)$", ".c": r"^ *(?:/\*|\*|//) *evidence: (.*?)(?: *\*/)?$"}
PAPERS = {
    "DELTA": "Krawiec, Peyton Jones, Krishnaswami, Ellis, Eisenberg and Fitzgibbon, *Provably Correct, Asymptotically Efficient, Higher-Order "
             "Reverse-Mode Automatic Differentiation*, POPL 2022. [Its methods](delta.md).",
    "DUAL": "Smeding and Vákár, *Dual-Numbers Reverse AD, Efficiently*, 2022. [Its methods](dual.md).",
    "DUAL 2023": "The same authors, *Efficient Dual-Numbers Reverse AD via Well-Known Program Transformations*, POPL 2023: what this version of "
                 "the paper adds or corrects.",
    "CHAD": "Smeding and Vákár, *Efficient CHAD*, POPL 2024. [Its methods](chad.md).",
    "BULK": "Smeding, Konarski, Peyton Jones and Fitzgibbon, *Dual-Numbers Reverse AD for Functional Array Languages*, 2025. [Its method](bulk.md).",
}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class Claim:
    def __init__(self, text):
        self.text, self.notes, self.shown = text, {}, []


def claims(wrong):
    """PAPER ▶ PLACE ▶ claim, in the order of the list."""
    found, last = {paper: {} for paper in PAPERS}, None
    for number, line in enumerate(read(CLAIMS).split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        head = re.match(r"(DUAL 2023|[A-Z]+) ([^|]+?) \| (.+)$", line)
        note = re.match(r"  (deviates|open): (.+)$", line)
        if head and head[1] in PAPERS and head[2] not in found[head[1]]:
            last = found[head[1]][head[2]] = Claim(head[3])
        elif note and last and not last.notes:
            last.notes[note[1]] = note[2]
        else:
            wrong.append(f"{CLAIMS}:{number}: no claim, or the second of its place: {line}")
    return found


def constants(text):
    """The constants of a Python file, by name."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                try:
                    if isinstance(target, ast.Name):
                        found[target.id] = ast.literal_eval(node.value)
                    elif isinstance(target, ast.Tuple):
                        found.update(zip((name.id for name in target.elts), ast.literal_eval(node.value)))
                except ValueError:
                    pass
    return found


def filled(text, known):
    def value(match):
        name, key = match[1], match[3]
        return str(known[name] if key is None else known[name][int(key) if key.isdigit() else key])
    return re.sub(r"\{(\w+)(\[([\w-]+)\])?\}", value, text)


def owner(path, text, position):
    """The function of a Python or C test that a tag belongs to, or None."""
    before, after = text[:position], text[position:]
    if path.endswith(".py"):
        line = before[before.rfind("\n") + 1:] + after.split("\n", 1)[0]
        inside = line.startswith(" ") and re.findall(r"^def (\w+)", before, re.MULTILINE)
        following = re.search(r"^def (\w+)", after, re.MULTILINE)
        return inside[-1] if inside else following and following[1]
    following = re.search(r"^[a-z][\w *]*?\b(\w+)\([^;{]*\) \{$", after, re.MULTILINE)
    return following and following[1]


def tags(wrong):
    """Pairs of a tag's text and the Markdown for its place."""
    found = []
    paths = [p for folder in ("tests", "bench") for p in glob.glob(os.path.join(ROOT, folder, "**", "*.*"), recursive=True)]
    for path in sorted(os.path.relpath(p, ROOT) for p in paths):
        kind = os.path.splitext(path)[1]
        if kind not in KINDS or "__pycache__" in path:
            continue
        text = read(path)
        known = constants(text) if kind == ".py" and "evidence: " in text else {}
        for match in re.finditer(KINDS[kind], text, re.MULTILINE):
            shown = path
            if kind == ".cot":
                shown = re.sub(r"^tests/golden/", "", path)[:-4]
            else:
                function = owner(path, text, match.start())
                if function is None or len(re.findall(rf"\b{function}\b", text)) < 2:
                    wrong.append(f"{path}: no function that is called follows the tag {match[1]}")
                    continue
                stem = re.sub(r"^tests/(?:c/)?", "", path)[:-len(kind)]
                shown = f"{stem}: {function.replace('_', ' ')}"
            try:
                found.append((filled(match[1], known), f"[{shown}](../{path})", path))
            except KeyError as key:
                wrong.append(f"{path}: the tag {match[1]} names no constant {key}")
    return found


def attach(found, shown, wrong):
    for text, link, path in shown:
        head = re.match(r"(DUAL 2023|[A-Z]+) ([^:]+): (.+)$", text)
        claim = head and found.get(head[1], {}).get(head[2])
        if claim:
            claim.shown.append(f"{link} {head[3]}")
        else:
            wrong.append(f"{path}: the tag names no claim of {CLAIMS}: {text}")
    for paper, places in found.items():
        for place, claim in places.items():
            if "open" in claim.notes and claim.shown:
                wrong.append(f"{CLAIMS}: {paper} {place} is open, but has a tag")
            if "open" not in claim.notes and not claim.shown:
                wrong.append(f"{CLAIMS}: nothing shows {paper} {place}, and no reason is given")


def page(found):
    everything = [claim for places in found.values() for claim in places.values()]
    undecided = sum("open" in claim.notes for claim in everything)
    deviating = sum("deviates" in claim.notes for claim in everything)
    lines = [
        "# Evidence",
        "",
        "What the five papers claim, and the test that shows it for Cotan: theorems, figures, printed examples, costs. A row names golden programs",
        "by group and name, and functions of tests; `make check` runs them. A claim is *open* if nothing shows it; then the row says why.",
        "Otherwise the last column says what is different here. Tests are not proofs: a theorem is tested on examples and on random programs.",
        "",
        f"{len(everything)} claims: {len(everything) - undecided} are shown, {deviating} of them with a difference; {undecided} are open.",
        "",
        "This page is made by `scripts/evidence.py --write`, of `tests/claims.txt` and of the tags in the tests",
        "([how](../tests/README.md#evidence)). `make check` compares.",
    ]
    for paper, places in found.items():
        lines += ["", f"## {paper}", "", PAPERS[paper], "", "| place | claim | shown by | different here, or open |", "|---|---|---|---|"]
        for place, claim in places.items():
            notes = "; ".join(f"**open**: {text}" if kind == "open" else text for kind, text in claim.notes.items())
            cells = [place, claim.text, "<br>".join(claim.shown), notes]
            lines.append(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |".replace("  |", " |"))
    return "\n".join(lines) + "\n"


def main():
    wrong = []
    found = claims(wrong)
    shown = tags(wrong)
    attach(found, shown, wrong)
    made = page(found)
    path = os.path.join(ROOT, PAGE)
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
    elif not os.path.exists(path) or read(PAGE) != made:
        wrong.append(f"{PAGE} is not what its tags and {CLAIMS} make: scripts/evidence.py --write")
    for line in wrong:
        print(line)
    total = 1 + len(shown) + sum(len(places) for places in found.values())
    print(f"{max(total - len(wrong), 0)} passed, {len(wrong)} failed")
    sys.exit(len(wrong) > 0)


main()
