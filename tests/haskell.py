#!/usr/bin/env python3
"""Haskell programs of tests/haskell: `cotan run` gives the output that GHC gives, on both engines.

NAME.hs is the program, NAME.in its input (none: it is empty), NAME.out the output, as GHC writes it. A program without `main`
gives its output as the String `result`.

  tests/haskell.py [WORD…]       those whose names contain one of the words, against NAME.out
  tests/haskell.py --ghc         also runghc against NAME.out, where it is installed
  tests/haskell.py --bless       writes NAME.out by runghc
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "haskell"


def output(command, given):
    """Standard output, and the exit status if it is not 0."""
    done = subprocess.run(command, input=given, capture_output=True, timeout=300, check=False)
    text = done.stdout
    if done.returncode != 0:
        text += f"exit {done.returncode}\n{done.stderr.decode(errors='replace')}".encode()
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default="build/cotan")
    parser.add_argument("--ghc", action="store_true")
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    runghc = shutil.which("runghc")
    if (options.bless or options.ghc) and runghc is None:
        print("runghc is not installed: the kept outputs are taken for GHC's")
    passed = failed = 0
    for program in sorted(FOLDER.glob("*.hs")):
        if options.words and not any(word in program.name for word in options.words):
            continue
        source, kept = program.with_suffix(".in"), program.with_suffix(".out")
        given = source.read_bytes() if source.exists() else b""
        has_main = any(line.startswith("main ") for line in program.read_text(encoding="utf-8").splitlines())
        entry = [] if has_main else ["result"]
        by_ghc = [runghc, str(program)] if has_main else ["ghc", "-e", "putStrLn result", str(program)]
        if options.bless and runghc:
            kept.write_bytes(output(by_ghc, given))
        expected = kept.read_bytes()
        runs = [(engine, [options.cotan, "run", str(program), *entry, "--engine", engine, "--no-warnings"]) for engine in ("eval", "native")]
        if options.ghc and runghc:
            runs.append(("ghc", by_ghc))
        for name, command in runs:
            found = output(command, given)
            if found == expected:
                passed += 1
                continue
            failed += 1
            print(f"FAIL {program.name} by {name}")
            wanted, got = expected.decode(errors="replace").splitlines(), found.decode(errors="replace").splitlines()
            for k in range(max(len(wanted), len(got))):
                a, b = wanted[k] if k < len(wanted) else None, got[k] if k < len(got) else None
                if a != b:
                    print(f"  line {k + 1}: expected {a!r}\n  {'':>{len(str(k + 1)) + 6}}found    {b!r}")
                    break
    print(f"Haskell programs: {passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
