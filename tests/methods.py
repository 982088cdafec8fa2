#!/usr/bin/env python3
"""Every method on everything: the derivatives that the golden programs ask for, by each method of `cotan methods`.

    tests/methods.py [--cotan PATH] [--methods a,b] [--sample N [--offset K]] [--quick]
                     [WORD…]

Each command of a golden program that takes a derivative is run again with --method, and must print what the .out file
says. Real numbers agree to 1e-9 of their size, or to 1e-12; integers and all else are the same; errors and warnings are
the same codes at the same places. A method that promises no constant factor runs up to a limit of steps and memory: what
goes beyond is counted as left out, and so is that of which `taylor` says that it has no series.
"""
import argparse
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import corpus
import run as golden

RELATIVE, ABSOLUTE = 1e-9, 1e-12
NUMBER = re.compile(r"(-?(?:\d+\.\d+(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?))")
COUNTS = re.compile(r'^(?:primal )?steps = .*\n|^trace = .*\n|^peak memory = .*\n'
                    r'|,"(?:steps|primal_steps|trace|peak_memory)":\d+', re.MULTILINE)
ROWS = re.compile(r"^ok +rows of the Jacobian.*\n", re.MULTILINE)  # `cotan check` compares rows where that is cheap
MEMORY = {True: "1G", False: "8G"}  # of methods that run up to a limit, and of others, lest they take the machine's
BEYOND = re.compile(r"^! (?:error\[|\{\"code\":\")(E0801|E0802|E0803)|^! error\[E0503\]: taylor: there is no series", re.MULTILINE)


def numbers_agree(a, b):
    if re.fullmatch(r"-?\d+", a) and re.fullmatch(r"-?\d+", b):
        return int(a) == int(b)
    x, y = float(a), float(b)
    return x == y or abs(x - y) <= max(RELATIVE * max(abs(x), abs(y)), ABSOLUTE)


def texts_agree(a, b, exact):
    """Whether two texts are the same but for small differences of real numbers. In JSON a real number may look like an
    integer; in a value as Cotan shows it (`exact`) it does not."""
    brackets = re.compile(r"\((-[\d.eE+-]+)\)")  # (-1.0), where 0.0 has none
    left, right = (NUMBER.split(brackets.sub(r"\1", COUNTS.sub("", ROWS.sub("", text)))) for text in (a, b))
    if left[::2] != right[::2]:
        return False
    integers = [[bool(re.fullmatch(r"-?\d+", number)) for number in side[1::2]] for side in (left, right)]
    if exact and integers[0] != integers[1]:
        return False
    return all(numbers_agree(x, y) for x, y in zip(left[1::2], right[1::2]))


def complaints(text):
    """Of what was printed on standard error: codes and places; a line of another kind as it is."""
    found = []
    for line in re.findall(r"^! (.*)$", text, re.MULTILINE):
        if line.startswith("{"):
            error = json.loads(line)
            found.append((error["code"], error["file"], error["line"], error["column"]))
            continue
        head = re.match(r"(error|warning)(\[\w+\])?", line)
        place = re.match(r"\s*--> (.*)$", line)
        if head:
            found.append(head[0])
        elif place:
            found.append(place[1])
    return found


def split(text):
    """Standard output, and the exit status."""
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("! ")]
    status = lines.pop() if lines and re.fullmatch(r"exit \w+\n", lines[-1]) else ""
    return "".join(lines), status


def same(found, expected, as_json):
    (out, status), (wanted, wanted_status) = split(found), split(expected)
    return status == wanted_status and complaints(found) == complaints(expected) and \
        texts_agree(out, wanted, not as_json)


def try_method(command, method, options):
    """None when it agrees, "limit" when it went beyond, else what it printed."""
    bounded = method in corpus.UNBOUNDED
    asked = f" --method {method} --max-memory {MEMORY[bounded]}"
    if bounded:
        asked += f" --max-steps {options.max_steps}"
    text = command.run(asked, options.cotan, options.timeout)
    if same(text, command.expected, "--json" in command.text):
        return None
    return "limit" if bounded and BEYOND.search(text) else text


def main():
    # evidence: DUAL 2023 §10: the golden programs of tests/golden/haskell, by every method
    # evidence: DUAL §11: recursive functions and data types, by every method
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=os.path.join(golden.ROOT, "build", "cotan"))
    parser.add_argument("--methods", help="separated by commas; all")
    parser.add_argument("--sample", type=int, default=1, metavar="N",
                        help="each command by every N-th method, in turn; of many, every N-th")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="which of them: from the K-th on")
    parser.add_argument("--quick", action="store_true", help="leave out programs marked slow")
    parser.add_argument("--max-steps", type=int, default=10000000,
                        help="the limit of methods that promise no constant factor")
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    options.cotan = os.path.abspath(options.cotan)
    known = corpus.methods(options.cotan)
    chosen = options.methods.split(",") if options.methods else list(known)
    unknown = [name for name in chosen if name not in known]
    if unknown:
        sys.exit(f"tests/methods.py: `cotan methods` does not list {', '.join(unknown)}")
    found, reasons = corpus.commands(options.words, options.quick)
    found = [(command, method) for command in found for method in chosen][options.offset % options.sample::options.sample]
    wanted = set(corpus.deriving(list({id(c): c for c, _ in found}.values()), options.cotan, options.timeout))
    jobs = [(command, method) for command, method in found if command in wanted]
    passed, failed, limited = 0, 0, dict.fromkeys(chosen, 0)
    with ThreadPoolExecutor(max_workers=corpus.WORKERS) as pool:
        for (command, method), text in zip(jobs, pool.map(lambda job: try_method(*job, options), jobs)):
            if text is None:
                passed += 1
            elif text == "limit":
                limited[method] += 1
            else:
                failed += 1
                print(f"FAIL --method {method}, {command.shown()}\nexpected:\n{command.expected}printed:\n{text}")
    for reason, count in sorted(reasons.items()):
        print(f"{count} commands left out: they {reason}")
    for method, count in limited.items():
        if count:
            print(f"{count} commands left out: by {method} they take more than {options.max_steps} steps or 1 GB{', or have no series' if method == 'taylor' else ''}")
    print(f"{len(wanted)} commands take derivatives, {len(jobs)} runs by method")
    print(f"methods: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
