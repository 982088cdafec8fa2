#!/usr/bin/env python3
"""Mutation testing of the optimiser: does a test notice when a condition of a pass is wrong?

    tests/mutate.py [--count N] [--seed S] [--files PART…] [--list] [--again] [--budget SECONDS]

Mutates one place after the other in src/flow/opt, src/flow/ad, src/flow/analysis and src/emit, but for src/emit/export: drops a conjunct, negates a
condition, makes a comparison weaker or stricter, swaps `&&` and `||`, changes a constant, turns a verdict, drops a statement.
Each mutant is built in a copy of the tree, build-mutate/tree, where one object is compiled and the command linked anew. Then
golden programs and a few of tests/generate run natively, with Flow checked after every pass, those first that have killed most
mutants; compiled programs lie in a cache. They run as tests/run.py runs them, and some in one of the forms of FORMS besides, which a
program of tests/generate runs in all; a rule may not fire more or less often than tests/rules.txt says. tests/emitted.py follows for a mutant of src/emit. A mutant is

    killed       a test fails, crashes or takes too long: named behind it
    survived     every test passes
    stillborn    it does not compile
    equivalent   tests/mutants.txt says why no test can tell it from the original

build-mutate/results.json holds what is known, so that a run goes on where the last one ended; a mutant is known by its file, its
operator, and its line as it is written. --again looks at survivors only, once more, --list prints them. The last line counts.
"""
import argparse
import collections
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import emission
import rules as recording
import run as golden

ROOMS = ["src/flow/opt", "src/flow/ad", "src/flow/analysis", "src/emit"]
GROUPS = list(recording.BOTH)
WORK = os.path.join(golden.ROOT, "build-mutate")
TREE, BUILD, RESULTS = (os.path.join(WORK, name) for name in ("tree", "build", "results.json"))
COTAN = os.path.join(BUILD, "cotan")
EQUIVALENT = os.path.join(golden.HERE, "mutants.txt")
SECONDS = 30  # of the processor, for each process: on a machine that is busy, what takes long by the clock says nothing
TIMEOUT = 1000
# How C is emitted and run, besides as it is by itself: in parts, on threads and with what the run time checks; one number at a time; with
# fast mathematics.
FORMS = [
    emission.Form("debugged", "cc" + emission.SMALL, cotan_threads="3", cotan_debug_runtime="1"),
    emission.Form("scalar", "cc", cotan_vectorise="off", cotan_debug_runtime="1"),
    emission.Form("fast", "cc" + emission.SMALL, "fast"),
]
EMITTED = ["flow/kept", "native/streams", "native/vectors"]  # whose C is looked at

# ---- mutants ----

Mutant = collections.namedtuple("Mutant", "file number operator line new key")
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
                if "CT_FIRED" in text[a:b]:
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
        yield "compare", match.start(), match.end(), RELATIONS[match[0]]
    # But for sizes of arrays, which may be larger than need be, and for named bounds of effort and size, of which any value is right.
    for match in re.finditer(r"(?<=[=<>+\-*] )\b(\d{1,4})\b(?=[;,) ])", mask):
        line = mask[mask.rfind("\n", 0, match.start()) + 1:match.start()]
        if not re.search(r"\bfor \(|\bu?int\w* \w+ = $|^#|\bCT_NEW_ARRAY\(|\b[A-Z][A-Z_]+ = $", line):
            yield "constant", match.start(), match.end(), str(int(match[0]) + 1 if int(match[0]) != 1 else 0)
    for match in re.finditer(r"\breturn (true|false);", mask):
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
        yield Mutant(path, number, operator, line, text[:start] + new + text[end:], key)


def all_mutants(parts):
    for room in ROOMS:
        for folder, _, names in sorted(os.walk(os.path.join(golden.ROOT, room))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), golden.ROOT)
                if name.endswith(".c") and "export" not in path and (not parts or any(part in path for part in parts)):
                    yield from mutants_of(path)


# ---- building ----

def make_tree():
    """A copy of what git knows, as it is in the working tree; only what differs is written."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=golden.ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source, target = os.path.join(golden.ROOT, name), os.path.join(TREE, name)
        if not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target) or open(source, "rb").read() != open(target, "rb").read():
            shutil.copy2(source, target)
            os.utime(target)
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run(["meson", "setup", BUILD, TREE, "-Ddefault_library=static", "-Doptimization=1", "-Ddebug=false", "-Db_lto=false"],
                       check=True, capture_output=True)


def build():
    return subprocess.run(["ninja", "-C", BUILD, "-j1", "cotan"], capture_output=True, check=False).returncode == 0


def write(path, text):
    with open(os.path.join(TREE, path), "w", encoding="utf-8") as file:
        file.write(text)


# ---- tests ----

Test = collections.namedtuple("Test", "path command fallbacks wanted name form", defaults=[None])


def golden_tests(groups):
    forms = itertools.cycle([*FORMS, *[None] * 12])
    for path in golden.programs(groups):
        if not path.endswith(".cot") or os.path.exists(path[:-4] + ".slow"):
            continue
        shown = os.path.relpath(path, golden.GOLDEN)
        wanted = golden.split(golden.read(path[:-4] + ".out"))
        for command, fallbacks, text in zip(golden.commands_of(path), golden.fallbacks_of(path), wanted):
            if re.search(r"cotan (?:fmt|type|core|repl|cache|methods|explain|compare|help|version)\b", command):
                continue
            test = Test(path, command, fallbacks, text, f"{shown}: {command}")
            yield test
            form = None if emission.LEFT_OUT.search(command) or fallbacks[1] else next(forms)
            if form is not None:
                yield in_form(test, form)


def in_form(test, form):
    return test._replace(form=form, name=f"{test.name} ({form.name})")


def passes(test):
    folder, name = os.path.split(test.path)
    prefix = f"ulimit -t {SECONDS}; " + (test.form.prefix() if test.form else "")
    text = golden.run(prefix + test.command, folder, name, COTAN, TIMEOUT, test.fallbacks)
    text, wanted = text.split("\n", 1)[1], test.wanted.split("\n", 1)[1]
    if "error[E0801]" in wanted:
        text, wanted = golden.without_place(text), golden.without_place(wanted)
    return text == wanted or golden.is_close(text, wanted) or (test.form is not None and emission.alike(text, wanted, test.form))


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
            os.environ["COTAN_ENGINE"] = "eval"
            wanted = golden.run(command, folder, os.path.basename(path), COTAN, TIMEOUT)
            os.environ["COTAN_ENGINE"] = "native"
            if "! error" not in wanted and "exit" not in wanted:
                test = Test(path, command, (set(), set()), wanted, f"tests/generate, seed {seed}: {ask}")
                yield from [test] + [in_form(test, form) for form in FORMS]


def fired(counts):
    """How often each rule has fired in the last run of a test."""
    lines = golden.read(counts).split("\n") if os.path.exists(counts) else []
    found = collections.Counter()
    for line in filter(None, lines):
        count, rule = line.split()
        found[rule] += int(count)
    return found


class Tests:
    def __init__(self, options, kills):
        self.options, self.kills = options, kills
        self.counts = os.path.join(WORK, "rules")
        os.environ.update(COTAN_ENGINE="native", COTAN_MATH="exact", COTAN_CHECK_PASSES="1", COTAN_COUNT_RULES=self.counts,
                          XDG_CACHE_HOME=os.path.join(WORK, "cache"))
        tests = list(golden_tests(options.groups)) + list(generated_tests(options.generated))
        self.rules = {}
        self.tests = self.spread([test for test in tests if self.outcome(test, self.rules)[0]])
        print(f"{len(self.tests)} of {len(tests)} tests pass without a mutant", flush=True)

    def spread(self, tests):
        """In front those that make rules fire which no test before them does."""
        often, left, order = collections.Counter(), list(tests), []
        while left:
            chosen = max(left, key=lambda test: sum(often[rule] < 2 for rule in self.rules[test.name]))
            often.update(set(self.rules[chosen.name]))
            left.remove(chosen)
            order.append(chosen)
        return order

    def outcome(self, test, rules):
        """Whether a test passes; and a rule that fires more or less often than without a mutant, where tests/rules.txt says how often. Collects in
        `rules` how often each fires."""
        if os.path.exists(self.counts):
            os.remove(self.counts)
        is_right, found = passes(test), fired(self.counts)
        wanted = rules.setdefault(test.name, found)
        recorded = test.form is None and test.path.startswith(tuple(os.path.join(golden.GOLDEN, group) for group in recording.BOTH))
        differ = [rule for rule in sorted({*wanted, *found}) if wanted[rule] != found[rule]] if recorded else []
        return is_right, differ

    def script(self, name, *words):
        command = [os.path.join(golden.HERE, name), "--cotan", COTAN, *words]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def killer(self, path):
        """The first test that fails where a file has been changed; None."""
        began = time.monotonic()
        for test in sorted(self.tests, key=lambda t: -self.kills[t.name]):
            is_right, differ = self.outcome(test, self.rules)
            if differ or not is_right:
                self.kills[test.name] += 1
                return test.name if not is_right else f"tests/rules.txt: {differ[0]}, {test.name}"
            if time.monotonic() - began > self.options.budget:
                return None
        if path.startswith("src/emit") and not self.script("emitted.py", *EMITTED):
            return "tests/emitted.py"
        return None


# ---- the run ----

def equivalents():
    """What tests/mutants.txt says: a line for each mutant, as it is printed, and a line behind it, indented, that says why."""
    if not os.path.exists(EQUIVALENT):
        return set()
    return {line for line in golden.read(EQUIVALENT).split("\n") if line.startswith("src/")}


def load():
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS, encoding="utf-8") as file:
        return json.load(file)


def save(results):
    with open(RESULTS + ".new", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1, ensure_ascii=False)
    os.replace(RESULTS + ".new", RESULTS)


def verdict_on(mutant, tests):
    write(mutant.file, mutant.new)
    try:
        if not build():
            return "stillborn", ""
        by = tests.killer(mutant.file)
        return ("killed", by) if by else ("survived", "")
    finally:
        shutil.copyfile(os.path.join(golden.ROOT, mutant.file), os.path.join(TREE, mutant.file))


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
    parser.add_argument("--budget", type=float, default=300, help="seconds for the golden programs of one mutant")
    parser.add_argument("--list", action="store_true", help="only print what is known")
    parser.add_argument("--again", action="store_true", help="only survivors, once more")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results, mutants = load(), list(all_mutants(options.files))
    if not options.list:
        order = [m for m in mutants if (results.get(m.key, [""])[0] == "survived" if options.again else m.key not in results)]
        random.Random(options.seed).shuffle(order)
        make_tree()
        if not build():
            sys.exit("tests/mutate.py: the tree does not build")
        kills = collections.Counter(re.sub(r"^tests/rules.txt: [^,]*, ", "", by) for verdict, by in results.values() if verdict == "killed")
        tests = Tests(options, kills)
        excused = equivalents()
        for mutant in [m for m in order if m.key not in excused][:options.count]:
            began = time.monotonic()
            results[mutant.key] = verdict_on(mutant, tests)
            verdict, by = results[mutant.key]
            save(results)
            print(f"{verdict:9} {time.monotonic() - began:5.1f} s  {mutant.file}:{mutant.number} {mutant.operator}  {by}", flush=True)
    sys.exit(1 if report(mutants, results) else 0)


if __name__ == "__main__":
    main()
