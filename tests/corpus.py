"""The derivatives that the golden programs ask for, as commands in which a method can be put; for methods.py and
costs.py."""
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import run as golden

VERBS = ("grad", "vjp", "jvp", "jacobian", "check", "run")
CALL = re.compile(r"\bcotan (%s)\b" % "|".join(VERBS))
METHOD = re.compile(r"\s--method[ =]([^\s;|]+)")
COUNT = re.compile(r"\s--count(?![\w-])")
WORKERS = 2

REVERSE = re.compile(r"\b(grad|valueAndGrad|vjp|jacobian|hessian|hvp|import)\b")

# What their gradients take is more than a constant times the program: they run up to a limit.
UNBOUNDED = ("forward", "taylor", "vector", "delta-tree", "dual-naive", "dual-staged", "dual-cayley", "chad-naive", "chad-sparse")


class Command:
    """A command of a golden program, what it printed, why it need not run natively, and its parts around the place for a
    method."""

    def __init__(self, path, text, expected, fallbacks):
        self.path, self.text, self.expected, self.fallbacks = path, text, expected, fallbacks
        self.verb = CALL.search(text)[1]

    def shown(self):
        return f"{os.path.relpath(self.path, golden.GOLDEN)}: $ {self.text}"

    def with_options(self, options):
        """The command with these options instead of a method and a count of its own."""
        plain = COUNT.sub("", METHOD.sub("", self.text))
        return CALL.sub(lambda call: call[0] + options, plain, count=1)

    def run(self, options, cotan, timeout):
        """What it prints, in the form of a .out file without its first line."""
        folder, name = os.path.split(self.path)
        return golden.run(self.with_options(options), folder, name, cotan, timeout).split("\n", 1)[1]


def methods(cotan):
    """name ▶ whether it runs in reverse; of those on the evaluator, which counts steps."""
    done = subprocess.run([cotan, "methods", "--json"], capture_output=True, check=True)
    return {method["name"]: method["reverse"] for method in json.loads(done.stdout) if method["name"] != "native"}


def left_out(command):
    """Why a command with a verb of ours is no question to a method, or None."""
    text = command.text
    if "--dump" in text:
        return "print a program"
    if "| sed" in text:
        return "change what is printed"
    if "COTAN_NATIVE=" in text or "--method bulk --engine native" in text or (command.verb == "check" and "--engine native" in text):
        return "ask for native code, or none"
    if "--profile" in text or (COUNT.search(text) and "|" in text):
        return "say where steps go, or how many there are"
    if "--trap-nan" in text:
        return "name the operation that gives NaN, which depends on the method"
    if "--count-rules" in text:
        return "count rewrite rules"
    if os.path.join("warnings", "rules.cot") in command.path:
        return "are of programs that are warned of: rules that are not linear have no one derivative"
    if "--max-" in text:
        return "have limits of their own"
    if command.verb == "check" and "--at" not in text:
        return "check types only"
    unknown = METHOD.search(text)
    if unknown and "E0705" in command.expected:
        return "name no method"
    return None


def differentiates(command, cotan, timeout):
    """Whether a `cotan run` comes to a reverse derivative: the program before differentiation says vjp."""
    if "FILE" in command.text and not REVERSE.search(golden.read(command.path)):
        return False
    return re.search(r"\bvjp\b", command.run(" --dump simplify", cotan, timeout)) is not None


def commands(words, quick):
    """The commands of the golden programs with one verb of ours, each once, whatever method it names; and how many are
    left out, by reason."""
    found, reasons = {}, {}
    for path in golden.programs(words):
        if not path.endswith(".cot") or (quick and os.path.exists(path[:-4] + ".slow")):
            continue
        outputs = golden.split(golden.read(path[:-4] + ".out"))
        for text, output, fallbacks in zip(golden.commands_of(path), outputs, golden.fallbacks_of(path)):
            if len(CALL.findall(text)) != 1:
                continue
            command = Command(path, text, output.split("\n", 1)[1], fallbacks[0])
            reason = left_out(command)
            if reason:
                reasons[reason] = reasons.get(reason, 0) + 1
            else:
                found.setdefault((path, command.with_options("")), command)
    return list(found.values()), reasons


def deriving(found, cotan, timeout):
    """Those of the commands that take a derivative."""
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        asked = pool.map(lambda c: c.verb != "run" or differentiates(c, cotan, timeout), found)
        return [command for command, wanted in zip(found, asked) if wanted]
