#!/usr/bin/env python3
"""The table of Flow's passes in docs/flow.md is made of src/flow/opt/passes.def. With --write it is written there;
otherwise it is compared with what stands there, and so are the passes that shells offer for --dump. Prints the counts."""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "flow.md")
BEGIN, END = "<!-- passes: made by scripts/pass_table.py -->\n", "<!-- /passes -->\n"
SHELLS = ["_cotan", "cotan.bash", "cotan.fish"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def table(text):
    runs = re.findall(r'^FLOW_RUN\((\w+), "', text, re.M)
    lines = ["| pass | runs as number | tolerance | what it does |", "|---|---|---|---|"]
    names = []
    for name, tolerance, what in re.findall(r'^FLOW_PASS\((\w+), [^,]+, [^,]+, [^,]+, ([^,]+), "(.*)"\)$', text, re.M):
        places = ", ".join(str(i + 1) for i, run in enumerate(runs) if run == name)
        lines.append(f"| `{name}` | {places} | {tolerance if tolerance != '0' else 'none'} | {what} |")
        names.append(name)
    return "\n".join(lines) + "\n", names, runs


def main():
    made, names, runs = table(read(os.path.join(ROOT, "src", "flow", "opt", "passes.def")))
    page = read(PAGE)
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    if "--write" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(before + BEGIN + made + END + after)
        old = made
    wrong = []
    if old != made:
        wrong.append("docs/flow.md: the table of passes is not that of passes.def: scripts/pass_table.py --write")
    wrong += [f"passes.def: the pass {name} never runs" for name in names if name not in runs]
    for shell in SHELLS:
        offered = set(re.findall(r"\bflow\.(\w+)", read(os.path.join(ROOT, "share", "completions", shell))))
        wrong += [f"share/completions/{shell}: --dump does not offer flow.{name}" for name in names if name not in offered]
        wrong += [f"share/completions/{shell}: there is no pass flow.{name}" for name in sorted(offered - set(names))]
    for line in wrong:
        print(line)
    print(f"{1 + len(names) + len(SHELLS) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(len(wrong) > 0)


main()
