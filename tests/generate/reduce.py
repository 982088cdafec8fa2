"""Makes a program on which something disagrees smaller, as long as it disagrees in the same way."""
import re
import time

from tree import E, Dim, NAME, first_order, fits, form_text, is_atom, names_of, program_size, program_text


def default(t, datas, scope=()):
    """The simplest expression of a type."""
    if isinstance(t, str):
        return E(t, {"D": "0.5", "F": "0.5", "I": "1", "B": "True"}[t])
    kind = t[0]
    if kind == "A":
        length = E("I", t[2]) if t[2] is not None else E("I", "1")
        return E(t, "replicate $0 $1", [length, default(t[1], datas)])
    if kind == "L":
        return E(t, "[$0]", [default(t[1], datas)])
    if kind == "T":
        return E(t, "(" + ", ".join(f"${i}" for i in range(len(t) - 1)) + ")", [default(u, datas) for u in t[1:]])
    if kind == "M":
        return E(t, "Just $0", [default(t[1], datas)])
    if kind == "E":
        return E(t, "Left $0", [default(t[1], datas)])
    if kind == "G":
        names = [f"u{i}" for i in range(len(t) - 2)]
        return E(t, "\\" + " ".join(names) + " -> $0", [default(t[-1], datas)])
    data = next(d for d in datas if d.name == t[1])
    name, fields = data.constructors[0]
    return E(t, " ".join([name] + [f"${i}" for i in range(len(fields))]), [default(u, datas) for _, u in fields])


def substitute(e, name, value):
    """Puts an expression in the place of a name; in place. Names are unique, but for a few that templates bind themselves."""
    if isinstance(e.form, str) and e.form == name and not e.kids:
        return value.copy()
    if not isinstance(e.form, str):
        return value.copy() if e.form.text == name else e
    e.kids = [substitute(k, name, value) for k in e.kids]
    if re.search(rf"(?<![\w'.]){re.escape(name)}(?![\w'])", e.form):
        e.kids.append(value.copy())
        e.form = re.sub(rf"(?<![\w'.]){re.escape(name)}(?![\w'])", f"${len(e.kids) - 1}", e.form)
    return e


class Reducer:
    def __init__(self, program, holds, seconds=300, tell=None):
        self.program, self.holds, self.until, self.tell = program, holds, time.time() + seconds, tell
        self.seen, self.tests = {}, 0

    def test(self):
        text = program_text(self.program) + repr(self.program.point)
        if text not in self.seen:
            if time.time() > self.until:
                return False
            self.tests += 1
            self.seen[text] = self.holds(self.program)
        return self.seen[text]

    def attempt(self, change):
        """Makes a change, which gives what takes it back; keeps it when the program still disagrees."""
        undo = change()
        if undo is None:
            return False
        if self.test():
            return True
        undo()
        return False

    def setting(self, owner, name, value):
        def change():
            old = getattr(owner, name)
            setattr(owner, name, value)
            return lambda: setattr(owner, name, old)

        return self.attempt(change)

    def item(self, items, k, value):
        def change():
            old = items[k]
            items[k] = value
            return lambda: items.__setitem__(k, old)

        return self.attempt(change)

    def dropping(self, *places):
        """Drops items from lists, all together."""

        def change():
            old = [(items, list(items)) for items, _ in places]
            for items, k in places:
                del items[k]
            return lambda: [items.__setitem__(slice(None), kept) for items, kept in old]

        return self.attempt(change)

    def run(self):
        while time.time() < self.until:
            before = (program_size(self.program), repr(self.program.point), program_text(self.program))
            self.results()
            self.lets()
            self.functions()
            self.parameters()
            self.expressions()
            self.lengths()
            self.literals()
            self.values()
            self.datas()
            if before == (program_size(self.program), repr(self.program.point), program_text(self.program)):
                break
        return self.program

    # ---- the whole ----

    def results(self):
        main = self.program.main
        t = main.result.type
        if isinstance(t, tuple) and t[0] == "T" and main.result.form.startswith("("):
            for kid in list(main.result.kids):
                if self.setting(main, "result", kid):
                    break
            else:
                k = 0
                while k < len(main.result.kids) and len(main.result.kids) > 2:
                    kids = main.result.kids[:k] + main.result.kids[k + 1:]
                    form = "(" + ", ".join(f"${i}" for i in range(len(kids))) + ")"
                    if not self.setting(main, "result", E(("T", *[x.type for x in kids]), form, kids)):
                        k += 1
        # What a binding has, as the result; without those behind it.
        for k in range(len(main.lets)):
            e = main.lets[k][1]
            if first_order(e.type) and main.result is not e:
                def change(k=k, e=e):
                    old = list(main.lets), main.result
                    main.lets[k:] = []
                    main.result = e

                    def undo():
                        main.lets[:], main.result = old

                    return undo

                if self.attempt(change):
                    break
        # A part of the result.
        again = True
        while again:
            again = False
            for part in sorted(list(main.result.walk())[1:], key=lambda e: -e.size())[:40]:
                if first_order(part.type) and self.setting(main, "result", part):
                    again = True
                    break

    def lets(self):
        for f in self.program.functions:
            for k in reversed(range(len(f.lets))):
                self.dropping((f.lets, k))
            for k in reversed(range(len(f.lets))):
                if k >= len(f.lets) or not NAME.fullmatch(f.lets[k][0]):
                    continue

                def change(f=f, k=k):
                    """The binding's expression in the place of its name, where it is short or used once."""
                    name, e = f.lets[k]
                    old = [[p, x] for p, x in f.lets], f.result
                    copies = [[p, x.copy()] for p, x in f.lets], f.result.copy()
                    uses = sum(1 for x in [b[1] for b in copies[0]] + [copies[1]] for y in x.walk() if name in NAME.findall(form_text(y)))
                    if uses > 1 and e.size() > 3:
                        return None
                    f.lets[:] = [[p, substitute(x, name, e)] for p, x in copies[0][:k] + copies[0][k + 1:]]
                    f.result = substitute(copies[1], name, e)

                    def undo():
                        f.lets[:], f.result = old

                    return undo

                self.attempt(change)

    def functions(self):
        for k in reversed(range(len(self.program.functions) - 1)):
            self.dropping((self.program.functions, k))

    def parameters(self):
        main = self.program.main
        for k in reversed(range(len(main.parameters))):
            if len(main.parameters) > 1:
                name, t = main.parameters[k]
                if self.dropping((main.parameters, k), (self.program.point, k)):
                    continue

                def change(k=k, name=name, t=t):
                    if any(name in NAME.findall(str(p)) for p in ()):
                        return None
                    old = [[p, x] for p, x in main.lets], main.result, list(main.parameters), list(self.program.point)
                    value = default(t, self.program.datas)
                    if isinstance(t, tuple) and t[0] == "A":
                        value = literal(self.program.point[k], t)
                        if value is None:
                            return None
                    elif t in ("D", "I"):
                        value = literal(self.program.point[k], t)
                    main.lets[:] = [[p, substitute(x.copy(), name, value)] for p, x in main.lets]
                    main.result = substitute(main.result.copy(), name, value)
                    del main.parameters[k]
                    del self.program.point[k]

                    def undo():
                        main.lets[:], main.result = old[0], old[1]
                        main.parameters[:], self.program.point[:] = old[2], old[3]

                    return undo

                self.attempt(change)
        # Parameters of the other functions, with the argument at every call.
        for f in self.program.functions[:-1]:
            for k in reversed(range(len(f.parameters))):
                if len(f.parameters) < 2:
                    break

                def change(f=f, k=k):
                    calls = []
                    for g in self.program.functions:
                        for e in [b[1] for b in g.lets] + [g.result]:
                            calls += [x for x in e.walk() if isinstance(x.form, str) and re.match(rf"{f.name}\b", x.form)]
                    old = [(x, x.form, list(x.kids)) for x in calls], list(f.parameters)
                    for x in calls:
                        words = split_words(x.form)
                        if len(words) != len(f.parameters) + 1:
                            for y, form, kids in old[0]:
                                y.form, y.kids = form, kids
                            return None
                        dropped = words.pop(k + 1)
                        form = " ".join(words)
                        if dropped.startswith("$"):
                            j = int(dropped[1:])
                            del x.kids[j]
                            form = re.sub(r"\$(\d+)", lambda m: f"${int(m.group(1)) - (int(m.group(1)) > j)}", form)
                        x.form = form
                    del f.parameters[k]

                    def undo():
                        for y, form, kids in old[0]:
                            y.form, y.kids = form, kids
                        f.parameters[:] = old[1]

                    return undo

                self.attempt(change)

    # ---- expressions ----

    def roots(self):
        for f in reversed(self.program.functions):
            scope = list(f.parameters)
            for binding in f.lets:
                yield f, scope, binding, 1
                for name in names_of(binding[0]):
                    scope.append((name, binding[1].type))
            yield f, scope, f, "result"

    def expressions(self):
        for f, scope, owner, slot in list(self.roots()):
            self.expression(owner, slot, list(scope))

    def get(self, owner, slot):
        return getattr(owner, slot) if isinstance(slot, str) else owner[slot]

    def put(self, owner, slot, value):
        return self.setting(owner, slot, value) if isinstance(slot, str) else self.item(owner, slot, value)

    def expression(self, owner, slot, scope):
        if time.time() > self.until:
            return
        tried = True
        while tried:
            tried = False
            e = self.get(owner, slot)
            if not isinstance(e.form, str) or (not e.kids and e.type in ("I", "B")):
                return
            for candidate in self.candidates(e, scope):
                if self.put(owner, slot, candidate):
                    tried = candidate.size() > 1
                    break
        e = self.get(owner, slot)
        for k in range(len(e.kids)):
            self.expression(e.kids, k, scope + list(e.binds.get(k, [])))

    def candidates(self, e, scope):
        plain = default(e.type, self.program.datas)
        if e.size() > plain.size() or (e.size() == plain.size() and e.form != plain.form and not e.kids):
            yield plain
        if e.size() > 1:
            for name, t in reversed(scope[-12:]):
                if fits(t, e.type):
                    yield E(e.type, name)
        # A kid; what it has bound around it becomes something simple.
        for k, kid in enumerate(e.kids):
            if fits(kid.type, e.type):
                yield self.freed(kid, e.binds.get(k, []))
        for k, kid in enumerate(e.kids):
            for j, inner in enumerate(kid.kids):
                if fits(inner.type, e.type):
                    yield self.freed(inner, list(e.binds.get(k, [])) + list(kid.binds.get(j, [])))
        if e.size() <= 400:
            parts = sorted((x for x in e.walk() if x is not e and fits(x.type, e.type) and 1 < x.size()), key=lambda x: -x.size())
            for x in parts[:8]:
                yield x

    def freed(self, kid, binds):
        mentioned = kid.names()
        kid = kid.copy()
        for name, t in binds:
            if name in mentioned:
                kid = substitute(kid, name, default(t, self.program.datas))
        return kid

    def lengths(self):
        dims = {}
        for f in self.program.functions:
            for e in [b[1] for b in f.lets] + [f.result]:
                for x in e.walk():
                    if isinstance(x.form, Dim) and x.form.is_literal():
                        dims[id(x.form)] = x.form
        for dim in dims.values():
            for smaller in sorted({0, 1, 2, 3, int(dim.text) // 2, int(dim.text) - 1}):
                if 0 <= smaller < int(dim.text) and self.setting(dim, "text", str(smaller)):
                    break

    def literals(self):
        simple = {"D": ["0.0", "1.0", "2.0"], "I": ["0", "1", "2"], "B": ["True", "False"]}
        for f, scope, owner, slot in list(self.roots()):
            for e in self.get(owner, slot).walk():
                if e.kids or not isinstance(e.form, str) or e.type not in simple or re.match(r"[a-z]", e.form):
                    continue
                for text in simple[e.type]:
                    if e.form == text or self.setting(e, "form", text):
                        break

    def values(self):
        """The point: shorter arrays, simpler numbers."""

        def lists(v, found):
            if isinstance(v, list):
                found.append(v)
                for x in v:
                    lists(x, found)
            elif isinstance(v, dict):
                for x in v.values():
                    lists(x, found)
            return found

        for size in sorted({len(x) for x in lists(self.program.point, [])}, reverse=True):
            for smaller in sorted({1, 2, 3, size // 2, size - 1, 0}):
                if smaller >= size or smaller < 0:
                    continue

                def change(size=size, smaller=smaller):
                    old = [(x, list(x)) for x in lists(self.program.point, []) if len(x) == size and x is not self.program.point]
                    for x, _ in old:
                        del x[smaller:]
                    return (lambda: [x.__setitem__(slice(None), kept) for x, kept in old]) if old else None

                if self.attempt(change):
                    break
        for x in lists(self.program.point, []):
            if x is self.program.point:
                continue
            for smaller in sorted({0, 1, 2, len(x) // 2, len(x) - 1}):
                if 0 <= smaller < len(x):
                    def change(x=x, smaller=smaller):
                        old = list(x)
                        del x[smaller:]
                        return lambda: x.__setitem__(slice(None), old)

                    if self.attempt(change):
                        break

        def numbers(v, found):
            for k, x in v.items() if isinstance(v, dict) else enumerate(v):
                if isinstance(x, (list, dict)):
                    numbers(x, found)
                elif isinstance(x, (int, float, str)) and not isinstance(x, bool):
                    found.append((v, k))
            return found

        places = numbers(self.program.point, [])
        if len(places) <= 60:
            for v, k in places:
                x = v[k]
                for simple in ([0.5, 1.0, 2.0, 0.0, -1.0] if not isinstance(x, int) else [0, 1, 2]):
                    if isinstance(x, str) and x not in ("inf", "-inf", "nan"):
                        break
                    if repr(x) == repr(simple):
                        break
                    if self.item(v, k, simple):
                        break

    def datas(self):
        for k in reversed(range(len(self.program.datas))):
            if self.dropping((self.program.datas, k)):
                continue
            d = self.program.datas[k]
            for j in reversed(range(len(d.constructors))):
                if len(d.constructors) > 1:
                    self.dropping((d.constructors, j))


def split_words(form):
    """The words of a call, parentheses kept together."""
    words, depth, word = [], 0, ""
    for c in form:
        depth += (c == "(") - (c == ")")
        if c == " " and depth == 0:
            words.append(word)
            word = ""
        else:
            word += c
    return words + [word]


def literal(value, t):
    """A value of the point as an expression; None where it is long or of another kind."""
    if t == "D" and isinstance(value, float):
        return E(t, repr(value))
    if t == "I" and isinstance(value, int):
        return E(t, repr(value))
    if isinstance(t, tuple) and t[0] == "A" and isinstance(value, list) and 0 < len(value) <= 4:
        kids = [literal(v, t[1]) for v in value]
        if all(k is not None for k in kids):
            return E(t, "[|" + ", ".join(f"${i}" for i in range(len(kids))) + "|]", kids)
    return None
