#!/usr/bin/env python3
"""Haskell programs of tests/haskell: `cotan run` gives the output that GHC gives, on both engines.

NAME.hs is the program, NAME.in its input (none: it is empty), NAME.out the output, as GHC writes it. A program without `main`
gives its output as the String `result`, and is Haskell 98.

NAME.checks holds many small programs, each behind a line `-- @ TITLE`, and behind lines `-- file M.hs` the modules that it imports;
NAME.out has their outputs behind the same lines. A title that ends with `refused` is of a program that breaks a static rule:
Cotan and GHC refuse it. They run on the evaluator; with --native also as native code.

  tests/haskell.py [WORD…]       those whose names contain one of the words, against NAME.out
  tests/haskell.py --ghc         also GHC against NAME.out, where it is installed
  tests/haskell.py --bless       writes NAME.out by GHC
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

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


def split(text, mark):
    """What stands in front of the first mark; then for each the rest of its line, and what stands behind it."""
    parts = re.split(rf"(?m)^-- {mark} (.*)\n", text)
    return parts[0], list(zip(parts[1::2], parts[2::2]))


def result_of(command, program):
    """What a program of a file of checks prints, in a folder of its own: `refused` where it has to be."""
    with tempfile.TemporaryDirectory() as folder:
        body, modules = split(program, "file")
        for name, text in [("main.hs", body), *modules]:
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        done = subprocess.run(command, input=b"", capture_output=True, timeout=300, check=False, cwd=folder)
    if done.returncode == 0:
        return done.stdout.decode()
    compiled = b"E05" in done.stderr or (command[0] == "runghc" and b"error:" not in done.stderr)
    return "fails\n" if compiled else "refused\n"


def run_checks(file, commands, options):
    """The number of checks that passed, and that failed."""
    kept, passed, failed = file.with_suffix(".out"), 0, 0
    checks = split(file.read_text(encoding="utf-8"), "@")[1]
    if options.bless:
        results = [result_of(commands["ghc"], program) for _, program in checks]
        for (title, _), result in zip(checks, results):
            if (result == "refused\n") != title.endswith("refused"):
                failed += 1
                print(f"FAIL {file.name}, {title}: by its title, GHC should {'' if title.endswith('refused') else 'not '}refuse it")
        if failed:
            return passed, failed
        texts = [f"-- @ {title}\n{result}" for (title, _), result in zip(checks, results)]
        kept.write_text("".join(texts), encoding="utf-8")
    expected = dict(split(kept.read_text(encoding="utf-8"), "@")[1])
    for title, program in checks:
        for name, command in commands.items():
            found = result_of(command, program)
            if found == expected.get(title) and (found == "refused\n") == title.endswith("refused"):
                passed += 1
            else:
                failed += 1
                print(f"FAIL {file.name}, {title}, by {name}:\n  expected {expected.get(title)!r}\n  found    {found!r}")
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=str(ROOT / "build" / "cotan"))
    parser.add_argument("--ghc", action="store_true")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every N-th program, and file of checks")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="from the K-th on")
    options = parser.parse_args()
    cotan = str(pathlib.Path(options.cotan).resolve())
    there = shutil.which("runghc") is not None
    if (options.bless or options.ghc) and not there:
        print("skipped: GHC, which is not installed; the kept outputs are taken for its")
    passed = failed = 0
    for program in sorted(FOLDER.glob("*.hs"))[options.offset::options.sample]:
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
    commands = {"eval": [cotan, "run", "main.hs", "--engine", "eval", "--no-warnings"]}
    if options.native:
        commands["native"] = [cotan, "run", "main.hs", "--engine", "native", "--no-warnings"]
    if there and (options.ghc or options.bless):
        commands["ghc"] = ["runghc", "-XHaskell98", "main.hs"]
    options.bless = options.bless and there
    for file in sorted(FOLDER.glob("*.checks"))[options.offset::options.sample]:
        if not options.words or any(word in file.name for word in options.words):
            more = run_checks(file, commands, options)
            passed, failed = passed + more[0], failed + more[1]
    print(f"haskell programs: {passed} passed, {failed} failed")
    return failed > 0 or passed == 0


sys.exit(main())
