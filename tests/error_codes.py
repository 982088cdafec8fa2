#!/usr/bin/env python3
"""Every code of src/base/errors.def is told somewhere in a golden .out file, or is tested elsewhere; `cotan explain`
says something of each; and docs/errors.md lists all."""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Codes that no small program brings about: where they are tested instead.
ELSEWHERE = {
    "E0108": "tests/c/test_syntax.c",  # a source of more than 2 GB
    "E0404": "tests/c/test_elab.c",
    "E0610": "tests/numpy_files.py",  # spoilt binary files
    "E0611": "tests/numpy_files.py",
    "E0612": "tests/numpy_files.py",
    "E0613": "tests/c/test_function.c",
    "E0706": "tests/fit.py",
    "E0711": "tests/fit.py",
    "E0804": "tests/c/test_api.c",  # a caller stops the run
}
NEVER = {"E0901"}  # what cannot happen


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def told():
    """The codes in the errors and warnings that golden programs print."""
    codes = set()
    for folder, _, names in os.walk(os.path.join(ROOT, "tests", "golden")):
        for name in names:
            if name.endswith(".out"):
                text = read(os.path.join(folder, name))
                codes.update(re.findall(r'(?:error\[|warning\[|"code":")(E\d{4})', text))
    return codes


def explained(cotan, code, title):
    """What is wrong with the explanation, or None."""
    done = subprocess.run([cotan, "explain", code], capture_output=True, encoding="utf-8", check=False)
    head, _, body = done.stdout.partition("\n\n")
    if done.returncode != 0 or head != f"{code}: {title}":
        return f"explain says {done.stdout!r} {done.stderr!r}"
    if len(body.split()) < 8 or not body.rstrip().endswith("."):
        return f"the explanation says little: {body!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    cotan = os.path.abspath(parser.parse_args().cotan)
    rows = re.findall(r'CT_ERROR\((E\d{4}), "((?:[^"\\]|\\.)*)"', read("src/base/errors.def"))
    known, golden = [code for code, _ in rows], told()
    wrong = []
    if known != sorted(set(known)):
        wrong.append("errors.def: the codes are not in order, or one is there twice")
    for code, title in rows:
        if code == "E0000":
            continue
        if code in ELSEWHERE:
            if code not in read(ELSEWHERE[code]):
                wrong.append(f"{code}: not tested in {ELSEWHERE[code]}")
        elif code not in NEVER and code not in golden:
            wrong.append(f"{code}: no golden program has this error")
        fault = explained(cotan, code, title)
        if fault:
            wrong.append(f"{code}: {fault}")
    if re.findall(r"^\| (E\d{4}) \| (.*) \|$", read("docs/errors.md"), re.M) != rows[1:]:
        wrong.append("docs/errors.md: its table is not that of the codes and titles of errors.def")
    for code in sorted(golden - set(known)):
        wrong.append(f"{code}: in a golden program, but not in errors.def")
    for line in wrong:
        print("FAIL", line)
    print(f"error codes: {len(rows) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(1 if wrong else 0)


main()
