"""Programs as trees: types, expressions, functions, and how they are written as text.

Types are strings for the plain ones ('D' Double, 'F' Float, 'I' Int, 'B' Bool) and tuples for the others:
  ('A', t, dim)   an array; dim is a Dim, or None where the length is not known
  ('L', t)        a list
  ('T', t, …)     a tuple
  ('M', t)        Maybe t
  ('E', t, u)     Either t u
  ('N', name)     a data type of the program, see Data
  ('G', a, …, r)  a function of several arguments
A Dim is a length that the program has a name or a literal for; arrays of one Dim can be zipped.
"""
import re
from dataclasses import dataclass, field


class Dim:
    """A length: its text in the program, and its value at the point (None: only known to be at least 1)."""

    __slots__ = ("text", "value")

    def __init__(self, text, value):
        self.text, self.value = text, value

    def __repr__(self):
        return self.text

    def is_literal(self):
        return self.text.isdigit()


class E:
    """An expression: a template in which `$0`, `$1` … stand for the kids. `binds[k]` are the names bound around kid k."""

    __slots__ = ("type", "form", "kids", "binds")

    def __init__(self, type_, form, kids=(), binds=None):
        self.type, self.form, self.kids = type_, form, list(kids)
        self.binds = binds or {}

    def copy(self):
        return E(self.type, self.form, [k.copy() for k in self.kids], dict(self.binds))

    def size(self):
        return 1 + sum(k.size() for k in self.kids)

    def walk(self):
        yield self
        for k in self.kids:
            yield from k.walk()

    def names(self):
        """All names that the text mentions."""
        found = set()
        for e in self.walk():
            found.update(NAME.findall(form_text(e)))
        return found


NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9']*")
HOLE = re.compile(r"\$(\d+)")
WORD = re.compile(r"^[A-Za-z_0-9'.]+$")


def is_atom(s):
    """Whether the text needs no parentheses: a word, or what one pair of brackets encloses."""
    if WORD.match(s):
        return True
    if s[0] not in "([":
        return False
    depth = 0
    for k, c in enumerate(s):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0:
            return k == len(s) - 1
    return False


def form_text(e):
    return e.form.text if isinstance(e.form, Dim) else e.form


def text(e):
    if isinstance(e.form, Dim):
        return e.form.text
    if not e.kids:
        return e.form

    def fill(match):
        inside = text(e.kids[int(match.group(1))])
        if is_atom(inside):
            return inside
        return "(" + inside + ")"

    return HOLE.sub(fill, e.form)


@dataclass
class Data:
    name: str
    constructors: list  # of (name, [(field name or None, type)])

    def is_record(self):
        return self.constructors[0][1] and self.constructors[0][1][0][0] is not None


@dataclass
class Function:
    name: str
    parameters: list  # of (name, type)
    lets: list  # of [pattern, E]; a pattern is a name, or a tuple of names as text
    result: E


@dataclass
class Program:
    datas: list
    functions: list  # the last one is called f
    point: list  # of JSON values, one for each parameter of f
    wide: bool = False  # long arrays: worth several threads
    notes: dict = field(default_factory=dict)

    @property
    def main(self):
        return self.functions[-1]


def type_text(t, atomic=False):
    if isinstance(t, str):
        return {"D": "Double", "F": "Float", "I": "Int", "B": "Bool"}[t]
    kind = t[0]
    if kind == "L":
        return "[" + type_text(t[1]) + "]"
    if kind == "T":
        return "(" + ", ".join(type_text(u) for u in t[1:]) + ")"
    if kind == "N":
        return t[1]
    if kind == "A":
        s = "Array " + type_text(t[1], True)
    elif kind == "M":
        s = "Maybe " + type_text(t[1], True)
    elif kind == "E":
        s = "Either " + type_text(t[1], True) + " " + type_text(t[2], True)
    else:
        s = " -> ".join(type_text(u, not isinstance(u, str) and u[0] == "G") for u in t[1:])
    return "(" + s + ")" if atomic else s


def names_of(pattern):
    return [n for n in NAME.findall(pattern) if not n[0].isupper()]


def data_text(data):
    alternatives = []
    for name, fields in data.constructors:
        if fields and fields[0][0] is not None:
            inside = ", ".join(f"{f} :: {type_text(t)}" for f, t in fields)
            alternatives.append(f"{name} {{ {inside} }}")
        else:
            alternatives.append(" ".join([name] + [type_text(t, True) for _, t in fields]))
    return f"data {data.name} = " + " | ".join(alternatives)


def function_text(f):
    lines = [f"{f.name} :: " + " -> ".join([type_text(t, t[0] == "G") for _, t in f.parameters] + [type_text(f.result.type)])]
    lines.append(" ".join([f.name] + [p for p, _ in f.parameters]) + " =")
    for i, (pattern, e) in enumerate(f.lets):
        lines.append(("  let " if i == 0 else "      ") + f"{pattern} = {text(e)}")
    lines.append(("  in " if f.lets else "  ") + text(f.result))
    return "\n".join(lines)


def program_text(p):
    parts = [data_text(d) for d in p.datas]
    parts += [function_text(f) for f in p.functions]
    return "\n".join(parts) + "\n"


def program_size(p):
    return sum(e.size() for f in p.functions for e in [b[1] for b in f.lets] + [f.result])


def map_types(t, change):
    """t with `change` applied to the types within, innermost first."""
    if isinstance(t, tuple) and t[0] != "N":
        if t[0] == "A":
            t = ("A", map_types(t[1], change), t[2])
        else:
            t = (t[0],) + tuple(map_types(u, change) for u in t[1:])
    return change(t)


def fits(have, want):
    """Whether a value of type `have` can stand where `want` is asked for: a known length may be forgotten."""
    if have == want:
        return True
    if isinstance(have, str) or isinstance(want, str) or have[0] != want[0] or len(have) != len(want):
        return False
    if have[0] == "N":
        return False
    if have[0] == "A":
        return (want[2] is None or have[2] is want[2]) and fits(have[1], want[1])
    return all(fits(a, b) for a, b in zip(have[1:], want[1:]))


def first_order(t):
    if isinstance(t, str):
        return True
    if t[0] == "G":
        return False
    if t[0] == "N":
        return not t[1].startswith("H")
    return all(first_order(u) for u in (t[1:2] if t[0] == "A" else t[1:]))


def has_reals(t, datas):
    """Whether a value of the type holds a Double, by which one could differentiate."""
    if isinstance(t, str):
        return t == "D"
    if t[0] == "N":
        return any(has_reals(u, datas) for d in datas if d.name == t[1] for _, fs in d.constructors for _, u in fs
                   if u != t)
    return any(has_reals(u, datas) for u in (t[1:2] if t[0] == "A" else t[1:]) if not isinstance(u, Dim))
