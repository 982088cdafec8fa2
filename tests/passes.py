#!/usr/bin/env python3
"""Every pass over Flow checked on golden programs, and faults on trial that the checks have to find.

    tests/passes.py [--cotan PATH] [--sample N] [--timeout S] [WORD…]

Commands of golden programs are run natively under COTAN_CHECK_PASSES=3: after each pass the program is interpreted on
the command's input, and what the passes, native code, the evaluator and both modes of derivatives give is held against
each other (docs/flow.md, "How passes are checked"). None may be at fault, and what is printed stays the same. Then
COTAN_TRIAL_FAULT spoils a program behind one pass, for every pass: the command must end with exit 4 and name it.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import run as golden

TOLD = re.compile(r"^! check: [^:]*: (.*)$")
CHECKED = re.compile(r"^checked: (\d+) programs")
REASON = re.compile(r"^(?:.*: )?not checked[^:]*: (?:\d+ programs: )?(.*)$")
PASS = re.compile(r"^FLOW_RUN\((\w+),", re.MULTILINE)

# Additions, in the program and in its derivatives, that no pass takes away.
TRIAL = """f :: Array Double -> Double
f xs = foldl (\\a x -> a * x + sin a) 1 (map (\\x -> x * exp x + 2) xs)
"""


def passes():
    with open(os.path.join(golden.ROOT, "src", "flow", "opt", "passes.def"), encoding="utf-8") as file:
        return list(dict.fromkeys(PASS.findall(file.read())))


# Where standard error is a part of what is looked at, nothing is told there.
QUIET = "export COTAN_CHECK_PASSES=2; "


def quietly(command):
    return QUIET + command if "2>" in command else command


def without_told(text):
    """What a command printed, and what the checks have told between that."""
    lines, told = [], []
    for line in text.replace("$ " + QUIET, "$ ", 1).splitlines(keepends=True):
        match = TOLD.match(line.rstrip("\n"))
        if match:
            told.append(match[1])
        else:
            lines.append(line)
    return "".join(lines), told


def check_golden(options):
    passed = failed = runs = checked = 0
    reasons = collections.Counter()
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        jobs, commands_of = [], {}
        for path in list(golden.programs(options.words))[options.offset::options.sample]:
            if not path.endswith(".cot") or os.path.exists(path[:-4] + ".slow"):
                continue
            folder, name = os.path.split(path)
            commands = commands_of[path] = golden.commands_of(path)
            jobs.append((path, [pool.submit(golden.run, quietly(c), folder, name, options.cotan, options.timeout, fallbacks)
                                for c, fallbacks in zip(commands, golden.fallbacks_of(path))]))
        for path, results in jobs:
            expected = golden.split(golden.read(path[:-4] + ".out"))
            for command, wanted, result in zip(commands_of[path], expected, results):
                if "--count-rules" in command:  # a check runs more passes
                    continue
                text, told = without_told(result.result())
                if "error[E0801]" in wanted:
                    text, wanted = golden.without_place(text), golden.without_place(wanted)
                for line in told:
                    runs += line.startswith("checked") or REASON.match(line) is not None
                    checked += int(CHECKED.match(line)[1]) if CHECKED.match(line) else 0
                    reasons.update([REASON.match(line)[1]] if REASON.match(line) else [])
                if text == wanted or golden.is_close(text, wanted):
                    passed += 1
                    continue
                failed += 1
                print(f"FAIL {os.path.relpath(path, golden.GOLDEN)}\n{text}", end="")
    for reason, count in reasons.most_common():
        print(f"{count} times not checked: {reason}")
    print(f"{checked} programs after a pass agree with those before")
    return passed, failed + (checked == 0)


def try_fault(options, name, fault, wanted):
    """Whether a command whose program is spoilt ends as it should."""
    environment = dict(os.environ, COTAN_TRIAL_FAULT=fault, COTAN_CHECK_PASSES="2", NO_COLOR="1")
    command = [options.cotan, "grad", name, "f", "--at", "[1, 2, 3]", "--engine", "native", "--math", "exact"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=options.timeout, check=False)
    text = done.stderr.decode("utf-8", "replace")
    if done.returncode == 4 and not done.stdout and wanted in text and "E0901" in text:
        return True
    print(f"FAIL COTAN_TRIAL_FAULT={fault}: exit {done.returncode}, wanted: {wanted}\n{text}", end="")
    return False


def check_faults(options):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "trial.cot")
        with open(name, "w", encoding="utf-8") as file:
            file.write(TRIAL)
        for one in passes():
            results.append(try_fault(options, name, one, f"the pass `{one}`"))
            results.append(try_fault(options, name, "unsound:" + one, f"the pass `{one}` leaves no sound program"))
    return results.count(True), results.count(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every N-th program")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="from the K-th on")
    parser.add_argument("--timeout", type=float, default=300)
    options = parser.parse_args()
    options.cotan = os.path.abspath(options.cotan)
    os.environ.update(COTAN_CHECK_PASSES="3", COTAN_ENGINE="native", COTAN_MATH="exact")
    faults_passed, faults_failed = check_faults(options)
    passed, failed = check_golden(options)
    failed += faults_failed + (faults_passed == 0)
    print(f"checked passes: {passed + faults_passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
