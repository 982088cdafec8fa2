#!/usr/bin/env python3
"""Derivatives on Flow: what the golden programs ask for, by the method `native`.

    tests/native.py [--cotan PATH] [--sample N] [--all] [--verbose] [WORD…]

Each command of a golden program that takes a derivative is run with --method native, and must print what the .out file
says, as in methods.py. Where Flow does not differentiate a program, the method `tape` does, or the evaluator runs it:
that fails unless a line `-- falls back: REASON` above the command says so (run.py). --all runs all commands, --sample N every N-th; programs marked slow only come with --all.
"""
import argparse
import collections
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import corpus
import methods
import run as golden

NOTE = re.compile(r"^! note: (?:by the method `tape`|the evaluator runs this): (.*)$")
REFUSED = re.compile(r"^! error\[E0707\]: there is no code by the method `native`: (.*)$", re.MULTILINE)
INSTEAD = re.compile(r"^(?:by the method `tape`|the evaluator runs this): (.*)$")


def without_notes(text):
    """The text without what tells that another method stood in, and why it did."""
    lines, reasons = [], []
    for line in text.splitlines(keepends=True):
        reason = NOTE.match(line)
        if not reason and line.startswith('! {"code":"E0000"'):
            reason = INSTEAD.match(json.loads(line[2:])["message"])
        if reason:
            reasons.append(reason[1])
        else:
            lines.append(line)
    return "".join(lines), reasons


def attempt(command, options):
    """What was printed where that is wrong, or where another method stood in unexpectedly, else None; why one did, or
    None."""
    asked = " --method native --engine native --math exact"  # libmvec differs in the last digits
    text, reasons = without_notes(command.run(asked, options.cotan, options.timeout))
    wanted, _ = without_notes(command.expected)
    agrees = methods.same(text, wanted, "--json" in command.text)
    refused = REFUSED.search(text) if command.verb == "check" else None
    if refused and any(refused[1] in above for above, _ in golden.fallbacks_of(command.path)):
        return None, refused[1]  # nothing stands in for a check
    for reason in set(reasons) - command.fallbacks:
        agrees = False
        text += f"! falls back, which no line above the command says: {reason}\n"
    return None if agrees else text, reasons[0] if reasons else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every N-th command")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="from the K-th on")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="show the commands in which another method stood in")
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    options.cotan = os.path.abspath(options.cotan)
    os.environ.setdefault("COTAN_CHECK_PASSES", "1")
    found, _ = corpus.commands(options.words, quick=not options.all)
    found = corpus.deriving(found[options.offset::options.sample], options.cotan, options.timeout)
    passed, failed, on_flow, instead = 0, 0, 0, collections.Counter()
    with ThreadPoolExecutor(max_workers=corpus.WORKERS) as pool:
        for command, (text, reason) in zip(found, pool.map(lambda c: attempt(c, options), found)):
            if reason:
                instead[reason] += 1
                if options.verbose:
                    print(f"{reason}: {command.shown()}")
            else:
                on_flow += 1
            if text is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {command.shown()}\nexpected:\n{command.expected}printed:\n{text}")
    print(f"{on_flow} commands by Flow")
    for reason, count in instead.most_common():
        print(f"{count} commands by another method: {reason}")
    print(f"native: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
