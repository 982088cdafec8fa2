#!/usr/bin/env python3
"""Classic Haskell programs of bench/programs, natively by Cotan and by GHC with -O2: processor time of whole runs, and their ratio.

Both print the same, which is compared first: numbers with a decimal point to 12 digits, since native code adds in another order.
Cotan's native code is compiled in a run in front of the measured ones, so that it comes from the
cache. From each time that of a program is subtracted that has the same imports and prints 1: to start is, for Cotan, to read the
modules that are imported.

  bench/programs.py [NAME…]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COTAN = os.path.join(os.environ.get("COTAN_BUILD", HERE.parent / "build"), "cotan")
ROUNDS = 5


def seconds(command):
    """Processor time of a run, and what it prints."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"programs: {command[0]} ends with {process.returncode} on {command[-1]}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, out.read()


def by_cotan(program):
    return [COTAN, "run", str(program), "--engine", "native", "--no-warnings"]


def by_ghc(program, folder):
    target = os.path.join(folder, program.stem)
    subprocess.run(["ghc", "-v0", "-O2", "-outputdir", target + ".objects", "-o", target, str(program)], check=True)
    return [target]


def start_of(program, folder):
    """A program with the same imports that prints 1, compiled to native code."""
    empty = pathlib.Path(folder, f"start_{program.name}")
    imports = [line for line in program.read_text(encoding="utf-8").splitlines() if line.startswith("import ")]
    empty.write_text("\n".join([*imports, "main :: IO ()", "main = print 1", ""]), encoding="utf-8")
    seconds(by_cotan(empty))
    return empty


def rounded(text):
    return re.sub(rb"\d+\.\d+(e-?\d+)?", lambda number: b"%.11e" % float(number.group()), text)


def least(command):
    return min(seconds(command)[0] for _ in range(ROUNDS))


def main():
    if shutil.which("ghc") is None:
        sys.exit("programs: GHC is missing: apt-get install ghc")
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'program':16} {'cotan':>9} {'ghc -O2':>9} {'ratio':>7}   subtracted, to start")
        for program in sorted((HERE / "programs").glob("*.hs")):
            if len(sys.argv) > 1 and not any(word in program.name for word in sys.argv[1:]):
                continue
            ours, theirs = by_cotan(program), by_ghc(program, folder)
            if rounded(seconds(ours)[1]) != rounded(seconds(theirs)[1]):
                sys.exit(f"programs: {program.name} prints another result than by GHC")
            empty = start_of(program, folder)
            starts = least(by_cotan(empty)), least(by_ghc(empty, folder))
            cotan, ghc = max(least(ours) - starts[0], 0.001), max(least(theirs) - starts[1], 0.001)
            print(f"{program.stem:16} {cotan:8.3f}s {ghc:8.3f}s {cotan / ghc:7.2f}   {starts[0]:.3f} s and {starts[1]:.3f} s", flush=True)


if __name__ == "__main__":
    main()
