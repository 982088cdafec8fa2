"""How random expressions are made: what is in scope, and the table of productions, which the files beside this one fill."""
import random

from tree import Data, Dim, E, fits

# Lengths where the compiler or the runtime changes what it does: nothing, one, widths of vectors (2, 4, 8) and one more or less,
# loops that are unrolled (up to 4 and up to 16 iterations), blocks of 32 and 64.
LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65]
COMMON = [1, 2, 3, 3, 4, 5, 7, 8, 9, 11, 16, 17, 20]
# `reduce` takes blocks from 128 elements on; `products` packs panels; loops of 65,536 steps are shared among threads.
LONG = [127, 128, 129, 130, 160, 255, 257, 513, 1025]
LITERALS = ["0.5", "1.0", "2.0", "0.1", "1.5", "-1.0", "0.25", "3.0", "-0.5", "0.7", "0.0", "-0.0", "1.0e-3"]
SMOOTH = ["sin $0", "cos $0", "tanh $0", "atan $0", "exp (tanh $0)", "log (1.5 + abs $0)", "sqrt (1.25 + abs $0)",
          "0.5 * $0", "abs $0", "negate $0", "$0 + 0.25", "1.0 / (1.5 + abs $0)", "erf $0", "asinh $0", "0.1 - $0",
          "sin $0 * 0.9", "log1p (abs $0)", "cbrt (2.0 + abs $0)"]
BINARY = ["$0 + $1", "$0 + $1", "$0 - $1", "$0 * $1", "$0 * $1", "max $0 $1", "min $0 $1", "$0 / (2.0 + abs $1)",
          "atan2 $0 (1.5 + abs $1)", "hypot $0 $1"]
DIVISIONS = ["$0 `div` $1", "$0 `mod` $1", "$0 `quot` $1", "$0 `rem` $1"]
WRAPS = ["$0", "$0", "sin $0", "0.7 * tanh $0", "0.5 * $0 + 0.1", "atan $0", "0.3 * $0"]


class Env:
    """What is in scope: variables, lengths, indices known to lie in a length, and calls that may be made."""

    __slots__ = ("vars", "dims", "indices", "calls", "cost", "depth")

    def __init__(self, vars=(), dims=(), indices=(), calls=(), cost=1, depth=0):
        self.vars, self.dims, self.indices, self.calls = tuple(vars), tuple(dims), tuple(indices), tuple(calls)
        self.cost, self.depth = cost, depth

    def bind(self, vars=(), dims=(), indices=(), calls=(), times=1, nest=0):
        vars = list(vars) + [(n, "I") for n, _ in indices]
        return Env(self.vars + tuple(vars), self.dims + tuple(dims), self.indices + tuple(indices),
                   self.calls + tuple(calls), self.cost * max(1, times), self.depth + nest)


class Call:
    """Something to call: a template with a hole for each argument."""

    __slots__ = ("form", "args", "result", "cost", "dims")

    def __init__(self, form, args, result, cost=1, dims=()):
        self.form, self.args, self.result, self.cost, self.dims = form, args, result, cost, dims


def unify(have, want, found):
    """Binds the lengths of a function's signature, the keys of `found`, so that `have` becomes `want`."""
    if isinstance(have, str) or isinstance(want, str):
        return have == want
    if have[0] != want[0] or len(have) != len(want):
        return False
    if have[0] == "N":
        return have == want
    if have[0] == "A":
        d = have[2]
        if d in found:
            if found[d] is None:
                if want[2] is None:
                    return False
                found[d] = want[2]
            elif found[d] is not want[2] and want[2] is not None:
                return False
        elif want[2] is not None and d is not want[2]:
            return False
        return unify(have[1], want[1], found)
    return all(unify(a, b, found) for a, b in zip(have[1:], want[1:]))


def replace_dims(t, found):
    if isinstance(t, str) or t[0] == "N":
        return t
    if t[0] == "A":
        return ("A", replace_dims(t[1], found), found.get(t[2], t[2]))
    return (t[0],) + tuple(replace_dims(u, found) for u in t[1:])


PRODUCTIONS = {}


def makes(kind, weight=1.0):
    def register(method):
        PRODUCTIONS.setdefault(kind, []).append((weight, method.__name__))
        return method

    return register


class Expressions:
    """What all productions use: names, choices, types, lengths, indices; and how an expression of a type is made."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.datas = []
        self.budget = 0
        r = self.rng.random()
        # Most programs are small: they compile quickly, and what goes wrong in them is plain.
        self.fuel = self.rng.choice([2, 3, 4, 6]) if r < 0.6 else self.rng.choice([8, 10, 14, 20]) if r < 0.92 else self.rng.choice([30, 50, 90])
        self.wide = self.rng.random() < 0.06
        self.limit = 40000 if self.wide else 4000
        self.risk = self.rng.choice([0, 0, 0.02, 0.1, 0.3])
        self.derive = self.rng.choice([0, 0, 0.02, 0.1])
        # Each program favours some productions, so that kinds of programs differ more than by chance.
        self.taste = {}
        for kind in PRODUCTIONS.values():
            for _, name in kind:
                self.taste[name] = self.rng.choice([0.1, 0.5, 1, 1, 1, 2, 6])
        # Some programs are functions of numbers that call each other, as small ones by hand are.
        self.scalar = self.rng.random() < 0.2
        if self.scalar:
            for name in ["unary", "binary", "factor", "branch", "call", "compare", "parity", "int_binary", "let"]:
                self.taste[name] = 4

    # ---- helpers ----

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, items):
        return self.rng.choice(items)

    def chance(self, p):
        return self.rng.random() < p

    def split(self, n, k):
        cuts = sorted(self.rng.randint(0, max(0, n - 1)) for _ in range(k - 1))
        return [b - a for a, b in zip([0] + cuts, cuts + [max(0, n - 1)])]

    def short(self, t):
        return {"D": "x", "I": "i", "F": "y", "B": "b"}.get(t) or {"A": "v", "L": "l", "T": "t", "N": "s"}.get(t[0], "m")

    def var_of(self, t, env, recent=False):
        found = [n for n, u in env.vars if fits(u, t)]
        if not found:
            return None
        return E(t, found[-1] if recent or self.chance(0.4) else self.pick(found[-6:] if self.chance(0.6) else found))

    def dim(self, env, loop=True, nonempty=False):
        """A length in scope, or a new literal one."""
        found = [d for d in env.dims if self.affordable(d, env) or not loop]
        if nonempty:
            found = [d for d in found if d.value != 0]
        if found and self.chance(0.75):
            return self.pick(found)
        sizes = LONG if self.wide and self.chance(0.3) else LENGTHS if self.chance(0.3) else COMMON
        value = self.pick([s for s in sizes if s > 0 or not nonempty])
        if not self.affordable(Dim("", value), env):
            value = self.pick([1, 2, 3])
        return Dim(str(value), value)

    def affordable(self, dim, env):
        return env.cost * max(1, 6 if dim.value is None else dim.value) <= self.limit

    def times(self, dim):
        return 6 if dim.value is None else dim.value

    def len(self, dim):
        return E("I", dim)

    def real_type(self, env, n):
        """A type that a Double could be differentiated by, for points and accumulators."""
        r = self.rng.random()
        if r < 0.4:
            return "D"
        if r < 0.6:
            return ("A", "D", self.dim(env))
        if r < 0.7:
            return ("T", "D", ("A", "D", self.dim(env)))
        if r < 0.78:
            return ("T", "D", "D")
        if r < 0.84:
            return ("A", ("A", "D", self.dim(env)), self.dim(env, nonempty=True))
        if r < 0.9:
            return ("A", ("T", "D", "D"), self.dim(env))
        if r < 0.94:
            return ("L", "D")
        return self.data_type("P") or "D"

    def state_type(self, env):
        """What loops carry."""
        r = self.rng.random()
        if r < 0.25:
            return "D"
        if r < 0.3:
            return "I"
        if r < 0.55:
            return ("A", "D", self.dim(env))
        if r < 0.7:
            return ("T", "D", ("A", "D", self.dim(env)))
        if r < 0.78:
            return ("T", "D", "D")
        if r < 0.84:
            return ("T", "D", "I")
        if r < 0.92:
            return ("A", ("A", "D", self.dim(env)), self.dim(env, nonempty=True))
        if r < 0.94:
            return ("T", ("A", "D", self.dim(env)), ("A", "D", self.dim(env)))
        if r < 0.97:
            return self.data_type("P") or "D"
        return ("L", "D")

    def element_type(self, env):
        r = self.rng.random()
        if r < 0.55:
            return "D"
        if r < 0.65:
            return ("A", "D", self.dim(env))
        if r < 0.75:
            return ("T", "D", "D")
        if r < 0.8:
            return "I"
        if r < 0.84:
            return ("T", "D", ("A", "D", None if self.chance(0.5) else self.dim(env)))
        if r < 0.87:
            return ("T", ("A", "D", self.dim(env)), ("A", "D", self.dim(env)))
        if r < 0.89:
            return "B"
        if r < 0.92:
            return ("T", "D", "I")
        if r < 0.94:
            return "F"
        if r < 0.96:
            return ("M", "D")
        return self.data_type(self.pick("PS")) or "D"

    def any_type(self, env):
        r = self.rng.random()
        if self.scalar and r < 0.9:
            return "D" if r < 0.75 else "I" if r < 0.85 else ("T", "D", "D")
        if r < 0.3:
            return "D"
        if r < 0.37:
            return "I"
        if r < 0.75:
            return ("A", self.element_type(env), self.dim(env))
        if r < 0.8:
            return ("T", "D", ("A", "D", self.dim(env)))
        if r < 0.84:
            return ("L", self.pick(["D", "I", ("T", "D", "D")]))
        if r < 0.86:
            return ("M", "D")
        if r < 0.88:
            return ("E", "D", ("A", "D", None))
        if r < 0.9:
            return "B"
        if r < 0.92:
            return "F"
        return self.data_type(self.pick("PST")) or "D"

    # ---- data types ----

    def data_type(self, kind):
        for d in self.datas:
            if d.name == kind:
                return ("N", kind)
        if kind == "P":
            fields = [("px", "D")]
            more = [("pv", ("A", "D", None)), ("pk", "I"), ("pt", ("T", "D", "D")), ("pw", ("A", "D", None)), ("py", "D"),
                    ("pf", "F"), ("pl", ("L", "D"))]
            fields += self.rng.sample(more, self.rng.randint(1, 3))
            self.rng.shuffle(fields)
            self.datas.append(Data("P", [("P", fields)]))
        elif kind == "S":
            fields = ["D", ("A", "D", None), "I", ("T", "D", "D"), ("L", "D")]
            if any(d.name == "P" for d in self.datas):
                fields.append(("N", "P"))
            constructors = [("S" + str(k), [(None, self.pick(fields)) for _ in range(self.rng.choice([0, 1, 1, 2]))])
                            for k in range(self.rng.randint(2, 4))]
            self.datas.append(Data("S", constructors))
        elif kind == "T":
            constructors = [("Leaf", []), ("Fork", [(None, ("N", "T")), (None, "D"), (None, ("N", "T"))])]
            if self.chance(0.4):
                constructors.append(("Twig", [(None, ("A", "D", None)), (None, ("N", "T"))]))
            self.datas.append(Data("T", constructors))
        elif kind == "H":
            self.datas.append(Data("H", [("H0", [(None, ("G", "D", "D")), (None, ("A", "D", None))]),
                                         ("H1", [(None, "D"), (None, ("G", "D", "D", "D"))])]))
        return ("N", kind)

    def data(self, name):
        return next(d for d in self.datas if d.name == name)

    # ---- expressions ----

    def e(self, t, env, n):
        if n <= 0 or self.budget <= 0 or env.depth > 14:
            return self.leaf(t, env)
        self.budget -= 1
        kind = t if isinstance(t, str) else t[0] + (t[1] if t[0] == "N" else "")
        options = PRODUCTIONS.get(kind, []) + PRODUCTIONS["*"]
        weights = [w * self.taste[name] for w, name in options]
        for _ in range(6):
            _, name = self.rng.choices(options, weights)[0]
            made = getattr(self, name)(t, env, n)
            if made is not None:
                return made
        return self.leaf(t, env)

    def leaf(self, t, env):
        var = self.var_of(t, env)
        if t == "D" and self.budget > 0 and env.depth < 14 and self.chance(0.5):
            self.budget -= 1
            a = self.part(t, env, 0) or var or E("D", self.pick(LITERALS))
            if self.chance(0.4):
                return E("D", self.pick(SMOOTH), [a])
            b = var or self.part(t, env, 0) or E("D", self.pick(LITERALS))
            return E("D", self.pick(BINARY), [a, b])
        if isinstance(t, tuple) and t[0] == "A" and t[2] is not None and self.budget > 0 and env.depth < 12 and self.chance(0.3) and self.affordable(t[2], env):
            self.budget -= 1
            i = self.name("i")
            inner = env.bind(indices=[(i, t[2])], times=self.times(t[2]), nest=1)
            if t[1] == "D" and var is not None and self.chance(0.4):
                x = self.name("x")
                return E(t, f"map (\\{x} -> $0) $1", [self.leaf("D", env.bind([(x, "D")], times=self.times(t[2]), nest=1)), var], {0: [(x, "D")]})
            return E(t, f"build $1 (\\{i} -> $0)", [self.leaf(t[1], inner), self.len(t[2])], {0: [(i, "I")]})
        if var is not None and self.chance(0.85):
            return var
        if t == "D":
            made = self.part(t, env, 0) if self.chance(0.7) else None
            return made or E("D", self.pick(LITERALS))
        if t == "F":
            return E("F", self.pick(["0.5", "1.5", "0.1", "-2.0", "0.0"]))
        if t == "I":
            if env.dims and self.chance(0.3):
                return self.len(self.pick(env.dims))
            return E("I", self.pick(["0", "1", "2", "3", "5", "-1", "7", "64"]))
        if t == "B":
            if env.indices and self.chance(0.4):
                return E("B", self.pick(["even $0", "$0 > 1", "$0 == 2", "$0 `mod` 3 == 1", "odd $0"]), [E("I", env.indices[-1][0])])
            x = self.part("D", env, 0) or self.var_of("D", env)
            if x is not None and self.chance(0.8):
                return E("B", self.pick(["$0 > 0.25", "$0 < 0.5", "$0 >= 0.0", "$0 <= 1.0"]), [x])
            return E("B", self.pick(["True", "False"]))
        if var is not None:
            return var
        kind = t[0]
        if kind == "A":
            if t[2] is None:
                d = self.dim(env)
                made = self.var_of(("A", t[1], None), env)
                if made is not None:
                    return made
                t = ("A", t[1], d)
            if t[1] == "I" and self.chance(0.4):
                return E(t, "iota $0", [self.len(t[2])])
            return E(t, "replicate $0 $1", [self.len(t[2]), self.leaf(t[1], env)])
        if kind == "L":
            k = self.rng.randint(0, 3)
            return E(t, "[" + ", ".join(f"${i}" for i in range(k)) + "]", [self.leaf(t[1], env) for _ in range(k)])
        if kind == "T":
            return self.tuple(t, [self.leaf(u, env) for u in t[1:]])
        if kind == "M":
            return E(t, "Just $0", [self.leaf(t[1], env)]) if self.chance(0.7) else E(t, "Nothing")
        if kind == "E":
            return E(t, "Left $0", [self.leaf(t[1], env)]) if self.chance(0.5) else E(t, "Right $0", [self.leaf(t[2], env)])
        if kind == "G":
            binds = [(self.name(self.short(u)), u) for u in t[1:-1]]
            return E(t, "\\" + " ".join(b for b, _ in binds) + " -> $0", [self.leaf(t[-1], env.bind(binds))], {0: binds})
        constructors = self.data(t[1]).constructors
        name, fields = constructors[0] if t[1] == "T" else self.pick(constructors)
        return self.construct(t, name, [self.leaf(u, env) for _, u in fields])

    def tuple(self, t, kids):
        return E(t, "(" + ", ".join(f"${i}" for i in range(len(kids))) + ")", kids)

    def construct(self, t, name, kids):
        return E(t, " ".join([name] + [f"${i}" for i in range(len(kids))]), kids)

    def lam(self, types, result, env, n, times=1, indices=None):
        """A λ; indices: the length that argument k is an index of."""
        binds = [(self.name("i" if indices and k in indices else self.short(u)), u) for k, u in enumerate(types)]
        inner = env.bind([b for k, b in enumerate(binds) if not indices or k not in indices],
                         indices=[(binds[k][0], d) for k, d in (indices or {}).items()], times=times, nest=1)
        body = self.body(result, inner, n) if self.chance(0.8) else self.e(result, inner, n)
        return E(("G", *types, result), "\\" + " ".join(b for b, _ in binds) + " -> $0", [body], {0: binds})

    def body(self, t, env, n):
        """What a loop does: more than to hand on a variable."""
        made = self.e(t, env, max(n, 2))
        for _ in range(3):
            if made.kids and made.size() > 2 or t in ("I", "B"):
                break
            made = self.e(t, env, max(n, 3))
        return made

    def wrapped(self, t, body):
        """What is carried stays small."""
        if t == "D" and self.chance(0.7):
            form = self.pick(WRAPS)
            return body if form == "$0" else E("D", form, [body])
        return body

    def index(self, dim, env, n):
        """An Int that is an index of the length, whatever the program does; None where there can be none."""
        own = [name for name, d in env.indices if d is dim]
        if not own and dim.value == 0:
            return None
        length = self.len(dim)
        r = self.rng.random()
        if own and r < 0.6:
            i = E("I", self.pick(own[-3:]))
            if r < 0.35:
                return i
            return E("I", self.pick(["$1 - 1 - $0", "($0 + 1) `mod` $1", "min ($1 - 1) ($0 + 1)", "max 0 ($0 - 1)",
                                     "($0 * 3) `mod` $1", "($0 + $1 - 1) `mod` $1", "$0 `div` 2", "($0 * $0) `rem` $1",
                                     "$0 - $0 `mod` 2", "if $0 > 1 then $0 - 2 else $0"]), [i, length])
        others = [name for name, d in env.indices if d is not dim]
        if others and r < 0.75:
            return E("I", "$0 `mod` $1", [E("I", self.pick(others)), length])
        if r < 0.8 and n > 0:
            return E("I", self.pick(["$0 `mod` $1", "min ($1 - 1) (max 0 $0)", "clamp (0, $1 - 1) $0"]),
                     [self.e("I", env, n - 1), length])
        if r < 0.83 and n > 0:
            return E("I", self.pick(["floor (abs (sin $0) * 0.999 * fromIntegral $1)", "truncate (1.0e3 * abs (tanh $0)) `mod` $1"]),
                     [self.e("D", env, n - 1), length])
        if r < 0.84 + 0.04 * (not own):
            v = self.var_of(("A", "D", dim), env)
            if v is not None and dim.value != 0:
                return E("I", self.pick(["argmax $0", "argmin $0"]), [v])
        if r < 0.94:
            v = self.var_of(("A", "I", dim), env)
            if v is not None and own:
                return E("I", "($0 ! $1) `mod` $2", [v, E("I", own[-1]), length])
        if dim.value is not None and dim.value > 0 and r < 0.97:
            return E("I", str(self.rng.randrange(min(dim.value, 4))))
        return E("I", self.pick(["$0 - 1", "$0 `div` 2", "0"]), [length])

    def fail(self, t, env, n):
        """An expression that fails when it is evaluated."""
        r = self.rng.random()
        arrays = [(name, u) for name, u in env.vars if isinstance(u, tuple) and u[0] == "A" and u[2] is not None and fits(u[1], t)]
        if arrays and r < 0.6:
            name, u = self.pick(arrays)
            return E(t, self.pick(["$0 ! $1", "$0 ! ($1 + 2)", "$0 ! (0 - 1)"]), [E(u, name), self.len(u[2])])
        if t == "I" and r < 0.8:
            return E(t, self.pick(DIVISIONS), [self.leaf("I", env), E("I", "0")])
        if t == "D" and r < 0.7:
            return E(t, "head []") if self.chance(0.3) else E(t, "maximum ([||] :: Array Double)")
        return E(t, 'error "no"')

    def true(self, env, n):
        """A condition that holds, though not always plainly."""
        index = self.pick(env.indices) if env.indices else None
        forms = ["0 <= 1"]
        kids = []
        if index and self.chance(0.7):
            kids = [E("I", index[0]), self.len(index[1])]
            forms = ["$0 < $1", "$0 >= 0", "$0 /= $1", "not ($0 >= $1)", "0 <= $0 && $0 < $1", "$0 + 1 <= $1", "$1 > $0"]
        elif env.dims:
            kids = [self.len(self.pick(env.dims))]
            forms = ["$0 >= 0", "$0 == $0", "$0 <= 2000", "$0 > -1", "$0 /= -1"]
        return E("B", self.pick(forms), kids)
