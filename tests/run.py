#!/usr/bin/env python3
"""Runs the golden programs of tests/golden: see tests/README.md."""
import argparse
import difflib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
GOLDEN = os.path.join(HERE, "golden")
MARK = "-- $ "
NOTE = re.compile(r"(?:the evaluator runs this|by the method `tape`): (.*?)(?:\"|$)")
FALLS_BACK = "-- falls back: "
# What native code does not do: a command that asks for it may tell this reason.
NOT_NATIVE = [("--method bulk", "bulk differentiates for the shapes of the point"),
              ("every.sh", "bulk differentiates for the shapes of the point"),
              ("--max-steps", "steps are counted by the evaluator"),
              ("--max-depth", "waiting calls are counted by the evaluator")]
NUMBER = re.compile(r"(-?\d+\.\d+(?:e-?\d+)?)")


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def commands_of(path):
    return [line[len(MARK):] for line in read(path).split("\n") if line.startswith(MARK)]


def fallbacks_of(path):
    """For each command of a program: why it runs on the evaluator where native code is asked for, or by another method
    than `native`, as the lines `-- falls back: REASON` above it say; and why it may."""
    found, above = [], set()
    for line in read(path).split("\n"):
        if line.startswith(FALLS_BACK):
            above.add(line[len(FALLS_BACK):].strip())
        elif line.startswith(MARK):
            found.append((above, above | {reason for option, reason in NOT_NATIVE if option in line}))
            above = set()
    return found


def native_environment(fallbacks):
    """Passes are checked; and where no fallback is expected, it is an error of the command."""
    return {"COTAN_CHECK_PASSES": os.environ.get("COTAN_CHECK_PASSES", "1"),
            **({} if fallbacks[1] else {"COTAN_NATIVE": "require"})}


def run(command, folder, name, cotan, timeout, fallbacks=None):
    """What a command prints, in the form of a .out file. With `fallbacks` it is to run natively, but for these: all of
    the first set have to be told in notes, and all of the second may, which are left out."""
    environment = dict(os.environ, PATH=os.path.dirname(cotan) + os.pathsep + os.environ["PATH"], NO_COLOR="1", COTAN_MATH="exact",
                       LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
    script = command.replace("FILE", name)
    if fallbacks is not None:
        environment.update(native_environment(fallbacks))
    try:
        done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return f"$ {command}\nexit timeout\n"
    text = f"$ {command}\n"
    out = done.stdout.decode("utf-8", "surrogateescape")
    if out and not out.endswith("\n"):
        out += "\n\\ no newline\n"
    text += out
    told = set()
    for line in done.stderr.decode("utf-8", "surrogateescape").splitlines():
        note = NOTE.search(line) if fallbacks else None
        if note and note[1] in fallbacks[1]:
            told.add(note[1])
        else:
            text += f"! {line}".rstrip() + "\n"
    for reason in sorted(fallbacks[0] - told) if fallbacks else []:
        text += f"! does not fall back as it says: {reason}\n"
    if done.returncode != 0:
        text += f"exit {done.returncode}\n"
    return text


def without_notes(text, fallbacks):
    """What a .out file says without the fallbacks that it tells of: `run` leaves them out, too."""
    return "".join(line for line in text.splitlines(True)
                   if not (line.startswith("! ") and (note := NOTE.search(line)) and note[1] in fallbacks[1]))


def without_place(text):
    """Native code does not tell where memory has run out, but for one array that is too large (docs/flow.md)."""
    return "".join(line for line in text.splitlines(True) if not (line.startswith("!") and ("-->" in line or "|" in line)))


def without_memory(text):
    """Several threads have a heap each: `cotan compare` tells another peak of memory, last in a line or in JSON."""
    return re.sub(r'("peak_memory":)\d+', r"\1", re.sub(r"(?m)^(function|[a-z-]+ +(ok|DIFFERS) .*?) +\d+$", r"\1", text))


def is_close(text, wanted):
    """The same but for the last digits of reals: native code differentiates by a method of its own."""
    found, expected = NUMBER.split(text), NUMBER.split(wanted)
    if len(found) != len(expected) or found[::2] != expected[::2]:
        return False
    pairs = [(float(a), float(b)) for a, b in zip(found[1::2], expected[1::2])]
    largest = max((abs(b) for _, b in pairs), default=0)
    return all(abs(a - b) <= 1e-12 * max(abs(b), 1e-3 * largest) for a, b in pairs)


def split(text):
    """The parts of a .out file, one a command."""
    parts = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            parts.append("")
        if parts:
            parts[-1] += line
    return parts


def is_module(path):
    """A file that other programs import: its name begins with a capital, and it is no test itself."""
    return os.path.basename(path)[0].isupper() and not commands_of(path) and not os.path.exists(path[:-4] + ".out")


def programs(words):
    for folder, _, names in sorted(os.walk(GOLDEN)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            shown = os.path.relpath(path, GOLDEN)
            if words and not any(word in shown for word in words):
                continue
            if name.endswith(".cot") and not is_module(path):
                yield path
            elif name.endswith(".out") and not os.path.exists(path[:-4] + ".cot"):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("--quick", action="store_true", help="leave out programs marked slow")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--engine", choices=["eval", "native"], help="run all that can be run so; tell what could not")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every N-th program")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="which of them: from the K-th on")
    options = parser.parse_args()
    cotan = os.path.abspath(options.cotan)
    if options.engine:
        os.environ["COTAN_ENGINE"] = options.engine
        os.environ["COTAN_MATH"] = "exact"
    expected_fallbacks = 0
    if not os.access(cotan, os.X_OK):
        sys.exit(f"tests/run.py: {cotan} is not there; run make first")
    passed = failed = 0
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        jobs = []
        for path in list(programs(options.words))[options.offset::options.sample]:
            shown = os.path.relpath(path, GOLDEN)
            if options.quick and os.path.exists(path[:-4] + ".slow"):
                continue
            commands = commands_of(path) if path.endswith(".cot") else []
            if not commands:
                print(f"FAIL {shown}: " + ("no commands" if path.endswith(".cot") else "no program beside it"))
                failed += 1
                continue
            folder, name = os.path.split(path)
            fallbacks = fallbacks_of(path) if options.engine == "native" else [None] * len(commands)
            expected_fallbacks += sum(bool(f and f[1]) for f in fallbacks)
            jobs.append((path, fallbacks, [pool.submit(run, c, folder, name, cotan, options.timeout, f)
                                           for c, f in zip(commands, fallbacks)]))
        for path, fallbacks, results in jobs:
            shown, out = os.path.relpath(path, GOLDEN), path[:-4] + ".out"
            actual = [result.result() for result in results]
            if options.bless:
                with open(out, "w", encoding="utf-8", errors="surrogateescape") as file:
                    file.write("".join(actual))
            expected = split(read(out)) if os.path.exists(out) else []
            for i, text in enumerate(actual):
                wanted = expected[i] if i < len(expected) else ""
                if fallbacks[i]:
                    wanted = without_notes(wanted, fallbacks[i])
                if options.engine == "native" and "error[E0801]" in wanted:
                    text, wanted = without_place(text), without_place(wanted)
                if os.environ.get("COTAN_THREADS", "1") != "1":
                    text, wanted = without_memory(text), without_memory(wanted)
                if text == wanted or options.engine == "native" and is_close(text, wanted):
                    passed += 1
                    continue
                failed += 1
                print(f"FAIL {shown}")
                sys.stdout.writelines(difflib.unified_diff(wanted.splitlines(True), text.splitlines(True), "expected", "found"))
            for text in expected[len(actual):]:
                failed += 1
                print(f"FAIL {shown}: more in the .out file than commands\n{text}", end="")
    if options.engine == "native":
        print(f"{expected_fallbacks} commands need not be native, as they say")
    print(f"golden programs: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
