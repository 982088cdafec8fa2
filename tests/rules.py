#!/usr/bin/env python3
"""Which rewrite rules fire: those of the passes over Flow, of its derivatives, and of how C is written.

    tests/rules.py [--cotan PATH] [--generated N] [--verbose] [--bless] [--sample N --offset K] [WORD…]

A rule is a place in the code that says CT_FIRED("pass.rule"): src/base/rules.h. The commands of golden programs are run up
to the C that they are compiled to, and what fires is counted (COTAN_COUNT_RULES): with exact mathematics, and those of
the groups of BOTH with fast mathematics too. A rule that never fires fails: a golden program has to be written that
makes it fire, or the rule has to go. With --generated, N programs of tests/generate say whether such a rule fires in
one of them; that helps to write the golden program, and is not enough.

Besides, there are counts of what is made: steps.KIND, the steps of each kind in the Flow that is written as C; steps.in_loops, those
of them in loops; and c.lines. What only makes programs slower is seen by them.

tests/rules.txt says how often each rule fires in each program of BOTH, and, for rules that fire in none of these, in a
few others. Only these run, and of them only every N-th with --sample: that each rule is in the file is then the rest of
the test. What differs fails too: it is told. --bless writes the file anew; it runs all golden programs, and so finds the few.
"""
import argparse
import collections
import difflib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import run as golden

BOTH = ("flow/", "native/")
RECORD = os.path.join(golden.HERE, "rules.txt")
RULE = re.compile(r'CT_FIRED\(\s*"([a-z0-9_.]+)"\s*\)')
# Commands that compile nothing, or much the same again.
LEFT_OUT = re.compile(r"cotan (?:fmt|type|core|repl|cache|methods|explain|compare|help|version)\b|cotan check\b(?!.*--engine native)|--method (?!native)|--engine eval")


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


def run(job, scratch, options):
    """How often each rule fires in a command. It runs without a C compiler, so that it ends where native code would be compiled."""
    command, folder, name, math = job
    with tempfile.NamedTemporaryFile("r", dir=scratch) as counts:
        environment = dict(os.environ, PATH=os.path.dirname(options.cotan) + os.pathsep + os.environ["PATH"], NO_COLOR="1",
                           LC_ALL="C.UTF-8", COTAN_ENGINE="native", COTAN_NATIVE="require", COTAN_MATH=math, CC="false",
                           COTAN_COUNT_RULES=counts.name, XDG_CACHE_HOME=scratch)
        try:
            subprocess.run(["sh", "-c", command.replace("FILE", name)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=options.timeout, check=False)
        except subprocess.TimeoutExpired:
            pass
        fired = collections.Counter()
        for line in counts:
            count, rule = line.split()
            fired[rule] += int(count)
        return fired


def recorded_lines():
    """What tests/rules.txt says, by program."""
    recorded, program = collections.defaultdict(list), None
    for line in golden.read(RECORD).splitlines():
        if line.startswith("    "):
            recorded[program].append(line.strip())
        else:
            program = line
    return recorded


def golden_jobs(options):
    recorded = recorded_lines()
    chosen = [path for path in golden.programs(options.words)
              if options.bless or options.words or (shown := os.path.relpath(path, golden.GOLDEN)).startswith(BOTH) or shown in recorded]
    for path in chosen[options.offset::options.sample]:
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
    """How often each rule fires in some runs, for each program."""
    jobs, fired = list(jobs), collections.defaultdict(collections.Counter)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for (_, folder, name, _), counts in zip(jobs, pool.map(lambda job: run(job, scratch, options), jobs)):
            fired[os.path.relpath(os.path.join(folder, name), golden.GOLDEN)] += counts
    return fired


def lines_of(fired):
    """What tests/rules.txt says of a program: a line for each pass."""
    lines = collections.defaultdict(list)
    for rule, count in sorted(fired.items()):
        name, _, what = rule.partition(".")
        lines[name].append(f"{what} {count}")
    return [f"{name}: {', '.join(counts)}" for name, counts in lines.items()]


def to_write_down(fired, recorded):
    """What fires, by program: all in those of BOTH; in others, what fires in none before them."""
    chosen = {name: counts for name, counts in fired.items() if name.startswith(BOTH)}
    met = {rule for counts in chosen.values() for rule in counts}
    for name in sorted(set(fired) - set(chosen), key=lambda name: (name not in recorded, name)):
        new = {rule: count for rule, count in fired[name].items() if rule not in met}
        if new:
            chosen[name] = new
            met.update(new)
    return chosen


def recorded_rules(lines):
    """The rules of the lines of a program."""
    return {f"{name}.{what.rsplit(' ', 1)[0]}" for line in lines for name, _, counts in [line.partition(": ")] for what in counts.split(", ")}


def check_sample(fired):
    """The number of programs that tests/rules.txt says something else of, of those that ran; only the rules in it count where it
    has not all."""
    recorded, differ = recorded_lines(), 0
    for name, counts in sorted(fired.items()):
        known = recorded_rules(recorded[name])
        found = lines_of(counts if name.startswith(BOTH) else {rule: counts[rule] for rule in known})
        if recorded[name] != found:
            differ += 1
            tell(name, recorded[name], found)
    return len(fired), differ


def tell(name, recorded, found):
    print(f"FAIL {name}: rules fire more or less often; if that is right, write it down with --bless")
    sys.stdout.writelines(line + "\n" for line in difflib.unified_diff(recorded, found, "recorded", "found", "", "", 0, ""))


def check_record(fired, options):
    """The number of programs that tests/rules.txt says something else of."""
    recorded, differ = recorded_lines(), 0
    found = {name: lines_of(counts) for name, counts in to_write_down(fired, recorded).items()
             if not options.words or name.startswith(BOTH)}
    if options.bless:
        recorded = {**({} if not options.words else recorded), **found}
        with open(RECORD, "w", encoding="utf-8") as file:
            file.writelines(f"{program}\n" + "".join(f"    {line}\n" for line in recorded[program]) for program in sorted(recorded))
    for name in sorted(set(found) | (set() if options.words else set(recorded))):
        if recorded.get(name, []) != found.get(name, []):
            differ += 1
            tell(name, recorded.get(name, []), found.get(name, []))
    return len(found), differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--generated", type=int, default=0, metavar="N", help="look at so many generated programs besides")
    parser.add_argument("--verbose", action="store_true", help="how often each rule fired")
    parser.add_argument("--bless", action="store_true", help="write down how often each rule fires")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every N-th program")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="from the K-th on")
    options = parser.parse_args()
    options.cotan = os.path.abspath(options.cotan)
    with tempfile.TemporaryDirectory() as scratch:
        programs = count_rules(golden_jobs(options), scratch, options)
        generated = sum(count_rules(generated_jobs(options.generated, scratch), scratch, options).values(), collections.Counter())
    known, fired = rules(), sum(programs.values(), collections.Counter())
    if options.sample > 1:
        compared, differ = check_sample(programs)
        for lines in recorded_lines().values():
            fired.update(recorded_rules(lines))
    else:
        compared, differ = check_record(programs, options)
    for name in sorted(known):
        if options.verbose and fired[name]:
            print(f"{fired[name]:10} {name}")
        if not fired[name] and not options.words:
            more = f"; {generated[name]} times in generated programs" if options.generated else ""
            print(f"FAIL {name}, {known[name]}: it never fires{more}")
    missing = 0 if options.words else sum(not fired[name] for name in known)
    print(f"rules: {len(known) - missing + compared - differ} passed, {missing + differ} failed")
    sys.exit(1 if missing or differ or not known else 0)


if __name__ == "__main__":
    main()
