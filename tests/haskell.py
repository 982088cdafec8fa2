#!/usr/bin/env python3
"""Haskell programs of tests/haskell: `cotan run` gives the output that GHC gives, on both engines.

NAME.hs is the program, NAME.in its input (none: it is empty), NAME.out the output, as GHC writes it. A program without `main`
gives its output as the String `result`, and is Haskell 98.

  tests/haskell.py [WORD…]       those whose names contain one of the words, against NAME.out
  tests/haskell.py --ghc         also GHC against NAME.out, where it is installed
  tests/haskell.py --bless       writes NAME.out by GHC
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "haskell"
ROOT = FOLDER.parent.parent


def output(command, given):
    """Standard output, and the exit status if it is not 0."""
    done = subprocess.run(command, input=given, capture_output=True, timeout=300, check=False, cwd=FOLDER)
    text = done.stdout
    if done.returncode != 0:
        text += f"exit {done.returncode}\n{done.stderr.decode(errors='replace')}".encode()
    return text


def difference(expected, found):
    wanted, got = expected.decode(errors="replace").splitlines(), found.decode(errors="replace").splitlines()
    for k in range(max(len(wanted), len(got))):
        a, b = wanted[k] if k < len(wanted) else None, got[k] if k < len(got) else None
        if a != b:
            return f"line {k + 1}\n  expected {a!r}\n  found    {b!r}"
    return "line ends differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=str(ROOT / "build" / "cotan"))
    parser.add_argument("--ghc", action="store_true")
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    cotan = str(pathlib.Path(options.cotan).resolve())
    there = shutil.which("runghc") is not None
    if (options.bless or options.ghc) and not there:
        print("GHC is not installed: the kept outputs are taken for its")
    passed = failed = 0
    for program in sorted(FOLDER.glob("*.hs")):
        if options.words and not any(word in program.name for word in options.words):
            continue
        source, kept = program.with_suffix(".in"), program.with_suffix(".out")
        given = source.read_bytes() if source.exists() else b""
        has_main = any(line.startswith("main ") for line in program.read_text(encoding="utf-8").splitlines())
        end = (lambda text: text) if has_main else (lambda text: text.rstrip(b"\n") + b"\n")
        entry = [] if has_main else ["result"]
        by_ghc = ["runghc", program.name] if has_main else ["ghc", "-XHaskell98", "-e", "putStr result", program.name]
        if options.bless and there:
            kept.write_bytes(end(output(by_ghc, given)))
        expected = kept.read_bytes()
        runs = [(engine, [cotan, "run", program.name, *entry, "--engine", engine, "--no-warnings"]) for engine in ("eval", "native")]
        if options.ghc and there:
            runs.append(("ghc", by_ghc))
        for name, command in runs:
            found = end(output(command, given))
            if found == expected:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {program.name} by {name}: {difference(expected, found)}")
    print(f"haskell programs: {passed} passed, {failed} failed")
    return failed > 0 or passed == 0


sys.exit(main())
