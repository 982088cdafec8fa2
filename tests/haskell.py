#!/usr/bin/env python3
"""haskell.py [--cotan PATH] [--ghc] [--bless] [WORD…]: the Haskell 98 programs of tests/haskell give what GHC gives.

Each NAME.hs defines `result`, a String, and NAME.out holds its text. Cotan runs it by the evaluator and natively. With --ghc,
`ghc -XHaskell98` has to give the same text; with --bless, what it gives becomes NAME.out. WORDs select programs by their names.
"""
import argparse
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "haskell"
ROOT = FOLDER.parent.parent


def output(command):
    done = subprocess.run(command, capture_output=True, cwd=FOLDER, timeout=300)
    text = done.stdout.decode().rstrip("\n") + "\n"
    return text if done.returncode == 0 else f"{text}exit {done.returncode}\n{done.stderr.decode()}"


def difference(expected, found):
    for number, (one, other) in enumerate(zip(expected.split("\n") + ["(end)"], found.split("\n") + ["(end)"]), 1):
        if one != other:
            return f"line {number}\n  expected {one}\n  found    {other}"
    return "lengths differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cotan", default=str(ROOT / "build" / "cotan"))
    parser.add_argument("--ghc", action="store_true")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    cotan = str(pathlib.Path(args.cotan).resolve())
    passed = failed = 0
    for program in sorted(FOLDER.glob("*.hs")):
        if args.words and not any(word in program.name for word in args.words):
            continue
        kept = program.with_suffix(".out")
        runs = {}
        if args.ghc or args.bless:
            runs["ghc"] = output(["ghc", "-XHaskell98", "-e", "putStr result", program.name])
        if args.bless:
            kept.write_text(runs["ghc"])
        expected = kept.read_text() if kept.exists() else ""
        for engine in ("eval", "native"):
            runs[engine] = output([cotan, "run", program.name, "result", "--engine", engine, "--no-warnings"])
        for name, found in runs.items():
            if found == expected:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {program.name} by {name}: {difference(expected, found)}")
    print(f"Haskell programs: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
