#!/usr/bin/env python3
"""Mutation testing of the optimiser: does a test notice when a condition of a pass is wrong?

    tests/mutate.py [--count N] [--seed S] [--files PART…] [--sample] [--list] [--again] [--jobs N]

Mutates one place after the other in the passes of src/core, in src/flow/opt, src/flow/ad, src/flow/analysis and src/emit, but for src/emit/export: drops
a conjunct, negates a condition, makes a comparison weaker or stricter, swaps `&&` and `||`, changes a constant, turns a verdict, drops a statement.
One object is compiled for a mutant, and linked with those of build. Which lines each test runs has been found once: only those that run the line of a
mutant can tell it from the original. The unit tests among them come first, the fastest at the head. Of the commands of golden programs at most
--most are asked, those first in which the rules beside the mutant fire, and that have killed mutants of the file. Such a command first runs up to the
C, which takes a thirtieth of a second: where it prints what it did without the mutant, makes the same C, and the same rules fire, there is nothing more
to see. A rule that fires more or less often than tests/rules.txt says fails, and so do other numbers of steps. Where the C differs, the program is compiled and run as tests/run.py does it, with Flow checked after every pass, and on three threads with the debug run time; in
fast mathematics and one number at a time, where C written for these differs. A few programs of tests/generate are asked besides; tests/emitted.py
follows for a mutant of src/emit. A mutant is

    killed       a test fails, crashes or takes too long: named behind it
    survived     every test passes
    stillborn    it does not compile
    equivalent   tests/mutants.txt says why no test can tell it from the original

build-mutate/results.json holds what is known, so that a run goes on where the last one ended; a mutant is known by its file, its
operator, and its line as it is written. --again looks at survivors only, once more, --list prints them. The last line counts.
"""
import argparse
import array
import bisect
import collections
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import emission
import rules as recording
import run as golden

ROOMS = ["src/core", "src/flow/opt", "src/flow/ad", "src/flow/analysis", "src/emit"]
# What writes C for others; of Core the terms themselves, which every program is made of, and evaluation by need, which tests/haskell.py looks at.
# And the faults that are put in on purpose, which tests/passes.py looks at.
LEFT_OUT = re.compile(r"^src/emit/export/|^src/core/(?:array_op|build|lint|print|print_type|type|lazy\w*)\.c$|^src/flow/opt/trial\.c$")
GROUPS = [*recording.BOTH, "derivatives/", "found/"]
MADE = os.path.join(golden.ROOT, "build")
WORK = os.path.join(golden.ROOT, "build-mutate")
TREE, COVERED, CACHE, RESULTS, COVERAGE, NOTES = (
    os.path.join(WORK, name) for name in ("tree", "covered", "cache", "results.json", "coverage.json", "notes"))
BUILD = os.path.join(TREE, "build")
BASE = os.path.join(BUILD, "cotan")
EQUIVALENT = os.path.join(golden.HERE, "mutants.txt")
SECONDS, SECONDS_TO_C = 30, 5  # of the processor, for each process: on a machine that is busy, what takes long by the clock says nothing
TIMEOUT = 1000
HOW = ["exact", "fast", "scalar"]  # how C is written
# How it runs besides: in parts, on threads and with what the run time checks; with fast mathematics; one number at a time.
DEBUGGED = emission.Form("debugged", "cc" + emission.SMALL, cotan_threads="3", cotan_debug_runtime="1")
FAST = emission.Form("fast", "cc" + emission.SMALL, "fast")
SCALAR = emission.Form("scalar", "cc", cotan_vectorise="off", cotan_debug_runtime="1")
UNIT_ENVIRONMENT = {}  # what unit tests run with
EMITTED = ["flow/kept", "native/streams", "native/vectors"]  # whose C is looked at
# Unit tests that take long, or want more than a program and its library.
UNITS_LEFT_OUT = {"api", "bulk_delta", "bulk_lower", "bulk_theorem", "interact", "out_of_memory"}
# Each block begins with a call of so many bytes of what says that it runs. When the program ends, the addresses go to the file COTAN_TRACE.
CALL = 5
NEAR = 8  # lines beside a mutant
TRACER = """#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern const char __executable_start[], etext[];
static unsigned char ran[1 << 26];
void __sanitizer_cov_trace_pc(void) { ran[((const char *)__builtin_return_address(0) - __executable_start) & (sizeof ran - 1)] = 1; }
__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("COTAN_TRACE");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    static uint32_t places[1 << 20];
    size_t count = 0, end = etext - __executable_start;
    for (size_t i = 0; i < end && i < sizeof ran && count < sizeof places / sizeof *places; i++)
        if (ran[i]) places[count++] = i;
    if (file >= 0 && write(file, places, count * sizeof *places) >= 0) close(file);
}
"""
LIBRARIES = ["-Wl,--as-needed", "-lm", "-pthread", "-ljansson", "-lzip", "-ledit", "-lnlopt", "-lcsv"]

# ---- mutants ----

Mutant = collections.namedtuple("Mutant", "file number height operator line new key")
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def masked(text):
    """The text of a C file with blanks for comments, strings and characters."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def conjuncts(mask, start, end):
    """The places of `&&` and `||` in a range that stand in no inner parentheses, with the operands beside each."""
    depth, cuts = 0, []
    for i in range(start, end):
        depth += mask[i] in "([{"
        depth -= mask[i] in ")]}"
        if depth < 0:
            break
        if depth == 0 and mask[i:i + 2] in ("&&", "||"):
            cuts.append(i)
    return cuts


def close_of(mask, start):
    """Behind the parenthesis that closes the one at `start`."""
    depth = 0
    for i in range(start, len(mask)):
        depth += mask[i] == "("
        depth -= mask[i] == ")"
        if depth == 0:
            return i
    return len(mask)


def conditions(mask):
    """Ranges of text that are conditions: of `if` and `while`, and what is returned or assigned where it has `&&` or `||`."""
    for match in re.finditer(r"\b(?:if|while) \(", mask):
        yield match.end(), close_of(mask, match.end() - 1), True
    for match in re.finditer(r"\breturn (?=[^;]*(?:&&|\|\|))|\bbool \w+ = (?=[^;,]*(?:&&|\|\|))", mask):
        end = mask.index(";", match.end())
        yield match.end(), end, False


# A comparison with a named bound of effort or size. Any value of it is right, so that a mutant of it is no fault.
BOUND = re.compile(r"(?:<|>|<=|>=) (?:MOST|LARGEST|LARGE|SMALL|LEAST|SHORT|FEW|OPENS|STRIP|SHARE_LEAST|MEMORY)\w*\b")


def is_bound(mask, start, end):
    """Whether an operand of a condition is only a comparison with a named bound."""
    operand = mask[start:end]
    return "(" not in operand and "&&" not in operand and "||" not in operand and BOUND.search(operand) is not None


def is_behind_switch(mask, at):
    """Whether a statement stands behind a `switch` that lists all constructors, each with its own result. No program comes there: the compiler
    warns where one is missing."""
    close = len(mask[:at].rstrip()) - 1
    if close < 0 or mask[close] != "}":
        return False
    depth, start = 0, close
    while start > 0:
        depth += (mask[start] == "}") - (mask[start] == "{")
        if depth == 0:
            break
        start -= 1
    head = mask[mask.rfind("\n", 0, start) + 1:start]
    return re.match(r" +switch \((?!\(int\))", head) is not None and not re.search(r"\bdefault:|\bbreak;", mask[start:close])


def edits(text):
    """(operator, start, end, replacement) of all mutants of a file."""
    mask = masked(text)
    for start, end, is_branch in conditions(mask):
        cuts = [start] + [c + 2 for c in conjuncts(mask, start, end)]
        ends = [c - 2 for c in cuts[1:]] + [end]
        kinds = {mask[c - 2:c] for c in cuts[1:]}
        if is_branch:
            yield "negate", start, end, f"!({text[start:end]})"
        if len(kinds) == 1 and "?" not in mask[start:end]:
            for i, (a, b) in enumerate(zip(cuts, ends)):
                if "CT_FIRED" in text[a:b] or is_bound(mask, a, b):
                    continue
                if i > 0:
                    yield "drop", a - 2, b, ""
                else:
                    yield "drop", a, cuts[1], ""
        for cut in cuts[1:]:
            yield "swap", cut - 2, cut, "||" if mask[cut - 2] == "&" else "&&"
    for match in re.finditer(r"(?<=[\w)\]] )(<=|>=|==|!=|<|>)(?= [\w(-])", mask):
        line = mask[mask.rfind("\n", 0, match.start()) + 1:match.start()]
        if re.search(r"\bfor \((?:(?!\) ).)*$", line) or line.lstrip().startswith("#"):
            continue  # a loop of C itself
        if BOUND.match(mask[match.start():]):
            continue
        yield "compare", match.start(), match.end(), RELATIONS[match[0]]
    # But for sizes of arrays, which may be larger than need be, and for named bounds of effort and size, of which any value is right.
    for match in re.finditer(r"(?<=[=<>+\-*] )\b(\d{1,4})\b(?=[;,) ])", mask):
        line = mask[mask.rfind("\n", 0, match.start()) + 1:match.start()]
        if not re.search(r"\bfor \(|\bu?int\w* \w+ = $|^#|\bCT_NEW_ARRAY\(|\b[A-Z][A-Z_]+ = $", line):
            yield "constant", match.start(), match.end(), str(int(match[0]) + 1 if int(match[0]) != 1 else 0)
    for match in re.finditer(r"\breturn (true|false);", mask):
        if not is_behind_switch(mask, match.start()):
            yield "verdict", match.start(1), match.end(1), "false" if match[1] == "true" else "true"
    for match in re.finditer(r"^[ ]+(?:if \([^\n]*\) )?(\w[\w>.\[\]-]*(?: [|&+-]?= |\()[^\n=]*;)$", mask, re.M):
        if not re.match(r"return|CT_FIRED|\(void\)|assert", text[match.start(1):]):
            yield "statement", match.start(1), match.end(1), ";"


def mutants_of(path):
    text = golden.read(os.path.join(golden.ROOT, path))
    seen = collections.Counter()
    for operator, start, end, new in sorted(set(edits(text)), key=lambda e: (e[1], e[2], e[0], e[3])):
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        changed = text[first:start] + new + text[end:last]
        line, number = " ".join(text[first:last].split()), text.count("\n", 0, start) + 1
        about = f"{path} | {operator} | {line} | {' '.join(changed.split())}"
        seen[about] += 1
        key = about if seen[about] == 1 else f"{about} | {seen[about]}"
        yield Mutant(path, number, text.count("\n", start, end), operator, line, text[:start] + new + text[end:], key)


def all_mutants(parts):
    for room in ROOMS:
        for folder, _, names in sorted(os.walk(os.path.join(golden.ROOT, room))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), golden.ROOT)
                if name.endswith(".c") and not LEFT_OUT.search(path) and (not parts or any(part in path for part in parts)):
                    yield from mutants_of(path)


# ---- building ----

Unit = collections.namedtuple("Unit", "file words target")  # a file of src, its compiler's command, its object


def changed_copy(source, target):
    """Copies a file if it differs; whether it did."""
    if os.path.exists(target) and open(source, "rb").read() == open(target, "rb").read():
        return False
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)
    return True


def compile_to(unit, source, target, *flags):
    words = unit.words + ["-O1", "-g0", "-w", *flags, "-o", target, "-c", source]
    return subprocess.run(words, cwd=BUILD, capture_output=True, check=False).returncode == 0


def link_to(objects, target, *flags):
    linker = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
    linked = subprocess.run(["cc", "-o", target, *objects, *LIBRARIES, *linker, *flags], cwd=BUILD, capture_output=True, check=False)
    if linked.returncode != 0:
        sys.exit(f"tests/mutate.py: {target} cannot be linked\n{linked.stderr.decode()}")


class Tree:
    """A copy of src as it is in the working tree, and of the objects of build, which have to be those of it."""

    def __init__(self):
        subprocess.run(["ninja", "-C", MADE, "cotan"], check=True, capture_output=True)
        names = subprocess.run(["git", "ls-files", "src", "include"], cwd=golden.ROOT, capture_output=True, check=True).stdout.decode().split()
        for name in names:
            changed_copy(os.path.join(golden.ROOT, name), os.path.join(TREE, name))
        self.units, self.objects, self.tests = {}, [], {}
        with open(os.path.join(MADE, "compile_commands.json"), encoding="utf-8") as file:
            for command in json.load(file):
                target = command["output"]
                unit_test = re.match(r"tests/test_(\w+)\.p/", target)
                if unit_test and unit_test[1] not in UNITS_LEFT_OUT and os.path.exists(os.path.join(MADE, target)):
                    self.tests.setdefault(unit_test[1], []).append(os.path.join(MADE, target))
                if target.startswith("tests/") or target.startswith("libcotan.a.p/"):
                    continue
                words = [word for word in shlex.split(command["command"]) if word != "ccache"]
                for flag in ("-MQ", "-MF", "-o", "-c"):
                    del words[words.index(flag):words.index(flag) + 2]
                words.remove("-MD")
                path = os.path.relpath(os.path.join(MADE, command["file"]), golden.ROOT)
                self.objects.append(target)
                made = os.path.join(BUILD, target)
                if changed_copy(os.path.join(MADE, target), made + ".whole"):
                    subprocess.run(["strip", "-g", "-o", made, made + ".whole"], check=True)
                if path.startswith(tuple(ROOMS)):
                    self.units[path] = Unit(path, words, target)
        link_to(self.objects, BASE)
        self.make_covered()

    def make_covered(self):
        """The command, and the unit tests, with what tells which blocks run."""
        objects = []
        for target in self.objects:
            unit = next((u for u in self.units.values() if u.target == target), None)
            if unit is None:
                objects.append(target)
                continue
            made = os.path.join(COVERED, unit.file.replace("/", "--")[:-2] + ".o")
            objects.append(made)
            if changed_copy(os.path.join(TREE, unit.file), made[:-2] + ".source") or not os.path.exists(made):
                if not compile_to(unit, os.path.join(TREE, unit.file), made, "-O0", "-g1", "-fsanitize-coverage=trace-pc"):
                    sys.exit(f"tests/mutate.py: {unit.file} does not compile")
        tracer = os.path.join(COVERED, "tracer.c")
        with open(tracer, "w", encoding="ascii") as file:
            file.write(TRACER)
        link_to([*objects, tracer], os.path.join(COVERED, "cotan"))
        for name in self.tests:
            self.unit_test(name, [*objects, tracer], COVERED)

    def unit_test(self, name, objects, folder):
        """A unit test made of objects, but for those of the command, among which is its own main."""
        made = os.path.join(folder, "test_" + name)
        link_to([*(o for o in objects if not o.startswith("cotan.p/")), *self.tests[name], "-lcmocka"], made)
        return made

    def mutant(self, mutant, folder):
        """The objects with that of a mutant in place of its file's, or None."""
        unit = self.units[mutant.file]
        source, target = os.path.join(folder, "mutant.c"), os.path.join(folder, "mutant.o")
        with open(source, "w", encoding="utf-8") as file:
            file.write(mutant.new)
        if not compile_to(unit, source, target, "-I" + os.path.dirname(os.path.join(TREE, mutant.file))):
            return None
        return [target if o == unit.target else o for o in self.objects]


class Blocks:
    """The lines of src that each block of a program has, by the address behind the call with which it begins."""

    def __init__(self, program):
        told = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--dwarf=decodedline", program], capture_output=True, check=True).stdout.decode()
        behind = sorted(int(a, 16) for a in re.findall(r"call +[0-9a-f]+ <__sanitizer_cov_trace_pc>\n +([0-9a-f]+):", told))
        asked = subprocess.run(["addr2line", "-e", program], input="".join(f"{a - 1:x}\n" for a in behind).encode(), capture_output=True, check=True)
        self.places, self.all = {}, collections.defaultdict(set)
        for address, place in zip(behind, asked.stdout.decode().splitlines()):
            path = place.rpartition(":")[0]
            path = path[max(path.rfind("src/"), 0):]
            if path.startswith(tuple(ROOMS)) and path.endswith(".c"):
                self.places[address] = path, set()
        for name, line, address in re.findall(r"^(\w+\.c) +(\d+) +0x([0-9a-f]+) ", told, re.M):
            of = bisect.bisect_right(behind, int(address, 16) + CALL)
            path, lines = self.places.get(behind[of - 1], ("", set())) if of > 0 else ("", set())
            if os.path.basename(path) == name:
                lines.add(int(line))
                self.all[path].add(int(line))

    def lines(self, trace):
        """By file, the lines of the blocks in a trace."""
        ran = collections.defaultdict(set)
        with open(trace, "rb") as file:
            for address in set(array.array("I", file.read())):
                if address in self.places:
                    path, lines = self.places[address]
                    ran[path] |= lines
        return ran


# ---- tests ----

Test = collections.namedtuple("Test", "path command fallbacks wanted name has_forms recorded")
Print = collections.namedtuple("Print", "text programs rules")  # of a run up to the C


def golden_tests(groups):
    for path in golden.programs(groups):
        if not path.endswith(".cot") or os.path.exists(path[:-4] + ".slow"):
            continue
        shown = os.path.relpath(path, golden.GOLDEN)
        wanted = golden.split(golden.read(path[:-4] + ".out"))
        for command, fallbacks, text in zip(golden.commands_of(path), golden.fallbacks_of(path), wanted):
            if not recording.LEFT_OUT.search(command):
                has_forms = not emission.LEFT_OUT.search(command) and not fallbacks[1]
                yield Test(path, command, fallbacks, text, f"{shown}: {command}", has_forms, shown.startswith(recording.BOTH))


def generated_tests(count):
    """Programs of tests/generate: native code is to print what the evaluator does."""
    folder = os.path.join(WORK, "generated")
    os.makedirs(folder, exist_ok=True)
    for seed in range(1, count + 1):
        path = os.path.join(folder, f"generated{seed}.cot")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                subprocess.run([os.path.join(golden.HERE, "generate", "fuzz.py"), "--show", str(seed)], stdout=file, check=True)
        point = golden.read(path).rstrip("\n").split("\n")[-1].removeprefix("-- ")
        for ask in ("run FILE f --args", "jacobian FILE f --at"):
            command = f"cotan {ask} '{point}'"
            wanted = golden.run("export COTAN_ENGINE=eval; " + command, folder, os.path.basename(path), BASE, TIMEOUT)
            if "! error" not in wanted and "exit" not in wanted:
                yield Test(path, command, (set(), set()), wanted, f"tests/generate, seed {seed}: {ask}", True, False)


def passes(test, cotan, form, scratch):
    folder, name = os.path.split(test.path)
    prefix = f"ulimit -t {SECONDS}; export XDG_CACHE_HOME={CACHE} TMPDIR={scratch}; " + (form.prefix() if form else "")
    text = golden.run(prefix + test.command, folder, name, cotan, TIMEOUT, test.fallbacks)
    text, wanted = text.split("\n", 1)[1], test.wanted.split("\n", 1)[1]
    if "error[E0801]" in wanted:
        text, wanted = golden.without_place(text), golden.without_place(wanted)
    return text == wanted or golden.is_close(text, wanted) or (form is not None and emission.alike(text, wanted, form))


def print_of(test, cotan, how, scratch, more=""):
    """What a command prints, the C that it would have compiled, and the rules that fired. Its C compiler notes what it is to compile, and fails."""
    folder, name = os.path.split(test.path)
    counts, noted = os.path.join(scratch, "rules"), os.path.join(scratch, "noted")
    for path in (counts, noted):
        open(path, "w", encoding="ascii").close()
    prefix = f"ulimit -t {SECONDS_TO_C}; ulimit -v 16000000; export COTAN_MATH={how} COTAN_COUNT_RULES={counts} CC={NOTES} NOTED={noted} "
    prefix += f"XDG_CACHE_HOME={scratch} TMPDIR={scratch}; {more}"
    if how == "scalar":
        prefix += "export COTAN_MATH=exact COTAN_VECTORISE=off; "
    text = golden.run(prefix + test.command, folder, name, cotan, TIMEOUT, test.fallbacks).split("\n", 1)[1]
    fired = collections.Counter()
    for line in filter(None, golden.read(counts).split("\n")):
        count, rule = line.split()
        fired[rule] += int(count)
    return Print(text, golden.read(noted), fired)


def lines_run(test, blocks, scratch):
    """The lines of each file that the run of a command up to the C executes."""
    trace = os.path.join(scratch, "trace")
    open(trace, "wb").close()
    for how in HOW:
        print_of(test, os.path.join(COVERED, "cotan"), how, scratch, f"export COTAN_TRACE={trace}; ")
    return blocks.lines(trace)


def unit_passes(program, scratch, **more):
    """Whether a unit test passes, and how long it takes."""
    began = time.monotonic()
    words = ["sh", "-c", f"ulimit -t {SECONDS}; ulimit -v 16000000; ulimit -c 0; exec {program}"]
    ran = subprocess.run(words, cwd=MADE, env=dict(UNIT_ENVIRONMENT, TMPDIR=scratch, XDG_CACHE_HOME=scratch, **more), capture_output=True, check=False)
    return ran.returncode == 0, time.monotonic() - began


def rules_of_programs():
    """The rules that fire in each golden program, as tests/rules.txt says."""
    found, program = {}, None
    for line in golden.read(os.path.join(golden.HERE, "rules.txt")).split("\n"):
        if line and not line.startswith(" "):
            program = found.setdefault(line, set())
        elif line:
            of, rules = line.strip().split(": ")
            program.update(f"{of}.{rule.split()[0]}" for rule in rules.split(", "))
    return found


def rules_near(mutant):
    """The three rules whose lines are next to a mutant's: a program in which they fire shows most of what is wrong there."""
    text = golden.read(os.path.join(TREE, mutant.file))
    places = [(abs(text.count("\n", 0, m.start()) + 1 - mutant.number), m[1]) for m in re.finditer(r'CT_FIRED\("([\w.]+)"\)', text)]
    return {rule for _, rule in sorted(places)[:3]}


class Tests:
    def __init__(self, options, tree, kills):
        self.options, self.kills, self.lock = options, kills, threading.Lock()
        UNIT_ENVIRONMENT.update(os.environ)
        os.environ.update(COTAN_ENGINE="native", COTAN_MATH="exact", COTAN_CHECK_PASSES="1")
        with open(NOTES, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nfor word; do case "$word" in *.c) cksum <"$word" >>"$NOTED";; esac; done\nexit 1\n')
        os.chmod(NOTES, 0o700)
        self.tests = list(golden_tests(options.groups)) + list(generated_tests(options.generated))
        self.base, self.sound, self.fired = {}, {}, rules_of_programs()
        self.cover(tree)

    def cover(self, tree):
        """Which lines each test runs. A file that has changed since is run by those that ran any of it; if one was added, all is found anew."""
        known, files = load(COVERAGE), sorted(tree.units)
        if known.get("files") != files:
            known = {"files": files, "lines": {}, "tests": {}}
        names = {f"unit test {name}, {digest(made[0])[:16]}": name for name, made in tree.tests.items()}
        missing = [t for t in self.tests if t.name not in known["tests"] or self.options.cover]
        units = [name for name in names if name not in known["tests"] or self.options.cover]
        if missing or units:
            print(f"{len(missing) + len(units)} tests are looked at for the lines that they run", flush=True)

        def note(name, blocks, ran):
            made_of = {path: digest(os.path.join(TREE, path)) for path in ran}
            known["lines"].update({made_of[path]: sorted(blocks.all[path]) for path in ran})
            known["tests"][name] = {path: [made_of[path], sorted(lines)] for path, lines in ran.items()}

        def ran_by_unit(name, blocks, scratch):
            trace = os.path.join(scratch, "trace")
            unit_passes(os.path.join(COVERED, "test_" + names[name]), scratch, COTAN_TRACE=trace)
            return blocks.lines(trace)

        for name in units:
            blocks = Blocks(os.path.join(COVERED, "test_" + names[name]))
            note(name, blocks, in_scratch(lambda scratch, of=(name, blocks): ran_by_unit(*of, scratch)))
        with ThreadPoolExecutor(max_workers=self.options.jobs) as pool:
            blocks = Blocks(os.path.join(COVERED, "cotan")) if missing else None
            for test, ran in zip(missing, pool.map(lambda t: in_scratch(lambda scratch: lines_run(t, blocks, scratch)), missing)):
                note(test.name, blocks, ran)
        save(known, COVERAGE)
        self.lines, self.runs = known["lines"], known["tests"]
        self.units = []
        for name, of in names.items():
            sound, seconds = in_scratch(lambda scratch, of=of: unit_passes(tree.unit_test(of, tree.objects, scratch), scratch))
            if sound:
                self.units.append((seconds, name, of))
        self.units.sort()

    def covers(self, name, mutant):
        if mutant.file not in self.runs[name]:
            return False
        made_of, ran = self.runs[name][mutant.file]
        if made_of != digest(os.path.join(TREE, mutant.file)):
            return True
        above = max((line for line in self.lines[made_of] if line <= mutant.number), default=0)
        return above < mutant.number - 8 or any(above <= line <= mutant.number + mutant.height for line in ran)

    def lines_near(self, name, mutant):
        """The lines that a test runs next to a mutant."""
        ran = self.runs[name][mutant.file][1]
        return ran[bisect.bisect_left(ran, mutant.number - NEAR):bisect.bisect_right(ran, mutant.number + mutant.height + NEAR)]

    def print_of_base(self, test, how, scratch):
        if (test.name, how) not in self.base:
            self.base[test.name, how] = print_of(test, BASE, how, scratch)
        return self.base[test.name, how]

    def is_sound(self, test, form, scratch):
        key = (test.name, form and form.name)
        if key not in self.sound:
            self.sound[key] = passes(test, BASE, form, scratch)
        return self.sound[key]

    def fails(self, test, cotan, how, scratch):
        """How a test fails natively whose C differs from what it is without a mutant; None."""
        forms = {"exact": [None, *([DEBUGGED] if test.has_forms else [])], "fast": [FAST] * test.has_forms, "scalar": [SCALAR] * test.has_forms}
        for form in forms[how]:
            if not passes(test, cotan, form, scratch) and self.is_sound(test, form, scratch):
                return f"{test.name} ({form.name})" if form else test.name
        return None

    def killer(self, mutant, tree, objects, scratch):
        """The first test that fails where a file has been changed; None."""
        for _, name, of in self.units:
            if self.covers(name, mutant) and not unit_passes(tree.unit_test(of, objects, scratch), scratch)[0]:
                return "unit test " + of
        cotan = os.path.join(scratch, "made", "cotan")
        os.mkdir(os.path.dirname(cotan))
        link_to(objects, cotan)
        waiting, how_many = [], 0
        order = [t for t in self.tests if self.covers(t.name, mutant)]
        turn = collections.Counter()
        turns = {t.name: turn.update([t.path]) or turn[t.path] for t in order}  # programs in turn, so that what comes first is various
        near, runs = rules_near(mutant), {t.name: self.lines_near(t.name, mutant) for t in order}
        times = collections.Counter(line for lines in runs.values() for line in lines)

        def rank(test):
            """What a test has in favour of it, measured in commands of the same program that come before: rules that fire beside the
            mutant, mutants of the file that it has killed, lines beside the mutant that few others run."""
            beside = len(near & self.fired.get(os.path.relpath(test.path, golden.GOLDEN), set()))
            rare = min(sum(1 / times[line] for line in runs[test.name]), 1)
            return turns[test.name] - 3 * beside - 2 * min(self.kills[mutant.file, test.name], 3) - 12 * rare, -self.kills[test.name]

        order.sort(key=rank)
        for number, test in enumerate(order[:self.options.most]):
            for how in HOW[:1] if number >= 20 else HOW if "emit" in mutant.file else HOW[:2]:
                base, found = self.print_of_base(test, how, scratch), print_of(test, cotan, how, scratch)
                if found == base:
                    continue
                differ = [rule for rule in sorted({*base.rules, *found.rules}) if base.rules[rule] != found.rules[rule]]
                if test.recorded and how != "scalar" and differ and print_of(test, cotan, how, scratch) == found:
                    return self.killed(mutant, test, f"tests/rules.txt: {differ[0]}, {test.name}")
                if how_many < 6:
                    how_many += 1  # these at once: most mutants that give wrong numbers give them here
                    by = self.fails(test, cotan, how, scratch)
                    if by:
                        return self.killed(mutant, test, by)
                else:
                    waiting.append((test, how))
        for test, how in random.Random(mutant.key).sample(waiting, min(len(waiting), self.options.natively)):
            by = self.fails(test, cotan, how, scratch)
            if by:
                return self.killed(mutant, test, by)
        if mutant.file.startswith("src/emit") and how_many:
            command = [os.path.join(golden.HERE, "emitted.py"), "--cotan", cotan, "--sample", "8", *EMITTED]
            if subprocess.run(command, capture_output=True, check=False).returncode != 0:
                return "tests/emitted.py"
        return None

    def killed(self, mutant, test, by):
        with self.lock:
            self.kills[test.name] += 1
            self.kills[mutant.file, test.name] += 1
        return by


# ---- the run ----

def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def equivalents():
    """What tests/mutants.txt says: a line for each mutant, as it is printed, and a line behind it, indented, that says why."""
    if not os.path.exists(EQUIVALENT):
        return set()
    return {line for line in golden.read(EQUIVALENT).split("\n") if line.startswith("src/")}


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(what, path):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(what, file, indent=1 if path == RESULTS else None, ensure_ascii=False)
    os.replace(path + ".new", path)


def in_scratch(work):
    with tempfile.TemporaryDirectory() as scratch:
        return work(scratch)


def verdict_on(mutant, tree, tests):
    began = time.monotonic()

    def work(scratch):
        objects = tree.mutant(mutant, scratch)
        if objects is None:
            return "stillborn", ""
        by = tests.killer(mutant, tree, objects, scratch)
        return ("killed", by) if by else ("survived", "")

    verdict = in_scratch(work)
    print(f"{verdict[0]:9} {time.monotonic() - began:5.1f} s  {mutant.file}:{mutant.number} {mutant.operator}  {verdict[1]}", flush=True)
    if verdict[0] == "survived":
        print(f"    {mutant.key}", flush=True)
    return verdict


def report(mutants, results):
    excused, counts = equivalents(), collections.Counter()
    for mutant in mutants:
        if mutant.key not in results:
            continue
        verdict = "equivalent" if mutant.key in excused else results[mutant.key][0]
        counts[verdict] += 1
        if verdict == "survived":
            print(f"{mutant.file}:{mutant.number}\n{mutant.key}")
    judged = counts["killed"] + counts["survived"]
    print(f"{len(mutants)} mutants, {sum(counts.values())} tried: {counts['killed']} killed, {counts['survived']} survived, "
          f"{counts['equivalent']} equivalent, {counts['stillborn']} stillborn; {100 * counts['killed'] / max(judged, 1):.1f} % killed")
    return counts["survived"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, metavar="N", help="so many mutants that are not known yet")
    parser.add_argument("--seed", type=int, default=1, help="in another order")
    parser.add_argument("--files", nargs="*", default=[], metavar="PART", help="of files whose paths hold one of these")
    parser.add_argument("--groups", nargs="*", default=GROUPS, help="golden programs whose paths begin so")
    parser.add_argument("--generated", type=int, default=6, metavar="N", help="programs of tests/generate that run too")
    parser.add_argument("--natively", type=int, default=4, metavar="N", help="at most so many tests that have other C run with it, besides the first six")
    parser.add_argument("--list", action="store_true", help="only print what is known")
    parser.add_argument("--most", type=int, default=120, metavar="N", help="at most so many of the tests that run the line")
    parser.add_argument("--sample", action="store_true", help="report these mutants alone, by file")
    parser.add_argument("--cover", action="store_true", help="find anew which lines each test runs")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many mutants at a time")
    parser.add_argument("--again", action="store_true", help="only survivors, once more")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    results, mutants = load(RESULTS), list(all_mutants(options.files))
    if not options.list:
        excused, tree = equivalents(), Tree()
        order = [m for m in mutants if (results.get(m.key, [""])[0] == "survived" if options.again else m.key not in results)]
        random.Random(options.seed).shuffle(order)
        order = [m for m in order if m.key not in excused][:options.count]
        kills = collections.Counter(re.sub(r"^tests/rules.txt: [^,]*, ", "", by) for verdict, by in results.values() if verdict == "killed")
        tests = Tests(options, tree, kills)
        with ThreadPoolExecutor(max_workers=options.jobs) as pool:
            asked = {pool.submit(verdict_on, mutant, tree, tests): mutant for mutant in order}
            for done in as_completed(asked):
                results[asked[done].key] = done.result()
                save(results, RESULTS)
        mutants = order if options.sample else mutants
    sys.exit(1 if report(mutants, results) else 0)


if __name__ == "__main__":
    main()
