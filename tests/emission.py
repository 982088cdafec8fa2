#!/usr/bin/env python3
"""The same program of Flow in every form that it is emitted in: golden programs have to print the same bits.

    tests/emission.py [--cotan PATH] [--sample N] [--offset K] [--timeout S] [--form NAME]… [WORD…]

Each command of a golden program that runs natively is run with exact mathematics in the forms below, which differ in how
loops run, in the compiler, and in what the run time checks; docs/flow.md ("How emission is checked") says what they have
in common. The first is as plain as can be, and the program is interpreted besides; the others have to print what it does.
With fast mathematics sums may have another order: numbers are compared with a tolerance there, but any number of threads
gives the same bits. Then faults are put into the emitted C, which have to be found.
"""
import argparse
import collections
import difflib
import os
import platform
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import run as golden
from compilers import works

# Loops are parted, streams and wide accumulators used, that would be too short for that: as in tests/generate/oracle.py.
SMALL = " -DCT_PART_WORK=64 -DCT_PART_COST=0 -DCT_FAR=0 -DCT_WIDE=16"
# No function of libmvec, no parts.
UNDIVIDED = " -DCT_MATH_EXACT=1 -DCT_PART_WORK=1e18"
TOLD = re.compile(r"^! check: [^:]*: (.*)$")
CHECKED = re.compile(r"^(not |)checked: 1 programs")
MEMORY = re.compile(r" +\d+$", re.M)
# What is no question of how loops run, or is told where nothing else may be.
LEFT_OUT = re.compile(r"--dump|--math|--engine (?!native)|--threads|--keep-c|--method bulk|2>|every\.sh|CC=|XDG_|COTAN_")
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?|-?Infinity|NaN")


def compiler_that(folder, name, line):
    """A script that compiles, in a folder: `line` comes before `exec cc "$@"`."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n{line}\n")
    os.chmod(path, 0o700)
    return path


class Form:
    """A way to emit a program, and to run it: what the environment says."""

    def __init__(self, name, cc="cc", mathematics="exact", like=None, **variables):
        self.name, self.mathematics, self.like = name, mathematics, like
        self.variables = {"CC": cc, "COTAN_MATH": mathematics, "COTAN_ENGINE": "native", **{k.upper(): v for k, v in variables.items()}}

    def is_there(self):
        return works(*self.variables["CC"].split())

    def prefix(self):
        return "".join(f"export {name}='{value}'; " for name, value in self.variables.items())


def forms(folder):
    """The first of each mathematics is the plain one, to which others are compared unless they say what they are like."""
    literally = compiler_that(folder, "literally", 'exec cc "$@" -O0')
    vectors = platform.machine() == "x86_64"
    plain = {"cotan_vectorise": "off", "cotan_check_passes": "4"}
    found = [Form("plain", literally, **plain), Form("one lane", "cc -DCT_WIDTH=1"), Form("widest")]
    if vectors:
        found += [Form("two lanes", "cc -mno-avx"), Form("four lanes", "cc -mno-avx512f")]
    found += [
        Form("clang", "clang"),
        Form("parts", "cc" + SMALL),
        Form("threads", "cc" + SMALL, cotan_threads="3"),
        Form("debugged", "cc" + SMALL, cotan_threads="3", cotan_debug_runtime="1"),
        Form("debugged, scalar", "cc", cotan_vectorise="off", cotan_debug_runtime="1"),
        Form("fast, plain", literally + UNDIVIDED, "fast", **plain),
        Form("fast, widest", "cc", "fast"),
        Form("fast, parts", "cc" + SMALL, "fast"),
        Form("fast, threads", "cc" + SMALL, "fast", "fast, parts", cotan_threads="3"),
        Form("fast, debugged", "cc" + SMALL, "fast", cotan_debug_runtime="1"),
    ]
    if vectors:
        found += [Form("fast, two lanes", "cc -mno-avx", "fast")]
    return [form for form in found if form.is_there()]


def without_told(text):
    """What a command printed, and what the check has told between that."""
    lines, told = [], []
    for line in text.split("\n", 1)[1].splitlines(keepends=True):
        match = TOLD.match(line.rstrip("\n"))
        if match:
            told.append(match[1])
        else:
            lines.append(line)
    return "".join(lines), told


def alike(text, wanted, form):
    """Bits, unless mathematics is fast and nothing is said of what the form is like."""
    if form.mathematics == "exact" or form.like:
        return text == wanted
    found, expected = NUMBER.split(text), NUMBER.split(wanted)
    if found != expected:
        return False
    pairs = [(float(a), float(b)) for a, b in zip(NUMBER.findall(text), NUMBER.findall(wanted))]
    finite = [abs(b) for _, b in pairs if b == b and abs(b) != float("inf")]
    floor = 1e-3 * max(finite, default=0)
    return all(a == b or a != a or b != b or abs(a - b) <= 1e-9 * max(abs(b), floor) for a, b in pairs)


class Tally:
    def __init__(self):
        self.passed = self.failed = self.commands = self.interpreted = 0
        self.reasons = collections.Counter()

    def fail(self, what, text, wanted):
        self.failed += 1
        print(f"FAIL {what}")
        sys.stdout.writelines(difflib.unified_diff(wanted.splitlines(True), text.splitlines(True), "plain", "form"))


def try_command(path, command, chosen, options):
    """What the forms print (name ▶ text; None: it is not tried), and why they or the interpreter did not."""
    folder, name = os.path.split(path)
    texts, interpreted = {}, False
    for form in chosen:
        text, told = without_told(golden.run(form.prefix() + command, folder, name, options.cotan, options.timeout))
        # The evaluator's memory depends on the number of threads: the last column of a comparison.
        texts[form.name] = MEMORY.sub("", text) if "cotan compare" in command else text
        if form.variables.get("COTAN_CHECK_PASSES"):
            # Native code alone is told of, also where the interpreter gives up. What is about memory depends on the form.
            if not any(CHECKED.match(line) for line in told):
                return None, "it does not run natively"
            interpreted = all(CHECKED.match(line) and CHECKED.match(line)[1] == "" for line in told)
            if "error[E0801]" in text or "error[E0804]" in text:
                return None, "it is about memory"
    return texts, None if interpreted else "it takes the interpreter too long"


def check_golden(options, chosen):
    tally = Tally()
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        jobs = []
        for path in list(golden.programs(options.words))[options.offset::options.sample]:
            if not path.endswith(".cot") or os.path.exists(path[:-4] + ".slow"):
                continue
            for command, fallbacks in zip(golden.commands_of(path), golden.fallbacks_of(path)):
                if not LEFT_OUT.search(command) and not fallbacks[1]:
                    jobs.append((path, command, pool.submit(try_command, path, command, chosen, options)))
        for path, command, job in jobs:
            texts, why = job.result()
            if why:
                tally.reasons[why] += 1
            if texts is None:
                continue
            tally.commands += 1
            tally.interpreted += why is None
            plain = {form.mathematics: form.name for form in reversed(chosen)}
            for form in chosen:
                wanted = texts[form.like if form.like in texts else plain[form.mathematics]]
                if alike(texts[form.name], wanted, form):
                    tally.passed += 1
                else:
                    tally.fail(f"{os.path.relpath(path, golden.GOLDEN)} ({form.name}): $ {command}", texts[form.name], wanted)
    for why, count in tally.reasons.most_common(5):
        print(f"{count} commands: {why}")
    print(f"{tally.commands} commands in {len(chosen)} forms, {tally.interpreted} of them interpreted")
    return tally.passed, tally.failed + (tally.commands == 0 and options.sample == 1 and not options.words)


# ---- faults on trial ----

TRIAL = """table :: Int -> Array (Array Double)
table n = build n (\\i -> build n (\\j -> 0.5 + toDouble (mod (i * j) 7)))

scaled :: Array (Array Double) -> Array (Array Double)
scaled m = map (\\row -> map (\\x -> x / sum row) row) m

once :: Int -> Double
once n = let m = scaled (table n) in sum (map (\\row -> product (zipWith (\\x y -> 1 + x * y) row (m ! 3))) m)

main = once 37 + once 38
"""
DEBUGGED = {"cotan_debug_runtime": "1"}
# What is put in place of what in the emitted C; in which form; what is told. With nothing told, another number is printed.
FAULTS = [
    (r"s/0\.5 + /0.25 + /", {"cotan_vectorise": "off", "cotan_check_passes": "4"}, "", "native code changes what"),
    (r"s/\(acc_[0-9]* = ct_all\)(1\.0)/\1(1.5)/", {}, "", None),
    (r"s/ = from;/ = from + (from > 0);/", {}, SMALL, None),
    (r"s/ = from;/ = from + (from > 0);/", {"cotan_threads": "3"}, SMALL, None),
    (r"s/^ *xs_[0-9]*\[CT_FROM.*ct_lanes.*$//; s/^ *xs_[0-9]*\[CT_FROM.*rows.*$//", DEBUGGED, "", "NaN"),
    (r"s/\(i_[0-9]*\) + CT_LANES <= /\1 < /", DEBUGGED, "", "is outside of what there is"),
    (r"s/CT_IN(3 \*/CT_IN(39 */", DEBUGGED, "", "is outside of what there is"),
    (r"s/CT_FROM(\(i_[0-9]*\), 1,/CT_FROM(1 + \1, 1,/", DEBUGGED, "", "is outside of what there is"),
    (r"s/^ *ct_drop(rt, m_[0-9]*);/&&/", DEBUGGED, "", "an object is used after its release"),
    (r"s/^ *ct_drop(rt, \(m_[0-9]*\));/&((int64_t *)\1)[2] = 0;/", DEBUGGED, "", "written to after its release"),
    (r"s/^ *ct_drop(rt, m_[0-9]*);//", DEBUGGED, "", "of memory are left of the run"),
]


def try_fault(options, name, number, fault, sound):
    edit, variables, flags, wanted = fault
    folder = os.path.dirname(name)
    spoil = f"for file; do case \"$file\" in *.c) cp \"$file\" sound.c; sed -i '/cotan_constant_words;/,${{{edit}}}' \"$file\";"
    spoil += " cmp -s sound.c \"$file\" && echo '#error nothing is spoilt' >\"$file\";; esac; done"
    compiler = compiler_that(folder, f"spoils{number}", spoil + '\nexec cc "$@"')
    form = Form("trial", compiler + flags, **variables)
    text = golden.run(form.prefix() + "cotan run FILE --no-warnings", folder, os.path.basename(name), options.cotan, options.timeout, (set(), set()))
    found = text.split("\n", 1)[1]
    if found != sound and (wanted is None or wanted in found) and "error[E0707]" not in found:
        return True
    print(f"FAIL the fault {edit} is not found:\n{text}", end="")
    return False


def check_faults(options):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "trial.cot")
        with open(name, "w", encoding="utf-8") as file:
            file.write(TRIAL)
        plain = Form("plain")
        sound = golden.run(plain.prefix() + "cotan run FILE", folder, "trial.cot", options.cotan, options.timeout).split("\n", 1)[1]
        results = [try_fault(options, name, number, fault, sound) for number, fault in enumerate(FAULTS)]
    return results.count(True), results.count(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every N-th program")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="from the K-th on")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--form", action="append", help="only these, and what they are compared with")
    options = parser.parse_args()
    options.cotan = os.path.abspath(options.cotan)
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        chosen = forms(folder)
        if options.form:
            kept = {form.name for form in chosen if form.name in options.form}
            kept |= {form.like for form in chosen if form.name in kept} | {"plain"}
            kept |= {"fast, plain"} if any(name and name.startswith("fast") for name in kept) else set()
            chosen = [form for form in chosen if form.name in kept]
        passed, failed = check_golden(options, chosen)
    found, missed = check_faults(options)
    print(f"emission: {passed + found} passed, {failed + missed + (found == 0)} failed")
    sys.exit(1 if failed or missed or not found else 0)


if __name__ == "__main__":
    main()
