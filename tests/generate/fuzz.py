#!/usr/bin/env python3
"""Random programs, by tests/generate/make.py, in all the ways that they can run: tests/README.md tells what is compared.

  fuzz.py [--edit [PART…]] [--from SEED] [--count N] [--time SECONDS] [--workers N] [--breadth eval|interpreted|sample|emission|all] [--state FOLDER] [--lib PATH]
          [--others FOLDER]
  fuzz.py [--edit [PART…]] --show SEED          the program of a seed, and its point

With --edit, the programs are golden ones, with a change or two (edits.py), of those whose paths hold one of the parts. With --state, seeds go on where the last run with that folder ended, and what is found lies in FOLDER/found. --others runs the
generators that are written in C, too, from the folder where they were built. What disagrees is asked again in a new process, made
smaller, and printed with the commands that show it. The exit status is 1 when anything disagreed. The last line is the count that
test runners read.
"""
import argparse
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.setrecursionlimit(20000)

import edits
import jobs
import library
import oracle
from make import make
from oracle import Question
from reduce import Reducer
from shorten import shorten
from tree import program_size, program_text

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NUMBERS = {"value bits", "value number", "value finite", "derivative bits", "derivative number", "derivative finite"}


def work_of(seed, breadth, edited):
    """Asks of a program of make.py, or of the first edit of a golden program that is a program."""

    def work(lib, tell):
        plan = oracle.plan_for(seed, breadth)
        if edited is None:
            found, notes, _ = oracle.check_program(lib, make(seed), seed, plan, tell)
            return [[(r.key(), q.key(), kind, exact, None) for r, q, kind, exact, a, b in found], notes]
        for case in edited.candidates(seed):
            found, notes, _ = oracle.check_case(lib, case, seed, plan, tell)
            if found or not any(note.startswith("not sound") for note in notes):
                return [[(r.key(), q.key(), kind, exact, case.plain()) for r, q, kind, exact, a, b in found], notes]
        return [[], {"no edit is a program": 1}]

    return work


def family(kind):
    return kind.split()[0] if kind in NUMBERS else kind


# Programs that one process runs, where none of them is compiled to machine code.
TOGETHER = {"eval": 25, "interpreted": 25}


class Finding:
    """Something that disagreed: the questions, and how."""

    def __init__(self, seed, first, second, kind, exact, case=None):
        self.seed, self.first, self.second, self.kind, self.exact = seed, first, second, kind, exact
        self.case = case and oracle.Case(*case)  # of a golden program that was edited

    def signature(self):
        return f"{self.second} against {self.first}: {self.kind}" if self.first != self.second else f"{self.second}: {self.kind}"


class Other:
    """Some programs of a generator that is written in C, which makes what disagrees smaller by itself."""

    SLICES = [  # generator, words, how many programs, the compiler
        ("random_programs", [], 20, None),
        ("random_arrays", [], 40, None),
        ("random_programs", ["--methods", "forward,tape", "--native"], 4, "cc"),
        ("random_arrays", ["--long", "--methods", "native"], 8, "cc"),
        ("random_programs", ["--methods", "native"], 5, "cc"),
        ("random_arrays", ["--methods", "forward,vector,delta,delta-fused,dual-staged,dual-cayley,dual-arrays,dual-defunc,chad"], 12, None),
        ("random_programs", ["--methods", "forward,tape", "--native"], 4, "cc -mno-avx512f"),
        ("random_arrays", ["--long", "--methods", "native"], 8, "cc -mno-avx"),
        ("random_programs", ["--methods", "native"], 5, "clang"),
        ("random_arrays", ["--long", "--methods", "native"], 8, "clang"),
    ]

    def __init__(self, folder, number, seeds, cache, timeout):
        name, words, self.count, cc = self.SLICES[number % len(self.SLICES)]
        self.began, self.timeout, self.name, self.output = time.time(), timeout, name, b""
        self.cache = tempfile.mkdtemp(prefix="other.", dir=cache)
        seed = seeds.get(name, 2_000_000)
        seeds[name] = seed + self.count
        self.words = [os.path.join(folder, name), "--seed", str(seed), "--count", str(self.count), *words]
        self.prefix = f'CC="{cc}" ' if cc else ""
        environment = dict(os.environ, XDG_CACHE_HOME=self.cache)
        if cc:
            environment["CC"] = cc
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        self.reader = self.process.stdout.fileno()

    def is_late(self):
        return time.time() > self.began + self.timeout

    def read(self):
        data = os.read(self.reader, 1 << 20)
        self.output += data
        return not data

    def end(self, late=False):
        """(passed, failed, what was printed)"""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass
        status = self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.cache, ignore_errors=True)
        text = self.output.decode(errors="replace")
        last = re.search(r"(\d+) passed, (\d+) failed\s*$", text)
        text = f"$ {self.prefix}{' '.join(self.words)}\n{text}"
        if not last or late:
            return 0, 1, text + ("it does not end\n" if late else f"exit status {status}\n")
        return int(last.group(1)), int(last.group(2)), text


class Fuzzer:
    def __init__(self, options, lib, cache, folder):
        self.o, self.lib, self.cache, self.folder = options, lib, cache, folder
        self.notes, self.done, self.signatures, self.real = {}, 0, {}, 0

    def ask_pair(self, program, finding, cpu, case=None):
        """The answers of the two questions, if they disagree in the way of the finding; None."""

        def work(lib, tell):
            found, asked = oracle.check_pair(lib, program, finding.seed, Question.of(finding.first), Question.of(finding.second), finding.exact, tell, case)
            questions = [Question.of(finding.first).command("", asked)] if finding.first != finding.second else []
            return [found, questions + [Question.of(finding.second).command("", asked)], asked.plain()]

        result, what = jobs.run(self.lib, work, self.o.timeout, self.cache, cpu)
        if result == "ok":
            for kind, a, b in what[0]:
                if family(kind) == family(finding.kind):
                    return a, b, what[1], what[2]
            return None
        if result == finding.kind and (what is None or what == finding.second):
            return "", result, None, None
        return None

    def reduce(self, finding):
        program = None if finding.case else make(finding.seed)
        slow = finding.kind == "does not end"
        self.real += 1
        count = self.signatures[finding.signature()] = self.signatures.get(finding.signature(), 0) + 1
        if self.ask_pair(program, finding, 20 if slow else 100, finding.case) is None:
            print(f"seed {finding.seed}: {finding.signature()}, but not again", flush=True)
            self.real -= 1
            self.signatures[finding.signature()] -= 1
            return
        if count > self.o.most:
            print(f"seed {finding.seed}: {finding.signature()}, the {count}th of this kind", flush=True)
            return
        if oracle.SANITIZED and finding.kind == "crashes" and finding.second.split("/")[0] == "value" and "native" not in finding.second:
            plain = Finding(finding.seed, "value", "value/sanitized", "sanitizer", True, finding.case and finding.case.plain())
            if self.ask_pair(program, plain, 60, finding.case):  # which crashes each time, whatever lies where in memory
                finding = plain
        case, how, tests = (finding.case, f"edited from {self.o.edited.path_of(finding.seed)},", 0) if program is None else self.smaller(program, finding, slow)

        def holds(text):
            return self.ask_pair(None, finding, 3 if slow else 30, oracle.Case(text, *case.plain()[1:])) is not None

        case.text, tried = shorten(case.text, holds, self.o.reduce)
        self.report(finding, case, f"{how} in {tests + tried} tests")

    def smaller(self, program, finding, slow):
        """A program of make.py made smaller: the case, what was done, in how many tests."""
        size = program_size(program)
        reducer = Reducer(program, lambda p: self.ask_pair(p, finding, 3 if slow else 30) is not None, self.o.reduce)
        reducer.run()
        answers = self.ask_pair(program, finding, 10 if slow else 100)
        if answers and answers[3]:
            case = oracle.Case(*answers[3])
        else:
            value = jobs.run(self.lib, lambda lib, tell: self.plain_case(lib, program, finding), 60, self.cache)
            case = oracle.Case(*value[1]) if value[0] == "ok" else oracle.case_of(program)
        return case, f"reduced from {size} to {program_size(program)} expressions,", reducer.tests

    def report(self, finding, case, how):
        answers = self.ask_pair(None, finding, 10 if finding.kind == "does not end" else 100, case)
        name = os.path.join(self.folder, f"{finding.seed}.cot")
        lines = ["-- " + finding.signature() + f" (seed {finding.seed}, {how})"]
        commands = answers[2] if answers and answers[2] else [Question.of(finding.second).command("", case)]
        lines += ["--   " + c.replace("PROGRAM", "FILE") for c in commands]
        if answers:
            lines += [f"-- {finding.first}: {answers[0][:600]}", f"-- {finding.second}: {answers[1][:600]}"]
        text = "\n".join(lines) + "\n" + case.text
        os.makedirs(self.folder, exist_ok=True)
        with open(name, "w") as f:
            f.write(text)
        print(f"---- {name}\n{text}", end="", flush=True)
        wrong = self.wrong_pass(name, commands)
        if wrong:
            with open(name, "a") as f:
                f.write("-- " + wrong + "\n")
            print(f"-- {wrong}", flush=True)

    def plain_case(self, lib, program, finding):
        case = oracle.case_of(program)
        fails = True
        if not finding.second.startswith("value"):
            answer, _ = oracle.value_of(lib, case)
            fails = isinstance(answer, library.Failure)
            oracle.complete(case, program, None if fails else answer[0], oracle.random.Random(finding.seed * 7 + 1))
        if fails and case.mode == "vjp":
            case.mode = "jacobian"
        return case.plain()

    def wrong_pass(self, name, commands):
        """The pass that breaks the program, where the command tells it."""
        for command in commands[-1:]:
            if "native" in command:
                command = re.sub(r"COTAN_CHECK_PASSES=\d ", "", command)
                environment = dict(os.environ, COTAN_CHECK_PASSES="2", XDG_CACHE_HOME=self.cache, NO_COLOR="1")
                try:
                    ran = subprocess.run(["sh", "-c", command.replace("PROGRAM", name)], cwd=ROOT, env=environment, capture_output=True,
                                         text=True, timeout=300)
                except subprocess.TimeoutExpired:
                    return None
                told = [line for line in ran.stderr.splitlines() if line.startswith("error[E09")]
                if told:
                    return " ".join(told)[:300]
        return None

    def other(self, name, job, late):
        passed, failed, text = job.end(late)
        self.notes[job.name] = self.notes.get(job.name, 0) + job.count
        self.done += job.count
        self.real += failed
        if failed:
            os.makedirs(self.folder, exist_ok=True)
            with open(os.path.join(self.folder, name.replace(" ", "-") + ".log"), "w") as f:
                f.write(text)
            print(text, end="", flush=True)
            self.signatures[job.name] = self.signatures.get(job.name, 0) + failed

    def take(self, seed, result, what, pending):
        """What became of a program."""
        self.done += 1
        if result == "ok":
            for k, v in what[1].items():
                self.notes[k] = self.notes.get(k, 0) + v
            # One finding of each kind for a program: the others are its like, mostly.
            kinds = {}
            for r, q, kind, exact, case in what[0]:
                kinds.setdefault((family(kind), q.split("/")[0], "native" in q), Finding(seed, r, q, kind, exact, case))
            pending += kinds.values()
        elif result == "compiles long":
            self.notes["compiles long"] = self.notes.get("compiles long", 0) + 1
            print(f"seed {seed}: the compiler takes more than {self.o.timeout} s: {what}", flush=True)
        elif result == "fault":
            self.real += 1
            print(f"seed {seed}: a fault of the oracle: {what}", flush=True)
        elif result == "does not end" and what == "value":
            # The evaluator was stopped after so many steps: what it gave shares so much that its text has no end.
            self.notes["too much work"] = self.notes.get("too much work", 0) + 1
        else:
            pending.append(Finding(seed, what, what, result, True))

    def go(self):
        o, running, pending, again, began = self.o, {}, [], [], time.time()
        state = os.path.join(o.state, "state.json") if o.state else None
        seed = o.first
        before = {"programs": 0, "discrepancies": 0, "seconds": 0.0, "others": {}, "slice": 0}
        if state and os.path.exists(state):
            with open(state) as f:
                before.update(json.load(f))
            seed = max(seed, before.get("next", seed))
        first, others, spent = seed, before["others"], {False: 0.0, True: 0.0}

        def in_time():
            return o.time is None or time.time() < began + o.time

        def wanted():
            return in_time() and (again or o.count is None or seed < first + o.count)

        def save():
            if state:
                os.makedirs(o.state, exist_ok=True)
                unfinished = [s for job in running.values() if isinstance(job, jobs.Job) for s in job.waiting + list(job.results)]
                least = min([seed] + again + unfinished + [f.seed for f in pending])
                now = {"next": least, "programs": before["programs"] + self.done, "discrepancies": before["discrepancies"] + self.real,
                       "seconds": round(before["seconds"] + time.time() - began, 1), "others": others, "slice": before["slice"]}
                with open(state + ".new", "w") as f:
                    json.dump(now, f)
                os.replace(state + ".new", state)

        try:
            while running or pending or wanted():
                while pending and not running:
                    self.reduce(pending.pop(0))
                while wanted() and not pending and len(running) < o.workers:
                    if o.others and spent[True] * 2 <= spent[False]:
                        before["slice"] += 1
                        running[f"other {before['slice']}"] = Other(o.others, before["slice"], others, self.cache, o.timeout)
                        spent[True] += 1
                        continue
                    seeds = []
                    while len(seeds) < TOGETHER.get(o.breadth, 1) and wanted():
                        seeds.append(again.pop() if again else seed)
                        seed += seeds[-1] == seed
                    running[seeds[0]] = jobs.Job(self.lib, [(s, work_of(s, o.breadth, o.edited)) for s in seeds], o.timeout, self.cache)
                ready, _, _ = select.select([j.reader for j in running.values()], [], [], 0.5)
                for s, job in list(running.items()):
                    ended, late = job.reader in ready and job.read(), job.is_late()
                    if not ended and not late:
                        continue
                    del running[s]
                    spent[isinstance(job, Other)] += time.time() - job.began
                    if isinstance(job, Other):
                        self.other(s, job, late)
                        continue
                    for one, (result, what) in job.end(late).items():
                        self.take(one, result, what, pending)
                    again += job.waiting
                    save()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        finally:
            save()
            for job in running.values():
                job.end(True)
        took = time.time() - began
        for k, v in sorted(self.notes.items()):
            print(f"  {k}: {v}")
        for k, v in sorted(self.signatures.items()):
            if v:
                print(f"  FOUND {v} x {k}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = max(used.ru_utime + used.ru_stime, 0.1)
        print(f"seeds {first} to {seed - 1}: {self.done} programs in {took:.1f} s and {used:.1f} s of the processor, {self.done / used:.1f} a second; "
              f"{self.real} disagree")
        if state:
            print(f"in all {before['programs'] + self.done} programs, {before['discrepancies'] + self.real} disagree")
        print(f"{self.done - self.real} passed, {self.real} failed")
        return self.real


def show_edited(lib, edited, seed):
    """Prints the program that work_of would ask of."""
    for case in edited.candidates(seed):
        answer, _ = oracle.value_of(lib, case)
        if not isinstance(answer, library.Failure) or answer.code.startswith(("E05", "E08")):
            print(f"-- {os.path.relpath(edited.path_of(seed), ROOT)}, edited\n{case.text}-- {case.function} {case.at()}")
            return 0
    print("no program")
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--time", type=float)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--breadth", default="sample", choices=["eval", "interpreted", "sample", "emission", "all"])
    parser.add_argument("--timeout", type=float, default=600, help="seconds that a program may wait for; of the processor it has 30")
    parser.add_argument("--reduce", type=float, default=240, help="seconds for making a program smaller")
    parser.add_argument("--most", type=int, default=3, help="how many of one kind are made smaller")
    parser.add_argument("--flags", default="", help="for every compiler, beside its own")
    parser.add_argument("--state")
    parser.add_argument("--others")
    parser.add_argument("--sanitized", help="the command, built with the sanitizers")
    parser.add_argument("--lib", default=library.default_path())
    parser.add_argument("--show", type=int)
    parser.add_argument("--edit", nargs="*", metavar="PART")
    o = parser.parse_args()
    o.edited = None if o.edit is None else edits.Programs(o.edit)
    if o.show is not None and o.edited:
        return show_edited(library.load(os.path.abspath(o.lib)), o.edited, o.show)
    if o.show is not None:
        program = make(o.show)
        print(program_text(program) + "-- " + json.dumps(program.point))
        return 0
    for name, (cc, exact, threads) in oracle.VARIANTS.items():
        oracle.VARIANTS[name] = (f"{cc} {o.flags}".strip(), exact, threads)
    if o.sanitized and os.path.exists(o.sanitized):
        oracle.SANITIZED = os.path.abspath(o.sanitized)
    lib = library.load(os.path.abspath(o.lib))
    cache = tempfile.mkdtemp(prefix="cotan-fuzz.")
    try:
        return 1 if Fuzzer(o, lib, cache, os.path.join(o.state or os.path.join(ROOT, "build", "fuzz"), "found")).go() else 0
    finally:
        shutil.rmtree(cache, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
