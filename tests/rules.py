#!/usr/bin/env python3
"""Which rewrite rules fire: those of the passes over Flow, of its derivatives, and of how C is written.

    tests/rules.py [--cotan PATH] [--generated N] [--verbose] [WORD…]

A rule is a place in the code that says CT_FIRED("pass.rule"): src/base/rules.h. The commands of golden programs are run up
to the C that they are compiled to, and what fires is counted (COTAN_COUNT_RULES): with exact mathematics, and those of
the groups of BOTH with fast mathematics too. A rule that never fires fails: a golden program has to be written that
makes it fire, or the rule has to go. With --generated, N programs of tests/generate say whether such a rule fires in
one of them; that helps to write the golden program, and is not enough.
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

BOTH = ("flow/", "native/")
RULE = re.compile(r'CT_FIRED\(\s*"([a-z0-9_.]+)"\s*\)')
# Commands that compile nothing, or much the same again.
LEFT_OUT = re.compile(r"cotan (?:fmt|type|core|repl|cache|methods|explain|compare|help|version)\b|--method (?!native)|--engine eval")


def rules():
    """The names of all rules, each with a file that it is in."""
    found = {}
    for folder, _, names in sorted(os.walk(os.path.join(golden.ROOT, "src"))):
        for name in sorted(names):
            if name.endswith(".c"):
                path = os.path.join(folder, name)
                for rule in RULE.findall(golden.read(path)):
                    found.setdefault(rule, os.path.relpath(path, golden.ROOT))
    return found


def run(job, counts, options):
    """Runs a command without a C compiler, so that it ends where native code would be compiled."""
    command, folder, name, math = job
    environment = dict(os.environ, PATH=os.path.dirname(options.cotan) + os.pathsep + os.environ["PATH"], NO_COLOR="1",
                       LC_ALL="C.UTF-8", COTAN_ENGINE="native", COTAN_NATIVE="require", COTAN_MATH=math, CC="false",
                       COTAN_COUNT_RULES=counts, XDG_CACHE_HOME=os.path.dirname(counts))
    try:
        subprocess.run(["sh", "-c", command.replace("FILE", name)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        pass


def golden_jobs(words):
    for path in golden.programs(words):
        folder, name = os.path.split(path)
        shown = os.path.relpath(path, golden.GOLDEN)
        for command in golden.commands_of(path) if path.endswith(".cot") else []:
            if not LEFT_OUT.search(command):
                yield command, folder, name, "exact"
                if shown.startswith(BOTH):
                    yield command, folder, name, "fast"


def generated_jobs(count, scratch):
    fuzz = os.path.join(golden.HERE, "generate", "fuzz.py")
    for seed in range(1, count + 1):
        shown = subprocess.run([fuzz, "--show", str(seed)], capture_output=True, check=True).stdout.decode()
        name, point = f"generated{seed}.cot", shown.rstrip("\n").split("\n")[-1].removeprefix("-- ")
        with open(os.path.join(scratch, name), "w", encoding="utf-8") as file:
            file.write(shown)
        for command in ("run FILE f --args", "jacobian FILE f --at"):
            for math in ("exact", "fast"):
                yield f"cotan {command} '{point}'", scratch, name, math


def count_rules(jobs, scratch, options):
    """How often each rule fires in some runs."""
    fired = collections.Counter()
    counts = os.path.join(scratch, "rules")
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        list(pool.map(lambda job: run(job, counts, options), jobs))
    if os.path.exists(counts):
        for line in golden.read(counts).splitlines():
            count, name = line.split()
            fired[name] += int(count)
        os.remove(counts)
    return fired


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--generated", type=int, default=0, metavar="N", help="look at so many generated programs besides")
    parser.add_argument("--verbose", action="store_true", help="how often each rule fired")
    parser.add_argument("--timeout", type=float, default=60)
    options = parser.parse_args()
    options.cotan = os.path.abspath(options.cotan)
    with tempfile.TemporaryDirectory() as scratch:
        fired = count_rules(golden_jobs(options.words), scratch, options)
        generated = count_rules(generated_jobs(options.generated, scratch), scratch, options)
    known = rules()
    for name in sorted(known):
        if options.verbose and fired[name]:
            print(f"{fired[name]:10} {name}")
        if not fired[name]:
            more = f"; {generated[name]} times in generated programs" if options.generated else ""
            print(f"FAIL {name}, {known[name]}: it never fires{more}")
    missing = sum(not fired[name] for name in known)
    print(f"rules: {len(known) - missing} passed, {missing} failed")
    sys.exit(1 if missing or not known else 0)


if __name__ == "__main__":
    main()
