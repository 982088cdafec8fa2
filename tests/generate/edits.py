"""Programs near to golden ones: one that makes a rule fire is edited in a place or two, so that it may miss a single condition of the rule, or
meet the rule in other company. Edits are of tokens; whether the result has a type is found out by trying."""
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from compare import SPECIAL
from oracle import Case, uses_floats
from shorten import CLOSING, TOKEN, partners

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import run as golden

GROUPS = ["derivatives/", "flow/", "found/", "ladders/", "native/"]
TOGETHER = 25  # edits of one program, one after the other
VERBS = ("run", "grad", "jacobian", "vjp", "jvp", "hessian", "hvp", "check")
# Names and operators of one type each.
LIKE = [
    "+ - *", "+ - * /", "< <= > >= == /=", "&& ||", "min max", "div mod quot rem", "sum product maximum minimum", "sin cos exp sqrt abs negate log tanh signum",
    "floor ceiling round truncate", "fst snd", "head last", "init tail reverse", "take drop", "foldl foldr", "foldl1 foldr1", "scanl1 scanr1", "and or", "any all",
    "even odd", "takeWhile dropWhile filter", "map concatMap", "replicate build", "length sum maximum", "True False", "shiftL shiftR", ".&. .|. xor",
]
LIKE = [group.split() for group in LIKE]
KEYWORDS = set("let in where if then else case of do type data newtype instance class infixl infixr infix deriving import module otherwise".split())
WRAPPED = ["({0} + 1)", "({0} - 1)", "({0} * {0})", "(negate {0})", "({0} + {1})", "({0} * {1})", "(if {0} > 0 then {0} else 0)", "(if {1} > {0} then {0} else {1})",
           "({0} / {1})", "(reverse {0})", "(map (\\q -> q * q) {0})", "(take 2 {0})", "(drop 1 {0})", "(sum {0})", "(abs {0})", "({0} ! 0)", "(zipWith (+) {0} {1})",
           "(let q = {0} in q + q)", "(map fst (zip {0} {1}))", "(max {0} {1})", "(length {0})", "({0} `div` 2)", "({0} `mod` 3)", "(fromIntegral {0})", "({0} ++ {1})"]
NUMBERS = ["0", "1", "2", "3", "7", "8", "9", "0.5", "1.5"]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-3, 1e3, -2.5, 1e300, "nan", "inf", "-inf"]
LENGTHS = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 65]


def calls_of(path):
    """(function, point, whether it is that of --at) of the commands of a golden program: a command of the name `cotan` notes how it is called."""
    with tempfile.TemporaryDirectory() as folder:
        notes = os.path.join(folder, "notes")
        with open(os.path.join(folder, "cotan"), "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nprintf "%s\\001" "$@" >>"$NOTES"; echo >>"$NOTES"\n')
        os.chmod(os.path.join(folder, "cotan"), 0o700)
        environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], NOTES=notes)
        script = "\n".join(c for c in golden.commands_of(path) if "cotan" in c and "@" not in c and ".sh" not in c).replace("FILE", os.path.basename(path))
        try:
            subprocess.run(["sh", "-c", script], cwd=os.path.dirname(path), env=environment, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            pass
        if not os.path.exists(notes):
            return []
        words_of = [line.split("\001")[:-1] for line in golden.read(notes).split("\n")]
    found = {}
    for words in words_of:
        options = dict(zip(words, words[1:]))
        at = options.get("--args", options.get("--at"))
        if len(words) < 3 or words[0] not in VERBS or words[1] != os.path.basename(path) or words[2].startswith("-") or at is None:
            continue
        try:
            point = json.loads(at)
        except ValueError:
            continue
        found[words[2], at] = words[2], point, "--args" not in options
    return [found[key] for key in sorted(found)]


class Source:
    """The text of a program, and where its definitions are."""

    def __init__(self, text):
        lines = [line for line in text.split("\n") if not line.startswith("--")]
        self.text = re.sub(r"\n\n+", "\n\n", "\n".join(lines)).strip("\n") + "\n"
        starts = [m.start() for m in re.finditer(r"^(?=\S)", self.text, re.M)] + [len(self.text)]
        self.parts = {}  # name: spans of its equations
        self.types = {}  # name: the span of its signature
        for a, b in zip(starts, starts[1:]):
            head = re.match(r"([a-z_][\w']*)([^\n=|]*?(::)?)", self.text[a:b])
            if not head or head[1] in KEYWORDS:
                continue
            if re.match(r"[\w', ]+::", self.text[a:b]):
                for name in re.findall(r"[a-z_][\w']*", self.text[a:b].split("::")[0]):
                    self.types[name] = a, b
            else:
                self.parts.setdefault(head[1], []).append((a, b))

    def has_rules(self, function):
        """Whether a function gives derivatives itself, which an edit would make those of another function."""
        return any(re.search(r"\b(with(Vjp|Jvp|Rules)|customRoot)\b", self.text[a:b]) for name in self.reached(function) for a, b in self.parts[name])

    def without(self, names):
        """The spans of what other definitions than these say."""
        for name, spans in self.parts.items():
            if name not in names:
                yield from spans
        for name, span in self.types.items():
            if not any(self.types.get(kept) == span for kept in names):
                yield span

    def reached(self, function):
        """The definitions that a function needs, itself among them."""
        found, waiting = [], [function]
        while waiting:
            name = waiting.pop()
            if name in self.parts and name not in found:
                found.append(name)
                for a, b in self.parts[name]:
                    waiting += re.findall(r"[a-z_][\w']*", self.text[a:b])
        return found


class Editor:
    """Makes one edit of one definition: (from, to, instead) in the text."""

    def __init__(self, source, name, span, rng):
        self.text, self.rng, self.name, self.start, self.end = source.text, rng, name, *span
        found = [m for m in TOKEN.finditer(self.text, *span) if m[0].strip()]
        self.tokens, self.spans = [m[0] for m in found], [m.span() for m in found]
        self.pairs = partners(self.tokens)
        known = set(source.parts)
        self.locals = sorted({t for t in self.binders() if t not in known and t not in KEYWORDS})

    def binders(self):
        t = self.tokens
        for k, token in enumerate(t):
            if token == "\\" or (token == "|" and "<-" in t[k:]):
                yield from itertools.takewhile(lambda w: w != "->", (w for w in t[k + 1:k + 12] if re.match(r"[a-z_]|->", w)))
            if token in ("=", "<-"):
                for w in reversed(t[max(0, k - 8):k]):
                    if w in (";", "{", "let", "where", "->", "|", "=") or "\n" in w:
                        break
                    if re.match(r"[a-z]", w):
                        yield w

    def places(self, wanted):
        return [k for k, t in enumerate(self.tokens) if wanted(t)]

    def at(self, k, instead):
        return (*self.spans[k], instead)

    def piece(self, k):
        """The text from an opening bracket to the one that closes it; of another token, itself."""
        return self.text[self.spans[k][0]:self.spans[self.pairs.get(k, k)][1]]

    def atoms(self):
        return [k for k, t in enumerate(self.tokens) if k > 0 and (k in self.pairs and t in ("(", "[|") or t in self.locals)]

    def number(self):
        k = self.rng.choice(self.places(lambda t: t[0].isdigit()))
        t = self.tokens[k]
        if t.isdigit():
            return self.at(k, self.rng.choice([str(int(t) + 1), str(max(int(t) - 1, 0)), *NUMBERS]))
        return self.at(k, self.rng.choice(["0", "1", "(-1)", "(-" + t + ")", "2.5"]))

    def like(self):
        k = self.rng.choice(self.places(lambda t: any(t in group for group in LIKE)))
        t = self.tokens[k]
        return self.at(k, self.rng.choice([w for group in LIKE if t in group for w in group if w != t] or [t]))

    def variable(self):
        k = self.rng.choice(self.places(lambda t: t in self.locals))
        return self.at(k, self.rng.choice(self.locals))

    def piece_for_piece(self):
        a, b = self.rng.choice(self.atoms()), self.rng.choice(self.atoms())
        return self.spans[a][0], self.spans[self.pairs.get(a, a)][1], self.piece(b)

    def literal(self):
        a = self.rng.choice(self.atoms())
        return self.spans[a][0], self.spans[self.pairs.get(a, a)][1], self.rng.choice(NUMBERS + ["(-1)", "(0 - 1)"])

    def wrapped(self):
        a = self.rng.choice(self.atoms())
        one, other = self.piece(a), self.piece(self.rng.choice(self.atoms()))
        if self.rng.random() < 0.5:
            other = self.rng.choice(self.locals)
        return self.spans[a][0], self.spans[self.pairs.get(a, a)][1], self.rng.choice(WRAPPED).format(one, other)

    def swapped(self):
        """The two neighbours around a comma, or two arguments of a function."""
        k = self.rng.choice(self.atoms())
        b = self.pairs.get(k, k) + 1
        c = b + 1 if self.tokens[b] == "," else b
        if c not in self.pairs and self.tokens[c] not in self.locals:
            raise IndexError
        d = self.pairs.get(c, c)
        between = self.text[self.spans[b - 1][1]:self.spans[c][0]]
        return self.spans[k][0], self.spans[d][1], self.piece(c) + between + self.piece(k)

    def operand(self):
        """An operation loses one operand."""
        k = self.rng.choice(self.atoms())
        b = self.pairs.get(k, k) + 1
        if self.tokens[b] not in ("+", "-", "*", "/", "++", "&&", "||"):
            raise IndexError
        return self.spans[k][0], self.spans[b + 1][0], ""

    def also(self):
        """A local value is a result, too."""
        body = self.text[self.start:self.end]
        depth, at = 0, None
        for k, t in enumerate(self.tokens):
            depth += (t in CLOSING) - (t in CLOSING.values())
            if depth == 0 and t in ("in", "=") and (at is None or t == "in"):
                at = k
            if depth == 0 and t == "where":
                break
        else:
            k += 1
        if at is None or k - at < 2 or "|" in self.tokens[:at] and "let" not in self.tokens[:at]:
            raise IndexError
        a, b = self.spans[at][1], self.spans[k - 1][1]
        return a, b, f" ({body[a - self.start:b - self.start].strip()}, {self.rng.choice(self.locals)})"


WAYS = [(3, Editor.number), (5, Editor.like), (5, Editor.variable), (4, Editor.piece_for_piece), (2, Editor.literal), (6, Editor.wrapped), (2, Editor.swapped),
        (2, Editor.operand)]


def edited_point(value, rng, most=1):
    """A point with a number or an array of another kind in it."""
    places = []

    def walk(v, set_):
        if isinstance(v, bool):
            return
        if isinstance(v, float) or isinstance(v, str) and v in SPECIAL:
            places.append((set_, lambda: rng.choice(REALS)))
        elif isinstance(v, int):
            places.append((set_, lambda: rng.choice([v + 1, v - 1, 0, 1, 2, -v, 7, 8, 9, 17])))
        elif isinstance(v, list):
            if v and not isinstance(v[0], (str, dict)):
                places.extend([(set_, lambda: [json.loads(json.dumps(v[i % len(v)])) for i in range(rng.choice(LENGTHS))]), (set_, lambda: v[:-1]), (set_, lambda: v[1:])])
            for i, w in enumerate(v[:20]):
                walk(w, lambda new, i=i: v.__setitem__(i, new))
        elif isinstance(v, dict):
            for key in v:
                walk(v[key], lambda new, key=key: v.__setitem__(key, new))

    value = [json.loads(json.dumps(value))]
    walk(value[0], lambda new: value.__setitem__(0, new))
    for _ in range(most):
        if places:
            set_, new = rng.choice(places)
            set_(new())
    return value[0]


class Programs:
    """The golden programs, or those whose paths hold one of some words, each edited anew for every seed."""

    def __init__(self, words):
        self.paths = [p for p in golden.programs(words or GROUPS) if p.endswith(".cot") and not golden.is_module(p)]
        self.known = {}

    def path_of(self, seed):
        """Consecutive seeds have the same program, one with a function that is called at a point and can be edited."""
        paths = self.paths[:]
        random.Random(seed // TOGETHER).shuffle(paths)
        return next((path for path in paths if self.look_at(path)[1]), paths[0])

    def look_at(self, path):
        """(the source of a program, the calls of its functions)"""
        if path not in self.known:
            source = Source(golden.read(path))
            calls = [call for call in calls_of(path) if call[0] in source.parts and not source.has_rules(call[0])]
            self.known[path] = source, calls
        return self.known[path]

    def candidates(self, seed):
        """Cases, of which the first that is a program is meant."""
        rng = random.Random(seed)
        source, calls = self.look_at(self.path_of(seed))
        for _ in range(40 if calls else 0):
            yield self.candidate(source, *rng.choice(calls), rng)

    def candidate(self, source, function, point, is_at, rng):
        names = source.reached(function)
        changes = []
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
            name = function if rng.random() < 0.4 else rng.choice(names)
            try:
                way = rng.choices([way for _, way in WAYS], [weight for weight, _ in WAYS])[0]
                changes.append(way(Editor(source, name, rng.choice(source.parts[name]), rng)))
            except IndexError:
                pass
        if rng.random() < 0.15:
            try:
                changes.append(Editor.also(Editor(source, function, rng.choice(source.parts[function]), rng)))
                changes.append((*source.types.get(function, (0, 0)), ""))
            except IndexError:
                pass
        if not changes or rng.random() < 0.3:
            point = edited_point(point, rng, rng.choice([1, 1, 2]))
        changes += {(*span, "") for span in source.without(names)}
        text, before = source.text, len(source.text)
        for a, b, instead in sorted(changes, reverse=True):
            if b <= before:
                text, before = text[:a] + instead + text[b:], a
        if is_at:  # of a function of one argument it is that argument
            point = point if isinstance(point, list) and self.arity(source, function) == len(point) > 1 else [point]
        return Case(text, point, floats=uses_floats(text), function=function)

    def arity(self, source, function):
        """How many arguments a function has by its first equation."""
        a, _ = source.parts[function][0]
        head = source.text[a:].split("=")[0]
        head = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "x", head)
        return len(head.split()) - 1
