"""What a program gives, asked in all ways: the evaluator's value is the reference for native code, forward's derivative for all
other derivatives."""
import json
import os
import random
import re
import shlex
import subprocess
import sys

import compare
import library
from tree import first_order, has_reals, program_text

SMALL_PARTS = "cc -DCT_PART_WORK=64 -DCT_PART_COST=0 -DCT_FAR=0 -DCT_WIDE=16"

# What native code is made by: the compiler, exact or fast mathematics, threads.
VARIANTS = {
    "exact": ("cc", True, 1),
    "fast": ("cc", False, 1),
    "parts": (SMALL_PARTS, False, 1),
    "threads": (SMALL_PARTS, False, 3),
    "threads-exact": (SMALL_PARTS, True, 3),
    "avx2": ("cc -mno-avx512f", True, 1),
    "avx2-fast": ("cc -mno-avx512f", False, 1),
    "sse2": ("cc -mno-avx", True, 1),
    "sse2-fast": ("cc -mno-avx", False, 1),
    "clang": ("clang", True, 1),
    "clang-fast": ("clang", False, 1),
    "plain": ("cc", True, 1),
    "one-lane": ("cc -DCT_WIDTH=1", True, 1),
    "debugged": (SMALL_PARTS, True, 3),
    "interpreted": ("cc", True, 1),
    "interpreted-fast": ("cc", False, 1),
}
# What the environment says for some of them. What is plain is also held against the interpreter of Flow; what is interpreted has no
# machine code: that interpreter runs the program behind the last pass, and lint looks at it behind every pass.
INTERPRETED = {"COTAN_NATIVE": "interpret", "COTAN_CHECK_PASSES": "1"}
ENVIRONMENT = {
    "plain": {"COTAN_VECTORISE": "off", "COTAN_CHECK_PASSES": "4"},
    "debugged": {"COTAN_DEBUG_RUNTIME": "1"},
    "interpreted": INTERPRETED,
    "interpreted-fast": INTERPRETED,
}
EMISSION = ["plain", "exact", "one-lane", "sse2", "avx2", "clang", "threads-exact", "debugged"]  # the same bits, derivatives too
METHODS = ["tape", "chad", "delta", "delta-fused", "dual-staged", "dual-cayley", "dual-arrays", "dual-defunc", "vector", "bulk",
           "delta-tree", "dual-naive", "chad-naive", "chad-sparse"]
SANITIZED = None  # the command, built with the sanitizers; asked where it is known
UNBOUNDED = {"delta-tree", "dual-naive", "chad-naive", "chad-sparse"}
VALUE_STEPS = 4_000_000
METHOD_STEPS = 60_000_000
EPS = 1e-12
DERIVES = re.compile(r"\b(grad|valueAndGrad|vjp|jvp|diff|jacobian|hessian|hvp|import +(qualified +)?(Optimise|Ode|Sample))\b")
REFUSED = ("E06", "E07")  # codes of what is asked with other arguments than the function takes
LONGEST = 1_000_000  # characters of a value
FLOOR = 1e-5  # of derivatives: cotangents have a size of 1, and where adjoints of that size cancel, their last bits are left


class Case:
    """A function of a program at a point: what is asked of it, as text."""

    def __init__(self, text, point, cotangent=None, mode="grad", tangent=None, floats=False, function="f"):
        self.text, self.point, self.cotangent, self.mode, self.tangent = text, point, cotangent, mode, tangent
        self.floats, self.function = floats, function

    def at(self):
        return json.dumps(self.point)

    def plain(self):
        """For another process."""
        return [self.text, self.point, self.cotangent, self.mode, self.tangent, self.floats, self.function]

    def alone(self):
        """A function of one argument is not given a tuple."""
        return json.dumps(self.point[0] if len(self.point) == 1 else self.point)


def weights(value, t, datas, rng, sparse):
    """A cotangent for a value of the type; a tangent for a point."""
    if t == "D" or t == "F":
        if sparse and rng.random() < 0.8:
            return 0.0
        return round(rng.choice([1, -0.5, 0.25, 0.75, 2, -1.25]) + rng.uniform(-0.1, 0.1), 3)  # sums are not 0 by chance
    if isinstance(t, str):
        return value
    if t[0] in ("A", "L"):
        return [weights(v, t[1], datas, rng, sparse) for v in value]
    if t[0] == "T":
        return [weights(v, u, datas, rng, sparse) for v, u in zip(value, t[1:])]
    if t[0] == "M":
        return value if value == "Nothing" else {"Just": [weights(value["Just"][0], t[1], datas, rng, sparse)]}
    if t[0] == "E":
        (name, [inner]), = value.items()
        return {name: [weights(inner, t[1] if name == "Left" else t[2], datas, rng, sparse)]}
    data = next(d for d in datas if d.name == t[1])
    if isinstance(value, str):
        return value
    if data.is_record():
        return {f: weights(value[f], u, datas, rng, sparse) for f, u in data.constructors[0][1]}
    (name, fields), = value.items()
    types = next(fs for n, fs in data.constructors if n == name)
    return {name: [weights(v, u, datas, rng, sparse) for v, (_, u) in zip(fields, types)]}


def cotangent_of(value, rng):
    """A cotangent for a value of which no type is known: what is written with a point is real."""
    if isinstance(value, float) or isinstance(value, str) and value in compare.SPECIAL:
        return weights(value, "D", (), rng, False)
    if isinstance(value, list):
        return [cotangent_of(v, rng) for v in value]
    if isinstance(value, dict):
        return {name: cotangent_of(v, rng) for name, v in value.items()}
    return value


def shape_of(program):
    """The type of the point as one value, and of the result."""
    types = [t for _, t in program.main.parameters]
    return (types[0] if len(types) == 1 else ("T", *types)), program.main.result.type


# ---- one question ----


class Question:
    """One way to ask: the value, or a derivative; on the evaluator by a method, or as native code of a variant."""

    def __init__(self, what, variant=None, method=None):
        self.what, self.variant, self.method = what, variant, method

    def key(self):
        return "/".join(x for x in (self.what, self.variant and "native " + self.variant, self.method) if x)

    @staticmethod
    def of(key):
        """The question of a key."""
        words = key.split("/")
        native = [w[7:] for w in words[1:] if w.startswith("native ")]
        methods = [w for w in words[1:] if not w.startswith("native ")]
        return Question(words[0], native[0] if native else None, methods[0] if methods else None)

    def command(self, folder, case):
        """The same on the command line."""
        verb = {"value": "run", "derivative": case.mode}.get(self.what, self.what)
        words = ["build/cotan", verb, "PROGRAM", case.function]
        words += ["--args", "'" + case.at() + "'"] if verb == "run" else ["--at", "'" + case.alone() + "'"]
        if verb == "vjp":
            words += ["--cotangent", "'" + json.dumps(case.cotangent) + "'"]
        if verb == "jvp":
            words += ["--tangent", "'" + json.dumps(case.tangent) + "'"]
        if self.variant:
            cc, exact, threads = VARIANTS[self.variant]
            words += ["--engine", "native"] + (["--math", "exact"] if exact else []) + (["--threads", str(threads)] if threads > 1 else [])
            if cc != "cc":
                words = [f'CC="{cc}"'] + words
            words = [f"{name}={value}" for name, value in ENVIRONMENT.get(self.variant, {}).items()] + words
        else:
            words += ["--engine", "eval"] + (["--method", self.method] if self.method else [])
            if self.method == "sanitized":
                words = ["build-sanitize/cotan"] + words[1:-2]
            if self.method == "threads":
                words = words[:-2] + ["--threads", "3"]
        return " ".join(words)

    def ask(self, session, case, steps=0):
        mode = {"value": library.RUN, "jvp": library.JVP, "jacobian": library.JACOBIAN}.get(self.what)
        if mode is None:
            mode = library.GRAD if case.mode == "grad" else library.VJP
        at = case.at() if mode == library.RUN else case.alone()
        with_ = json.dumps(case.cotangent) if mode == library.VJP else json.dumps(case.tangent) if mode == library.JVP else None
        if self.method == "sanitized":
            return self.sanitized(case)
        if self.method == "threads":
            session = library.Session(session.lib, case.text, 3, 1 << 29)
            answer, result = session.call(mode, case.function, at, with_, None, False, True, 0, 3)
            session.close()
            return answer, result
        if self.variant:
            cc, exact, threads = VARIANTS[self.variant]
            os.environ["CC"] = cc
            for name in {name for given in ENVIRONMENT.values() for name in given}:
                os.environ.pop(name, None)
            os.environ.update(ENVIRONMENT.get(self.variant, {}))
            return session.call(mode, case.function, at, with_, None, True, exact, 0, threads)
        return session.call(mode, case.function, at, with_, self.method, False, True, steps)


    def sanitized(self, case):
        """What the sanitizers say of the evaluator: a text that is empty where all is well."""
        name = os.path.join(os.environ["TMPDIR"], "sanitized.cot")
        with open(name, "w") as f:
            f.write(case.text)
        words = shlex.split(self.command("", case).replace("PROGRAM", name))[1:]
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=1", UBSAN_OPTIONS="halt_on_error=1", NO_COLOR="1")
        ran = subprocess.run([SANITIZED, *words, "--max-memory", "500M", "--max-steps", str(VALUE_STEPS * 10)], env=environment,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        found = [line for line in ran.stderr.splitlines() if "ERROR: " in line and "Sanitizer" in line or "runtime error:" in line]
        return "; ".join(re.sub(r"0x[0-9a-f]+|==\d+==", "", line) for line in found[:2]), library.Result()


def answer_text(answer):
    if isinstance(answer, str):
        return answer
    if isinstance(answer, library.Failure):
        return str(answer)
    value, derivative = answer
    return value if derivative is None else f"value {value}, derivative {derivative}"


def disagreement(reference, answer, exact, tolerance, derives):
    """None, or the kind of the disagreement of an answer with the reference. Where the program takes derivatives, its value may be one."""
    fails = isinstance(reference, library.Failure), isinstance(answer, library.Failure)
    if any(fails):
        if any(f.is_limit() for f in (reference, answer) if isinstance(f, library.Failure)):
            return None
        if all(fails):
            return None if reference.key() == answer.key() else ("failure differs",)
        return ("fails",) if fails[1] else ("does not fail",)
    for k, name in enumerate(("value", "derivative")):
        a, b = reference[k], answer[k]
        if a is None or b is None or a == b:
            continue
        if exact and (k == 0 or exact == "all"):
            found = compare.differ(a, b, 0)
            if found is None:
                found = ("bits", 0, 0, 0)
        else:
            found = compare.differ(a, b, tolerance, FLOOR if k == 1 or derives else 1e-290)
        if found is not None:
            return (name + " " + found[0], k, found)
    return None


def names_other_elements(a, b):
    """Whether two messages differ only in which of an array's rows have different lengths. Derivatives keep the first element of a
    `scanl` apart, and count the others from 0."""
    return a.key()[:3] == b.key()[:3] and a.code == "E0507"


class Notes:
    """What a result says beside its answer, kept when its session is closed."""

    def __init__(self, result):
        self.not_native = result.not_native and result.not_native.decode()
        self.by_tape = result.by_tape is not None


class Checker:
    """Asks the questions of one case. `tell` is called before each of them, lest nobody knows where it ended."""

    def __init__(self, lib, case, tell):
        self.lib, self.case, self.tell = lib, case, tell
        self.tolerance = 2e-4 if case.floats else 1e-9
        # A derivative inside of the program is by the method that is asked for, so that the program's value depends on the method in its last bits.
        self.derives = DERIVES.search(case.text) is not None
        self.found, self.notes = [], {}
        self.session = library.Session(lib, case.text, memory=1 << 29)

    def count(self, name, by=1):
        self.notes[name] = self.notes.get(name, 0) + by

    def ask(self, question, steps=0):
        self.tell(question)
        if question.variant:
            # A session of its own: what was compiled once stays, whatever CC says later.
            checks = int(ENVIRONMENT.get(question.variant, {}).get("COTAN_CHECK_PASSES", "0"))
            session = library.Session(self.lib, self.case.text, VARIANTS[question.variant][2], 1 << 29, checks)
            answer, result = question.ask(session, self.case, steps)
            result = Notes(result)
            session.close()
        else:
            answer, result = question.ask(self.session, self.case, steps)
        if question.variant:
            self.count("native runs")
            if result.not_native:
                self.count("on the evaluator instead")
                why = result.not_native
                self.count("because: " + why.split(":")[0][:60])
                if "C compiler failed" in why:
                    self.found.append((question, question, "C compiler failed", True, "", why))
                return None
            if result.by_tape:
                self.count("by tape instead")
        return answer

    def hold(self, reference_question, reference, question, answer, exact):
        if answer is None or reference is None:
            return
        if any(isinstance(a, library.Failure) and a.code.startswith(REFUSED) for a in (reference, answer)):
            self.count("input refused")  # the oracle's own fault, or that of a reduction
            return
        if isinstance(answer, str):
            if answer:
                self.found.append((reference_question, question, "sanitizer", exact, "", answer))
            return
        if exact is True and self.derives:
            exact = False
        found = disagreement(reference, answer, exact, self.tolerance, self.derives)
        if found is None:
            return
        if found[0] == "failure differs" and reference_question.what != question.what and names_other_elements(reference, answer):
            self.count("other elements named")
            return
        if found[0] == "derivative finite" and re.search(r"\bwith(Vjp|Jvp)\b", self.case.text):
            self.count("infinite in a rule")  # 0 times infinity is NaN in its code, and methods call it with other cotangents
            return
        if len(found) > 1 and found[2][0] in ("number", "finite", "shape") and not (exact and (found[1] == 0 or exact == "all")):
            if not self.is_conditioned(reference_question, reference, found):
                self.count("ill-conditioned")
                return
            if found[1] == 1 and question.variant and self.methods_differ(reference_question, reference):
                self.count("methods differ")
                return
        self.found.append((reference_question, question, found[0], exact, answer_text(reference), answer_text(answer)))

    def methods_differ(self, question, reference):
        """Whether forward's derivative on the evaluator is not tape's, either, as where large terms cancel: then that of native code can
        only be one of several. Who is right, those tell that compare methods."""
        if question.method != "tape":
            return False
        by_forward, _ = Question(question.what, None, "forward").ask(self.session, self.case, METHOD_STEPS)
        return disagreement(reference, by_forward, False, self.tolerance, self.derives) is not None

    def is_conditioned(self, question, reference, found):
        """Whether the reference stays where it is when the point moves a little."""
        moved = []
        case = self.case
        point, cotangent, eps = case.point, case.cotangent, 1e-5 if case.floats else EPS
        for seed in range(3):
            case.point, case.cotangent = compare.perturbed(point, seed, eps), compare.perturbed(cotangent, seed + 7, eps)
            self.tell(question)
            answer, _ = question.ask(self.session, case, METHOD_STEPS)
            moved.append(None if isinstance(answer, library.Failure) else answer[found[1]])
        case.point, case.cotangent = point, cotangent
        return compare.is_conditioned(found[2], reference[found[1]], moved)


def value_of(lib, case):
    """(answer, steps) of the evaluator; None where the program is too much work or not sound."""
    session = library.Session(lib, case.text, memory=1 << 29)
    if session.failure:
        return session.failure, 0
    answer, result = Question("value").ask(session, case, VALUE_STEPS)
    session.close()
    return answer, result.steps


def complete(case, program, value_json, rng):
    """Gives the case its cotangent and tangent; without a program's types, the cotangent."""
    if program is None:
        fails = value_json is None
        case.mode = "jacobian" if fails or rng.random() < 0.3 else "vjp"
        case.cotangent = None if fails else cotangent_of(json.loads(value_json), rng)
        return
    point, result = shape_of(program)
    case.mode = "grad" if result == "D" else "vjp"
    sparse = rng.random() < 0.25
    if value_json is not None:
        case.cotangent = weights(json.loads(value_json), result, program.datas, rng, sparse)
    at = case.point[0] if len(case.point) == 1 else case.point
    case.tangent = weights(at, point, program.datas, rng, rng.random() < 0.25)


def differentiable(program):
    point, result = shape_of(program)
    return has_reals(point, program.datas) and has_reals(result, program.datas)


def is_too_much(answer):
    """Whether the evaluator was stopped; or what it gives shares so much that its text is long."""
    return answer.is_limit() if isinstance(answer, library.Failure) else len(answer[0]) > LONGEST


def case_of(program):
    """A program of make.py, at its point."""
    text = program_text(program)
    return Case(text, program.point, floats=uses_floats(text))


def uses_floats(text):
    return "Float" in text or "realToFrac" in text


def check_program(lib, program, seed, plan, tell):
    """Asks what the plan says. Gives (disagreements, notes, case)."""
    return check_case(lib, case_of(program), seed, plan, tell, program)


def check_case(lib, case, seed, plan, tell, program=None):
    """The same of a case, of which a program says the types."""
    rng = random.Random(seed * 7 + 1)
    question = Question("value")
    tell(question)
    checker = Checker(lib, case, tell)
    if checker.session.failure:
        checker.count("not sound: " + checker.session.failure.code)
        if checker.session.failure.code >= "E09":
            checker.found.append((question, question, "internal fault", True, "", str(checker.session.failure)))
        return checker.found, checker.notes, case
    answer, result = question.ask(checker.session, case, VALUE_STEPS)
    checker.notes["steps"] = result.steps
    if not isinstance(answer, library.Failure) and answer[0] is None:
        checker.count("not sound: no value")
        return checker.found, checker.notes, case
    if is_too_much(answer):
        checker.count("too much work")
        return checker.found, checker.notes, case
    if isinstance(answer, library.Failure):
        if answer.code >= "E09":
            checker.found.append((question, question, "internal fault", True, "", str(answer)))
        elif answer.code.startswith(REFUSED):
            checker.count("not sound: " + answer.code)
            return checker.found, checker.notes, case
        checker.count("failing programs")
    fails = isinstance(answer, library.Failure)
    if result.steps > 20000:
        q = Question("value", None, "threads")
        checker.hold(question, answer, q, checker.ask(q), True)
    complete(case, program, None if fails else answer[0], rng)
    if fails and program:
        case.mode = "grad" if program.main.result.type == "D" else "jacobian"
    if SANITIZED and "sanitized" in plan:
        q = Question("value", None, "sanitized")
        checker.hold(question, answer, q, checker.ask(q), True)
    wants_derivative = program is None or differentiable(program)
    if "value" in plan:
        for name in plan["value"]:
            q = Question("value", name)
            native = checker.ask(q)
            checker.hold(question, answer, q, native, VARIANTS[name][1])
            if name == "threads":  # the same code in one thread: the same bits
                q1 = Question("value", "parts")
                checker.hold(q1, checker.ask(q1), q, native, "all")
    if wants_derivative and ("methods" in plan or "derivative" in plan):
        what = "jacobian" if case.mode == "jacobian" else "derivative"
        forward = Question(what, None, plan.get("reference", "forward"))
        reference = checker.ask(forward, METHOD_STEPS)
        if isinstance(reference, library.Failure) and reference.is_limit() and forward.method == "forward":
            forward = Question(what, None, "tape")
            reference = checker.ask(forward, METHOD_STEPS)
        if isinstance(reference, library.Failure) and reference.code.startswith(("E04", *REFUSED)):
            checker.count("derivative refused: " + reference.code)
            return checker.found, checker.notes, case
        checker.hold(question, answer, forward, reference if fails or isinstance(reference, library.Failure) else (reference[0], None), True)
        if checker.found and checker.found[-1][1] is forward:
            return checker.found, checker.notes, case  # against which nothing more can be held
        for method in plan.get("methods", ()):
            q = Question(what, None, method)
            limit = 10_000_000 if method in UNBOUNDED else METHOD_STEPS
            got = checker.ask(q, limit)
            if isinstance(got, library.Failure) and got.is_limit():
                checker.count("stopped: " + method)
                continue
            checker.count("by " + method)
            checker.hold(forward, reference, q, got, method != "bulk")  # it adds up in another order
        exact = None
        for name in plan.get("derivative", ()):
            q = Question(what, name)
            got = checker.ask(q)
            checker.hold(forward, reference, q, got, VARIANTS[name][1])
            if VARIANTS[name][1] and got is not None:
                if exact is not None:  # the same derivative, whatever the compiler
                    checker.hold(exact[0], exact[1], q, got, "all")
                exact = exact or (q, got)
            if name == "threads":
                q1 = Question(what, "parts")
                checker.hold(q1, checker.ask(q1), q, got, "all")
        for what in plan.get("others", ()):
            if fails:
                continue
            forward = Question(what, None, "forward" if what == "jvp" else "tape")
            reference = checker.ask(forward, METHOD_STEPS)
            q = Question(what, "exact")
            got = checker.ask(q)
            checker.hold(forward, reference, q, got, True)
    return checker.found, checker.notes, case


def check_pair(lib, program, seed, first, second, exact, tell, case=None):
    """Asks two questions, as the reduction does again and again: the kinds of disagreement, and the case. With a case, of its text."""
    rng = random.Random(seed * 7 + 1)
    asked = case
    case = case or case_of(program)
    checker = Checker(lib, case, tell)
    if checker.session.failure and checker.session.failure.code < "E09":
        return [], case
    answer, _ = Question("value").ask(checker.session, case, VALUE_STEPS)
    fails = isinstance(answer, library.Failure)
    if not fails and answer[0] is None or is_too_much(answer):
        return [], case
    if not asked:
        complete(case, program, None if fails else answer[0], rng)
    if fails:
        if not asked:
            case.mode = "grad" if program.main.result.type == "D" else "jacobian"
        if (first.what == "derivative" or second.what == "derivative") and case.mode == "jacobian":
            return [], case
    if first.key() == second.key():
        checker.ask(second, 0 if second.variant else METHOD_STEPS)
        if isinstance(answer, library.Failure) and answer.code >= "E09":
            return [("internal fault", "", str(answer))], case
    else:
        reference = answer if first.what == "value" and not first.variant else checker.ask(first, METHOD_STEPS)
        if first.what == "value" and not first.variant and second.what != "value" and not fails:
            reference = (reference[0], None)
        got = checker.ask(second, 0 if second.variant else METHOD_STEPS)
        checker.hold(first, reference, second, got, exact)
    return [(kind, a, b) for _, _, kind, _, a, b in checker.found], case


def plan_for(seed, breadth):
    """What is asked of the program of a seed. 'eval': methods alone; 'interpreted': the value, or the derivative against tape's, of Flow
    behind all passes; 'sample': little of all; 'emission': what is exact in every form; 'all': everything."""
    rng = random.Random(seed * 31 + 5)
    if breadth == "emission":
        return {"value": EMISSION, "derivative": EMISSION}
    if breadth == "interpreted":
        how = ["interpreted" if rng.random() < 0.75 else "interpreted-fast"]
        return {"value": how} if rng.random() < 0.4 else {"reference": "tape", "derivative": how}
    if breadth == "all":
        variants = [v for v in VARIANTS if not v.startswith("interpreted")]  # "plain" has that, too
        return {"value": variants, "methods": METHODS, "derivative": variants, "others": ["jvp", "jacobian"], "sanitized": True}
    if breadth == "eval":
        methods = METHODS if rng.random() < 0.15 else ["tape"] + rng.sample(METHODS[1:], 3)
        return {"methods": methods, **({"sanitized": True} if rng.random() < 0.3 else {})}
    others = [v for v in VARIANTS if v != "exact" and not v.startswith("interpreted")]
    plan = {"value": ["exact"], "derivative": ["exact"], "methods": ["tape", rng.choice(METHODS[1:])]}
    if rng.random() < 0.3:
        plan["value"] = rng.sample(others, 1)
    if rng.random() < 0.5:
        plan["derivative"] = ["exact", rng.choice(others)]
    else:
        plan["value"] = plan["value"] + [rng.choice(others)]
    if rng.random() < 0.15:
        plan["sanitized"] = True
    if rng.random() < 0.15:
        plan["others"] = [rng.choice(["jvp", "jacobian"])]
    return plan
