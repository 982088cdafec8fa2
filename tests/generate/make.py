"""Random programs. A program is made from its goal: an expression of a type is a production for that type, with kids that
are made for the types that they need. Everything follows from the seed."""
import random

from tree import Data, Dim, E, Function, Program, first_order, fits, has_reals

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
RISKY = ["sqrt $0", "log $0", "recip $0", "exp $0", "asin $0", "$0 ** 2.5", "expm1 $0", "signum $0", "floorReal $0",
         "lgamma (1.0 + abs $0)", "$0 ^ 3", "$0 ^^ (-2)", "log2 (abs $0)", "digamma (1.5 + abs $0)", "tan $0", "acosh $0",
         "$0 ^ 2", "roundReal $0", "erfc $0", "cosh (tanh $0)", "sinh (sin $0)", "truncateReal $0", "log10 (2.0 + abs $0)"]
BINARY = ["$0 + $1", "$0 + $1", "$0 - $1", "$0 * $1", "$0 * $1", "max $0 $1", "min $0 $1", "$0 / (2.0 + abs $1)",
          "atan2 $0 (1.5 + abs $1)", "hypot $0 $1"]
RISKY_BINARY = ["$0 / $1", "$0 ** $1", "atan2 $0 $1", "fmod $0 $1", "hypot $0 $1", "logBase (2.0 + abs $0) (1.5 + abs $1)"]
INT_BINARY = ["$0 + $1", "$0 - $1", "$0 * $1", "min $0 $1", "max $0 $1", "$0 .&. $1", "$0 .|. $1", "$0 `xor` $1"]
DIVISIONS = ["$0 `div` $1", "$0 `mod` $1", "$0 `quot` $1", "$0 `rem` $1"]
WRAPS = ["$0", "$0", "sin $0", "0.7 * tanh $0", "0.5 * $0 + 0.1", "atan $0", "0.3 * $0"]
FLOATS = ["$0 + $1", "$0 * $1", "$0 - $1", "max $0 $1", "$0 / (2 + abs $1)"]
FLOAT_UNARY = ["sin $0", "sqrt (1 + abs $0)", "tanh $0", "negate $0", "exp (tanh $0)", "abs $0", "0.1 * $0"]


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


class Maker:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.datas = []
        self.budget = 0
        r = self.rng.random()
        # Most programs are small: they compile quickly, and what goes wrong in them is plain.
        self.fuel = self.rng.choice([4, 6, 8, 10]) if r < 0.45 else self.rng.choice([14, 20, 30]) if r < 0.85 else self.rng.choice([50, 90])
        self.wide = self.rng.random() < 0.06
        self.limit = 40000 if self.wide else 4000
        self.risk = self.rng.choice([0, 0, 0.02, 0.1, 0.3])
        self.derive = self.rng.choice([0, 0, 0.02, 0.1])
        # Each program favours some productions, so that kinds of programs differ more than by chance.
        self.taste = {}
        for kind in PRODUCTIONS.values():
            for _, name in kind:
                self.taste[name] = self.rng.choice([0.1, 0.5, 1, 1, 1, 2, 6])

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

    # -- for every type --

    @makes("*", 2.0)
    def variable(self, t, env, n):
        return self.var_of(t, env)

    @makes("*", 1.2)
    def branch(self, t, env, n):
        a, b, c = self.split(n, 3)
        return E(t, "if $0 then $1 else $2", [self.e("B", env, min(a, 3)), self.e(t, env, b), self.e(t, env, c)])

    @makes("*", 0.3)
    def guarded(self, t, env, n):
        """The branch that is not taken fails."""
        if self.chance(0.5):
            return E(t, "if $0 then $1 else $2", [self.true(env, n), self.e(t, env, n - 1), self.fail(t, env, n)])
        return E(t, "if not ($0) then $2 else $1", [self.true(env, n), self.e(t, env, n - 1), self.fail(t, env, n)])

    @makes("*", 0.03)
    def failing(self, t, env, n):
        return E(t, "if $0 then $1 else $2", [self.e("B", env, 1), self.e(t, env, n - 1), self.fail(t, env, n)])

    @makes("*", 1.5)
    def let(self, t, env, n):
        u = self.any_type(env)
        a, b = self.split(n, 2)
        x = self.name(self.short(u))
        bang = "!" if self.chance(0.1) else ""
        return E(t, f"let {{ {bang}{x} = $0 }} in $1", [self.e(u, env, a), self.e(t, env.bind([(x, u)]), b)], {1: [(x, u)]})

    @makes("*", 0.6)
    def let_pair(self, t, env, n):
        u, w = self.any_type(env), self.any_type(env)
        a, b = self.split(n, 2)
        x, y = self.name(self.short(u)), self.name(self.short(w))
        binds = [(x, u), (y, w)]
        pair = self.e(("T", u, w), env, a)
        body = self.e(t, env.bind(binds), b)
        form = self.pick([f"let {{ ({x}, {y}) = $0 }} in $1", f"case $0 of {{ ({x}, {y}) -> $1 }}"])
        return E(t, form, [pair, body], {1: binds})

    @makes("*", 0.7)
    def let_length(self, t, env, n):
        """An array with a length of its own."""
        found = [(name, u) for name, u in env.vars if isinstance(u, tuple) and u[0] == "A" and u[2] is not None]
        if not found:
            return None
        name, u = self.pick(found)
        d = u[2]
        v, m = self.name("v"), self.name("n")
        a, b = self.split(n, 2)
        kids = [E(u, name)]
        options = ["append", "snoc", "tail"]
        if isinstance(u[1], tuple) and u[1][0] == "A" and u[1][2] is not None:
            options += ["concat", "concat"]
        if u[1] == "D":
            options += ["filter", "scanl"]
        op = self.pick(options)
        k = d.value
        elem = u[1]
        if op == "append":
            form, value = f"append {name} {name}", None if k is None else 2 * k
        elif op == "snoc":
            form, value = f"snoc {name} $0", None if k is None else k + 1
            kids = [self.e(elem, env, a)]
        elif op == "tail":
            if k is None or k < 2:
                return None
            form, value = self.pick([f"drop 1 {name}", f"tail {name}", f"slice 1 (length {name} - 1) {name}", f"init {name}"]), k - 1
        elif op == "concat":
            elem = u[1][1]
            inner = u[1][2].value
            form, value = f"concat {name}", None if k is None or inner is None else k * inner
        elif op == "filter":
            form, value = f"filter (\\x -> x > $0) {name}", None
            kids = [E("D", self.pick(["0.0", "0.5", "-0.25"]))]
        else:
            form, value = f"scanl $0 $1 {name}", None if k is None else k + 1
            kids = [self.lam(["D", "D"], "D", env, a, self.times(d)), self.e("D", env, 0)]
        kids = kids if "$" in form else []
        if op == "filter":  # may be empty: known to be nothing but an array
            body = self.e(t, env.bind([(v, ("A", elem, None))]), b)
            return E(t, f"let {{ {v} = {form} }} in ${len(kids)}", kids + [body], {len(kids): [(v, ("A", elem, None))]})
        new = Dim(m, value)
        vt = ("A", elem, new)
        body = self.e(t, env.bind([(v, vt), (m, "I")], dims=[new]), b)
        return E(t, f"let {{ {v} = {form}; {m} = length {v} }} in ${len(kids)}", kids + [body], {len(kids): [(v, vt), (m, "I")]})

    @makes("*", 1.6)
    def part(self, t, env, n):
        """A part of something in scope."""
        found = []
        for name, u in env.vars:
            if isinstance(u, str):
                continue
            if u[0] == "A":
                if fits(u[1], t) and u[2] is not None:
                    found.append((name, u, "index"))
                elif isinstance(u[1], tuple) and u[1][0] == "T" and u[2] is not None and any(fits(w, t) for w in u[1][1:3]) and len(u[1]) == 3:
                    found.append((name, u, "index part"))
                elif isinstance(u[1], tuple) and u[1][0] == "A" and u[2] is not None and u[1][2] is not None and fits(u[1][1], t):
                    found.append((name, u, "index index"))
                elif u[2] is None and fits(u[1], t):
                    found.append((name, u, "careful"))
            elif u[0] == "T" and len(u) == 3:
                found += [(name, u, part) for part, w in (("fst", u[1]), ("snd", u[2])) if fits(w, t)]
            elif u[0] == "N" and self.data(u[1]).is_record():
                found += [(name, u, f) for f, w in self.data(u[1]).constructors[0][1] if fits(w, t)]
        if not found:
            return None
        name, u, how = self.pick(found[-10:])
        whole = E(u, name)
        if how == "index":
            i = self.index(u[2], env, n)
            return i and E(t, "$0 ! $1", [whole, i])
        if how == "index part":
            i = self.index(u[2], env, n)
            return i and E(t, ("fst" if fits(u[1][1], t) else "snd") + " ($0 ! $1)", [whole, i])
        if how == "index index":
            i, j = self.index(u[2], env, n), self.index(u[1][2], env, n)
            return i and j and E(t, "$0 ! $1 ! $2", [whole, i, j])
        if how == "careful":
            k = self.e("I", env, 0) if self.chance(0.4) else E("I", self.pick(["0", "1", "2"]))
            other = self.leaf(t, env)
            form = self.pick(["if 0 <= $1 && $1 < length $0 then $0 ! $1 else $2",
                              "let { k = $1 } in if k >= 0 && k < length $0 then $0 ! k else $2",
                              "if length $0 > 0 then $0 ! ($1 `mod` length $0) else $2",
                              "if $1 < 0 || $1 >= length $0 then $2 else $0 ! $1"])
            return E(t, form, [whole, k, other])
        return E(t, how + " $0", [whole])

    @makes("*", 0.8)
    def apply(self, t, env, n):
        """A function that is bound and used more than once."""
        u = self.pick(["D", "I", "D", self.state_type(env)])
        a, b, c = self.split(n, 3)
        g = self.name("g")
        function = self.lam([u], t, env, a)
        call = Call(f"{g} $0", [u], t)
        body = self.e(t, env.bind(calls=[call, call]), b)
        if not any(g in e.form for e in body.walk() if isinstance(e.form, str)):
            body = E(t, f"{g} $0", [self.e(u, env, c)])
        return E(t, f"let {{ {g} = $0 }} in $1", [function, body], {1: [(g, ("G", u, t))]})

    @makes("*", 1.6)
    def call(self, t, env, n):
        found = []
        for call in env.calls:
            dims = {d: None for d in call.dims}
            if env.cost * call.cost <= self.limit and unify(call.result, t, dims):
                found.append((call, dims))
        if not found:
            return None
        call, dims = self.pick(found)
        for d in dims:
            if dims[d] is None:
                dims[d] = self.dim(env, nonempty=True)
            if dims[d].value == 0:
                return None
        args = [replace_dims(u, dims) for u in call.args]
        budgets = self.split(n, max(1, len(args)))
        return E(t, call.form, [self.e(u, env, k) for u, k in zip(args, budgets)])

    @makes("*", 1.6)
    def fold(self, t, env, n):
        """A loop that carries a value of the type, by any of the ways to write one."""
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        a, b, c = self.split(n, 3)
        start = self.e(t, env, a)
        source = self.rng.random()
        if source < 0.4:
            body_types, over = ("I", t), None
        elif source < 0.8:
            u = self.element_type(env)
            over = self.e(("A", u, d), env, c)
            body_types = (u, t)
        else:
            over = self.e(("L", "D"), env, c)
            body_types = ("D", t)
        if over is None:
            i, s = self.name("i"), self.name(self.short(t))
            inner = env.bind([(s, t)], indices=[(i, d)], times=self.times(d), nest=1)
            body = self.wrapped(t, self.body(t, inner, b))
            form = self.pick(["foldl (\\%s %s -> $1) $0 (iota $2)" % (s, i), "foldl (\\%s %s -> $1) $0 (iota $2)" % (s, i),
                              "foldl (\\%s %s -> $1) $0 [0 .. $2 - 1]" % (s, i), "foldr (\\%s %s -> $1) $0 (iota $2)" % (i, s),
                              "last (scanl (\\%s %s -> $1) $0 (iota $2))" % (s, i)])
            return E(t, form, [start, body, self.len(d)], {1: [(i, "I"), (s, t)]})
        x, s = self.name(self.short(body_types[0])), self.name(self.short(t))
        inner = env.bind([(s, t), (x, body_types[0])], times=self.times(d), nest=1)
        body = self.wrapped(t, self.body(t, inner, b))
        form = self.pick(["foldl (\\%s %s -> $1) $0 $2" % (s, x), "foldl (\\%s %s -> $1) $0 $2" % (s, x), "foldr (\\%s %s -> $1) $0 $2" % (x, s),
                          "foldl (\\%s %s -> $1) $0 (toList $2)" % (s, x), "last (scanl (\\%s %s -> $1) $0 $2)" % (s, x),
                          "head (scanr (\\%s %s -> $1) $0 $2)" % (x, s)])
        return E(t, form, [start, body, over], {1: [(x, body_types[0]), (s, t)]})

    @makes("*", 1.4)
    def recursion(self, t, env, n):
        """A local function that counts, up or down, that carries the value, and may leave early."""
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        a, b, c = self.split(n, 3)
        go, i, s = self.name("go"), self.name("i"), self.name(self.short(t))
        start = self.e(t, env, a)
        inner = env.bind([(s, t)], indices=[(i, d)], times=self.times(d), nest=1)
        body = self.wrapped(t, self.body(t, inner, b))
        binds = {1: [(i, "I"), (s, t)], 3: [(i, "I"), (s, t)]}
        form = self.pick([
            "let { G I S = if I == $2 then S else G (I + 1) $1 } in G 0 $0",
            "let { G I S = if I >= $2 then S else G (I + 1) $1 } in G 0 $0",
            "let { G I S | I < $2 = G (I + 1) $1 | otherwise = S } in G 0 $0",
            "let { G I S = if I < 0 then S else G (I - 1) $1 } in G ($2 - 1) $0",
            "let { G I S = if I == $2 then S else let { S' = $1 } in G (I + 1) S' } in G 0 $0",
            "let { G I S = if I >= $2 then S else if $3 then S else G (I + 1) $1 } in G 0 $0",
            "let { G I S = if I >= $2 then S else if $3 then G (I + 1) S else G (I + 1) $1 } in G 0 $0",
            "let { G I S = if I >= $2 then S else if $3 then G (I + 2) S else G (I + 1) $1 } in G 0 $0",
            "snd (until (\\(I, _) -> I >= $2) (\\(I, S) -> (I + 1, $1)) (0, $0))",
        ])
        form = form.replace("G", go).replace("I", i).replace("S", s)
        kids = [start, body, self.len(d)]
        if "$3" in form:
            kids.append(self.e("B", inner, min(2, c)))
        return E(t, form, kids, binds)

    @makes("*", 0.7)
    def deep_recursion(self, t, env, n):
        """A local function that is not in tail position: counting, or by halves."""
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        a, b, c = self.split(n, 3)
        go, i, s = self.name("go"), self.name("i"), self.name(self.short(t))
        times = self.times(d)
        first = env.bind(indices=[(i, d)], times=times, nest=1)
        if self.chance(0.5):
            base = self.e(t, env, a)
            body = self.wrapped(t, self.body(t, first.bind([(s, t)]), b))
            form = self.pick(["let { G I = if I >= $2 then $0 else let { S = G (I + 1) } in $1 } in G 0",
                              "let { G I = if I < 0 then $0 else let { S = G (I - 1) } in $1 } in G ($2 - 1)",
                              "let { G I | I == $2 = $0 | otherwise = case G (I + 1) of { S -> $1 } } in G 0"])
            form = form.replace("G", go).replace("I", i).replace("S", s)
            return E(t, form, [base, body, self.len(d)], {1: [(i, "I"), (s, t)]})
        if d.value == 0:
            return None
        z = self.name(self.short(t))
        base = self.e(t, first, a)
        body = self.wrapped(t, self.body(t, env.bind([(s, t), (z, t)], times=times, nest=1), b))
        form = ("let { G I h = if h - I <= 1 then $0 else let { m = (I + h) `div` 2; S = G I m; Z = G m h } in $1 } in G 0 $2"
                .replace("G", go).replace("I", i).replace("S", s).replace("Z", z))
        return E(t, form, [base, body, self.len(d)], {0: [(i, "I")], 1: [(s, t), (z, t)]})

    @makes("*", 0.5)
    def mutual(self, t, env, n):
        k = self.rng.randint(2, 9)
        if env.cost * k > self.limit:
            return None
        a, b, c = self.split(n, 3)
        g, h, i, s = self.name("ev"), self.name("od"), self.name("i"), self.name(self.short(t))
        inner = env.bind([(s, t), (i, "I")], times=k, nest=1)
        kids = [self.e(t, env, a), self.wrapped(t, self.body(t, inner, b)), self.wrapped(t, self.body(t, inner, c))]
        binds = {1: [(i, "I"), (s, t)], 2: [(i, "I"), (s, t)]}
        if self.chance(0.5):
            form = f"let {{ {g} {i} {s} = if {i} <= 0 then {s} else {h} ({i} - 1) $1; {h} {i} {s} = if {i} <= 0 then {s} else {g} ({i} - 1) $2 }} in {g} {k} $0"
        else:
            form = f"let {{ {g} {i} {s} = if {i} >= {k} then {s} else {h} ({i} * 2 + 1) $1; {h} {i} {s} = if {i} >= {k} then $2 else {g} ({i} + 1) {s} }} in {g} 0 $0"
        return E(t, form, kids, binds)

    @makes("*", 0.7)
    def match(self, t, env, n):
        kind = self.pick(["M", "E", "S", "P", "I", "H"])
        a, b, c = self.split(n, 3)
        if kind == "M":
            x = self.name("x")
            binds = [(x, "D")]
            form = self.pick([f"case $0 of {{ Just {x} -> $1; Nothing -> $2 }}", f"maybe $2 (\\{x} -> $1) $0",
                              f"case $0 of {{ Nothing -> $2; Just {x} | {x} > 0.0 -> $1; _ -> $2 }}"])
            return E(t, form, [self.e(("M", "D"), env, a), self.e(t, env.bind(binds), b), self.e(t, env, c)], {1: binds})
        if kind == "E":
            x, v = self.name("x"), self.name("v")
            form = self.pick([f"case $0 of {{ Left {x} -> $1; Right {v} -> $2 }}", f"either (\\{x} -> $1) (\\{v} -> $2) $0"])
            vt = ("A", "D", None)
            return E(t, form, [self.e(("E", "D", vt), env, a), self.e(t, env.bind([(x, "D")]), b), self.e(t, env.bind([(v, vt)]), c)],
                     {1: [(x, "D")], 2: [(v, vt)]})
        if kind == "I":
            return E(t, self.pick(["case $0 of { 0 -> $1; 3 -> $1; _ -> $2 }", "case ($0) `mod` 3 of { 0 -> $1; 1 -> $2; _ -> $1 }"]),
                     [self.e("I", env, a), self.e(t, env, b), self.e(t, env, c)])
        if kind == "H" and not self.chance(0.5):
            return None
        u = self.data_type(kind)
        data = self.data(kind)
        kids, binds, alternatives = [self.e(u, env, a)], {}, []
        for name, fields in data.constructors:
            names = [(self.name(self.short(w) if not (isinstance(w, tuple) and w[0] == "G") else "g"), w) for _, w in fields]
            calls = [Call(g + "".join(f" ${i}" for i in range(len(w) - 2)), list(w[1:-1]), w[-1]) for g, w in names
                     if isinstance(w, tuple) and w[0] == "G"]
            binds[len(kids)] = names
            alternatives.append(" ".join([name] + [x for x, _ in names]) + f" -> ${len(kids)}")
            kids.append(self.e(t, env.bind([x for x in names if not (isinstance(x[1], tuple) and x[1][0] == "G")], calls=calls * 3), b // len(data.constructors) + c // 2))
        return E(t, "case $0 of { " + "; ".join(alternatives) + " }", kids, binds)

    @makes("*", 0.4)
    def tree_fold(self, t, env, n):
        if not self.chance(0.6):
            return None
        u = self.data_type("T")
        a, b, c = self.split(n, 3)
        fo, tr, l, x, r = self.name("fo"), self.name("t"), self.name(self.short(t)), self.name("x"), self.name(self.short(t))
        kids = [self.e(u, env, a), self.e(t, env, 0), self.wrapped(t, self.body(t, env.bind([(l, t), (x, "D"), (r, t)], times=16, nest=1), b))]
        binds = {2: [(l, t), (x, "D"), (r, t)]}
        alternatives = f"Leaf -> $1; Fork a {x} b -> let {{ {l} = {fo} a; {r} = {fo} b }} in $2"
        if len(self.data("T").constructors) > 2:
            v, m = self.name("v"), self.name(self.short(t))
            alternatives += f"; Twig {v} a -> let {{ {m} = {fo} a }} in $3"
            kids.append(self.e(t, env.bind([(v, ("A", "D", None)), (m, t)], times=8, nest=1), c))
            binds[3] = [(v, ("A", "D", None)), (m, t)]
        return E(t, f"let {{ {fo} {tr} = case {tr} of {{ {alternatives} }} }} in {fo} $0", kids, binds)

    @makes("*", 0.5)
    def closures(self, t, env, n):
        """An array or a list of functions; one of them, or all of them, applied."""
        if t != "D" and not self.chance(0.3):
            return None
        d = self.dim(env, nonempty=True)
        if not self.affordable(d, env):
            return None
        a, b, c = self.split(n, 3)
        fs, i = self.name("fs"), self.name("i")
        function = self.lam([t], t, env.bind(indices=[(i, d)], times=self.times(d)), a)
        make = E(("A", ("G", t, t), d), self.pick([f"build $0 (\\{i} -> $1)", f"map (\\{i} -> $1) (iota $0)"]), [self.len(d), function], {1: [(i, "I")]})
        if self.chance(0.5):
            k = self.index(d, env, 1)
            return k and E(t, f"let {{ {fs} = $0 }} in ({fs} ! $1) $2", [make, k, self.e(t, env, b)])
        return E(t, self.pick([f"let {{ {fs} = $0 }} in foldl (\\a g -> g a) $1 {fs}", f"let {{ {fs} = toList $0 }} in foldl (\\a g -> g a) $1 {fs}",
                               f"let {{ {fs} = $0 }} in foldr (.) id (toList {fs}) $1", f"let {{ {fs} = $0 }} in foldr (\\g a -> g a) $1 {fs}"]),
                 [make, self.e(t, env, b)])

    @makes("*", 0.25)
    def stopped(self, t, env, n):
        if not first_order(t):
            return None
        return E(t, "stopGradient $0", [self.e(t, env, n - 1)])

    @makes("*", 0.35)
    def sequence(self, t, env, n):
        """What mapAccumL leaves."""
        d = self.dim(env)
        if not self.affordable(d, env) or not first_order(t):
            return None
        a, b, c = self.split(n, 3)
        s, x = self.name(self.short(t)), self.name("x")
        inner = env.bind([(s, t), (x, "D")], times=self.times(d), nest=1)
        return E(t, f"fst (mapAccumL (\\{s} {x} -> ($1, $3)) $0 $2)",
                 [self.e(t, env, a), self.wrapped(t, self.body(t, inner, b)), self.e(("A", "D", d), env, c), self.leaf("D", inner)],
                 {1: [(s, t), (x, "D")], 3: [(s, t), (x, "D")]})

    @makes("*", 1.0)
    def derivative(self, t, env, n):
        """A derivative, whose result has the type."""
        if not self.chance(self.derive) or not first_order(t) or not has_reals(t, self.datas):
            return None
        a, b, c = self.split(n, 3)
        d = t[2] if isinstance(t, tuple) and t[0] == "A" else None
        how = self.pick(["jvp value", "jvp", "grad", "pull", "hvp", "value", "diff", "jacobian", "hessian"])
        env = env.bind(times=8)
        if how in ("jvp", "jvp value"):
            u = self.real_type(env, n)
            f = self.lam([u], t, env, a)
            part = "fst" if how == "jvp value" else "snd"
            return E(t, f"{part} (jvp $0 $1 $2)", [f, self.e(u, env, b), self.e(u, env, c)])
        if how == "grad" and (isinstance(t, str) or t[0] in "ATL"):
            return E(t, self.pick(["grad $0 $1", "snd (valueAndGrad $0 $1)"]), [self.lam([t], "D", env, a), self.e(t, env, b)])
        if how == "pull":
            u = self.pick(["D", ("A", "D", self.dim(env)), ("T", "D", "D")])
            return E(t, "snd (vjp $0 $1) $2", [self.lam([t], u, env, a), self.e(t, env, b), self.e(u, env, c)])
        if how == "value" and t == "D":
            u = self.real_type(env, n)
            return E(t, "fst (valueAndGrad $0 $1)", [self.lam([u], "D", env, a), self.e(u, env, b)])
        if how == "hvp" and (t == "D" or t == ("A", "D", d)):
            return E(t, "hvp $0 $1 $2", [self.lam([t], "D", env, a), self.e(t, env, b), self.e(t, env, c)])
        if how == "diff" and t == "D":
            return E(t, "diff $0 $1", [self.lam(["D"], "D", env, a), self.e("D", env, b)])
        if how == "jacobian" and t == "D":
            u = ("A", "D", self.dim(env))
            return E(t, "sum (map sum (jacobian $0 $1))", [self.lam([u], ("A", "D", self.dim(env)), env, a), self.e(u, env, b)])
        if how == "hessian" and t == "D":
            u = ("A", "D", Dim(*self.pick([("2", 2), ("3", 3), ("1", 1)])))
            return E(t, "sum (map sum (hessian $0 $1))", [self.lam([u], "D", env, a), self.e(u, env, b)])
        return None

    @makes("*", 0.3)
    def rule(self, t, env, n):
        """A function with a rule for its derivative."""
        if t == "D":
            form = self.pick([
                "withVjp (\\z -> sin z * z) (\\z -> (sin z * z, \\d -> d * (cos z * z + sin z))) $0",
                "withJvp (\\z -> tanh z) (\\z d -> (tanh z, d * (1.0 - tanh z * tanh z))) $0",
                "withVjp (\\(z, w) -> z * sin w) (\\(z, w) -> (z * sin w, \\d -> (d * sin w, d * z * cos w))) ($0, $1)",
                "withJvp (\\z -> z * z) (\\z d -> (z * z, 2.0 * z * d)) $0"])
            return E(t, form, [self.e("D", env, n - 1), self.e("D", env, 0)])
        if isinstance(t, tuple) and t[0] == "A" and t[1] == "D":
            form = self.pick([
                "withVjp (map sin) (\\z -> (map sin z, \\d -> zipWith (\\a b -> a * cos b) d z)) $0",
                "withJvp (map (* 0.5)) (\\z d -> (map (* 0.5) z, map (* 0.5) d)) $0",
                "withVjp (\\z -> map (* sum z) z) (\\z -> snd (let { p = vjp (\\w -> map (* sum w) w) z } in (0, p))) $0"])
            return E(t, form, [self.e(t, env, n - 1)])
        return None

    # -- Double --

    @makes("D", 2.5)
    def unary(self, t, env, n):
        form = self.pick(RISKY) if self.chance(self.risk) else self.pick(SMOOTH)
        return E("D", form, [self.e("D", env, n - 1)])

    @makes("D", 3.0)
    def binary(self, t, env, n):
        a, b = self.split(n, 2)
        form = self.pick(RISKY_BINARY) if self.chance(self.risk) else self.pick(BINARY)
        return E("D", form, [self.e("D", env, a), self.e("D", env, b)])

    @makes("D", 2.5)
    def reduction(self, t, env, n):
        d = self.dim(env, nonempty=True)
        form = self.pick(["sum $0", "sum $0", "sum $0", "sum $0", "maximum $0", "minimum $0", "product (map (\\z -> 1.0 + 0.3 * sin z) $0)",
                          "reduce (+) 0.0 $0", "reduce max (-5.0) $0", "last $0", "head $0", "foldl1 max $0",
                          "foldr (\\z a -> z - 0.5 * a) 0.0 $0", "foldl (+) 0.0 $0", "sum (map (\\z -> z * z) $0)", "sum (toList $0)",
                          "product (take 3 $0)"])
        return E("D", form, [self.e(("A", "D", d), env, n - 1)])

    @makes("D", 0.8)
    def reduction2(self, t, env, n):
        d, d2 = self.dim(env, nonempty=True), self.dim(env, nonempty=True)
        u = ("A", ("A", "D", d2), d)
        if not self.affordable(d, env.bind(times=self.times(d2))):
            return None
        form = self.pick(["sum (map sum $0)", "sum (concat $0)", "sum (map maximum $0)", "maximum (map sum $0)", "sum (map (\\r -> sin (sum r)) $0)",
                          "sum (map sum (transpose $0))"])
        return E("D", form, [self.e(u, env, n - 1)])

    @makes("D", 0.5)
    def dynamic(self, t, env, n):
        form = self.pick(["sum $0", "foldl (\\a z -> 0.5 * a + z) 0.1 $0", "fromIntegral (length $0)", "sum (map sin $0)"])
        return E("D", form, [self.e(("A", "D", None), env, n - 1)])

    @makes("D", 0.4)
    def from_int(self, t, env, n):
        return E("D", self.pick(["fromIntegral ($0 `mod` 17)", "0.1 * fromIntegral ($0 `rem` 32)", "fromIntegral ($0 .&. 7)"]), [self.e("I", env, min(3, n - 1))])

    @makes("D", 0.25)
    def from_float(self, t, env, n):
        return E("D", "realToFrac $0", [self.e("F", env, min(4, n - 1))])

    @makes("D", 0.6)
    def of_list(self, t, env, n):
        return E("D", self.pick(["sum $0", "foldr (\\z a -> 0.5 * a + z) 0.0 $0", "sum (map (\\z -> z * z) $0)", "maximum (0.0 : $0)",
                                 "case $0 of { z : _ -> z; [] -> 0.5 }", "sum (zipWith (*) $0 [0.5, 0.25, 2.0])", "sum (filter (> 0.0) $0)",
                                 "let { go [] a = a; go (z : zs) a = go zs (sin (a + z)) } in go $0 0.5",
                                 "let { go [] = 0.0; go (z : zs) = z - 0.5 * go zs } in go $0"]), [self.e(("L", "D"), env, n - 1)])

    @makes("D", 0.5)
    def zipped(self, t, env, n):
        d = self.dim(env)
        a, b = self.split(n, 2)
        if not self.affordable(d, env):
            return None
        return E("D", self.pick(["sum (zipWith (*) $0 $1)", "sum (zipWith (\\a b -> (a - b) * (a - b)) $0 $1)", "sum (map (\\(a, b) -> a * sin b) (zip $0 $1))"]),
                 [self.e(("A", "D", d), env, a), self.e(("A", "D", d), env, b)])

    # -- Int, Bool, Float --

    @makes("I", 2.0)
    def int_binary(self, t, env, n):
        a, b = self.split(min(n, 5), 2)
        return E("I", self.pick(INT_BINARY), [self.e("I", env, a), self.e("I", env, b)])

    @makes("I", 0.8)
    def division(self, t, env, n):
        k = E("I", self.pick(["2", "3", "-2", "-3", "7", "5"])) if self.chance(0.8) else E("I", "1 + abs ($0 `rem` 5)", [self.e("I", env, 0)])
        return E("I", self.pick(DIVISIONS), [self.e("I", env, min(n, 4) - 1), k])

    @makes("I", 0.6)
    def odd_int(self, t, env, n):
        return E("I", self.pick(["shiftL $0 3", "shiftR $0 1", "shiftL $0 62", "popCount $0", "complement $0", "negate $0", "abs $0", "signum $0",
                                 "$0 + 9223372036854775807", "$0 * 4611686018427387905", "$0 - maxBound", "bit ($0 .&. 63)", "gcd $0 12",
                                 "$0 ^ 2", "fromEnum ($0 > 2)", "shiftR (negate $0) 2"]), [self.e("I", env, min(n, 4) - 1)])

    @makes("I", 0.7)
    def from_real(self, t, env, n):
        return E("I", self.pick(["floor (5.0 * sin $0)", "round (3.0 * tanh $0)", "truncate (4.0 * cos $0)", "ceiling (2.5 * sin $0)",
                                 "if $0 > 0.25 then 1 else 2"]), [self.e("D", env, min(n, 5) - 1)])

    @makes("I", 0.5)
    def of_array(self, t, env, n):
        d = self.dim(env, nonempty=True)
        if self.chance(0.5):
            return E("I", self.pick(["argmax $0", "argmin $0", "length (filter (> 0.0) $0)"]), [self.e(("A", "D", d), env, n - 1)])
        return E("I", self.pick(["sum $0", "maximum $0", "foldl (\\a k -> a * 3 + k) 1 $0", "product (map (+ 1) $0)"]), [self.e(("A", "I", d), env, n - 1)])

    @makes("B", 2.5)
    def compare(self, t, env, n):
        u = self.pick("DI") if not env.indices or self.chance(0.5) else "I"
        a, b = self.split(min(n, 4), 2)
        return E("B", self.pick(["$0 < $1", "$0 <= $1", "$0 > $1", "$0 >= $1", "$0 == $1", "$0 /= $1"]), [self.e(u, env, a), self.e(u, env, b)])

    @makes("B", 0.8)
    def logic(self, t, env, n):
        a, b = self.split(min(n, 4), 2)
        return E("B", self.pick(["$0 && $1", "$0 || $1", "not $0", "$0 == $1"]), [self.e("B", env, a), self.e("B", env, b)])

    @makes("B", 1.0)
    def parity(self, t, env, n):
        return E("B", self.pick(["even $0", "odd $0", "$0 `mod` 3 == 1", "testBit $0 1", "$0 `rem` 4 < 2"]), [self.e("I", env, min(n, 3) - 1)])

    @makes("B", 0.4)
    def asked(self, t, env, n):
        d = self.dim(env)
        return E("B", self.pick(["any (> 0.5) $0", "all (< 1.5) $0", "elem 1.0 $0", "isNaN (sum $0)", "null $0"]), [self.e(("A", "D", d), env, n - 1)])

    @makes("F", 2.0)
    def float_binary(self, t, env, n):
        a, b = self.split(n, 2)
        return E("F", self.pick(FLOATS), [self.e("F", env, a), self.e("F", env, b)])

    @makes("F", 1.0)
    def float_unary(self, t, env, n):
        return E("F", self.pick(FLOAT_UNARY), [self.e("F", env, n - 1)])

    @makes("F", 1.0)
    def to_float(self, t, env, n):
        return E("F", self.pick(["realToFrac $0"]), [self.e("D", env, n - 1)])

    @makes("F", 0.5)
    def float_sum(self, t, env, n):
        return E("F", self.pick(["sum $0", "foldl (\\a z -> a * 0.5 + z) 0 $0"]), [self.e(("A", "F", self.dim(env)), env, n - 1)])

    # -- arrays --

    def known(self, t, env):
        return t if t[2] is not None else ("A", t[1], self.dim(env))

    @makes("A", 5.0)
    def build(self, t, env, n):
        t = self.known(t, env)
        d = t[2]
        if not self.affordable(d, env):
            return None
        f = self.lam(["I"], t[1], env, n - 1, self.times(d), {0: d})
        return E(t, self.pick(["build $0 $1", "build $0 $1", "build $0 $1", "map $1 (iota $0)"]), [self.len(d), f])

    @makes("A", 3.0)
    def map(self, t, env, n):
        d = t[2] or self.dim(env)
        if not self.affordable(d, env):
            return None
        a, b = self.split(n, 2)
        u = self.element_type(env) if self.chance(0.6) else t[1]
        if not first_order(u):
            return None
        f = self.lam([u], t[1], env, a, self.times(d))
        return E(t, "map $0 $1", [f, self.e(("A", u, t[2] and d), env, b)])

    @makes("A", 1.5)
    def zip_with(self, t, env, n):
        t = self.known(t, env)
        d = t[2]
        if not self.affordable(d, env):
            return None
        u, w = self.element_type(env), self.element_type(env)
        a, b, c = self.split(n, 3)
        if self.chance(0.15):
            f = self.lam([u, w, "D"], t[1], env, a, self.times(d))
            return E(t, "zipWith3 $0 $1 $2 $3", [f, self.e(("A", u, d), env, b), self.e(("A", w, d), env, c), self.e(("A", "D", d), env, 0)])
        f = self.lam([u, w], t[1], env, a, self.times(d))
        return E(t, "zipWith $0 $1 $2", [f, self.e(("A", u, d), env, b), self.e(("A", w, d), env, c)])

    @makes("A", 1.8)
    def updated(self, t, env, n):
        t = self.known(t, env)
        i = self.index(t[2], env, n)
        if i is None:
            return None
        a, b = self.split(n, 2)
        if isinstance(t[1], tuple) and t[1][0] == "A" and t[1][2] is not None and self.chance(0.5):  # one element of a row
            j = self.index(t[1][2], env, n)
            if j is None:
                return None
            w = self.name("w")
            return E(t, f"let {{ {w} = $0; r = {w} ! $1 }} in update {w} $1 (update r $2 $3)", [self.e(t, env, a), i, j, self.e(t[1][1], env.bind([(w, t)]), b)], {3: [(w, t)]})
        w = self.name("w")
        return E(t, f"let {{ {w} = $0 }} in update {w} $1 $2", [self.e(t, env, a), i, self.e(t[1], env.bind([(w, t)]), b)], {2: [(w, t)]})

    @makes("A", 1.2)
    def loop_updates(self, t, env, n):
        """An array that a loop changes, element by element, reading what it has and what it had."""
        t = self.known(t, env)
        d = self.dim(env) if self.chance(0.4) else t[2]
        if not self.affordable(d, env) or t[2].value == 0:
            return None
        a, b = self.split(n, 2)
        w, i = self.name("w"), self.name("i")
        inner = env.bind([(w, t)], indices=[(i, d)], times=self.times(d), nest=1)
        at, body = self.index(t[2], inner, 1), self.wrapped(t[1], self.body(t[1], inner, b))
        if at is None:
            return None
        start = self.e(t, env, a)
        form = self.pick([f"foldl (\\{w} {i} -> update {w} $1 $2) $0 (iota $3)",
                          f"let {{ go {i} {w} = if {i} >= $3 then {w} else go ({i} + 1) (update {w} $1 $2) }} in go 0 $0",
                          f"foldr (\\{i} {w} -> update {w} $1 $2) $0 (iota $3)"])
        return E(t, form, [start, at, body, self.len(d)], {1: [(w, t), (i, "I")], 2: [(w, t), (i, "I")]})

    @makes("A", 1.0)
    def gather(self, t, env, n):
        t = self.known(t, env)
        d = self.dim(env)
        i = self.name("i")
        at = self.index(d, env.bind(indices=[(i, t[2])]), 1)
        if at is None:
            return None
        if self.chance(0.6):
            return E(t, f"gather $0 (build $1 (\\{i} -> $2))", [self.e(("A", t[1], d), env, n - 1), self.len(t[2]), at], {2: [(i, "I")]})
        w = self.name("v")
        return E(t, f"let {{ {w} = $0 }} in build $1 (\\{i} -> {w} ! $2)", [self.e(("A", t[1], d), env, n - 1), self.len(t[2]), at], {2: [(i, "I")]})

    @makes("A", 0.9)
    def scatter(self, t, env, n):
        t = self.known(t, env)
        if t[1] not in ("D", "I", "F") or t[2].value == 0:
            return None
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        a, b = self.split(n, 2)
        i = self.name("i")
        at = self.index(t[2], env.bind(indices=[(i, d)]), 1)
        return at and E(t, f"scatter $0 (build $1 (\\{i} -> $2)) $3", [self.e(t, env, a), self.len(d), at, self.e(("A", t[1], d), env, b)], {2: [(i, "I")]})

    @makes("A", 1.0)
    def rearranged(self, t, env, n):
        t = self.known(t, env)
        forms = ["reverse $0"]
        if t[1] in ("D", "I"):
            forms += ["sort $0", "reverse (sort $0)", "sortOn negate $0"]
        if t[1] == "D":
            forms += ["scan (+) 0.0 $0", "scan max (-5.0) $0", "scanl1 (+) $0", "take $1 (scanl (\\a z -> 0.5 * a + z) 0.1 $0)",
                      "drop 1 (scanr (\\z a -> sin (z + a)) 0.1 $0)", "init (scanl (+) 0.0 $0)", "tail (scanl (\\a z -> tanh (a + z)) 0.3 $0)"]
        forms += ["append (drop 1 $0) (take 1 $0)", "append (take 2 $0) (drop 2 $0)", "slice 0 $1 (append $0 $0)", "take $1 (append $0 $0)",
                  "fromList (toList $0)", "snd (mapAccumL (\\k z -> (k + 1, z)) 0 $0)", "append (slice ($1 `div` 2) ($1 - $1 `div` 2) $0) (slice 0 ($1 `div` 2) $0)"]
        return E(t, self.pick(forms), [self.e(t, env, n - 1), self.len(t[2])])

    @makes("A", 0.8)
    def scan(self, t, env, n):
        t = self.known(t, env)
        d = t[2]
        if not self.affordable(d, env):
            return None
        u = self.element_type(env)
        a, b, c = self.split(n, 3)
        s, x = self.name(self.short(t[1])), self.name(self.short(u))
        binds = [(s, t[1]), (x, u)]
        body = self.wrapped(t[1], self.body(t[1], env.bind(binds, times=self.times(d), nest=1), b))
        form = self.pick([f"take $3 (scanl (\\{s} {x} -> $1) $0 $2)", f"tail (scanl (\\{s} {x} -> $1) $0 $2)", f"init (scanr (\\{x} {s} -> $1) $0 $2)",
                          f"drop 1 (scanl (\\{s} {x} -> $1) $0 $2)"])
        return E(t, form, [self.e(t[1], env, a), body, self.e(("A", u, d), env, c), self.len(d)], {1: binds})

    @makes("A", 0.7)
    def accumulated(self, t, env, n):
        t = self.known(t, env)
        d = t[2]
        if not self.affordable(d, env):
            return None
        u, w = self.state_type(env), self.element_type(env)
        a, b, c = self.split(n, 3)
        s, x = self.name(self.short(u)), self.name(self.short(w))
        binds = [(s, u), (x, w)]
        inner = env.bind(binds, times=self.times(d), nest=1)
        return E(t, f"snd (mapAccumL (\\{s} {x} -> ($1, $3)) $0 $2)",
                 [self.e(u, env, a), self.wrapped(u, self.body(u, inner, b)), self.e(("A", w, d), env, c), self.body(t[1], inner, b)],
                 {1: binds, 3: binds})

    @makes("A", 1.2)
    def transposed(self, t, env, n):
        t = self.known(t, env)
        if not (isinstance(t[1], tuple) and t[1][0] == "A" and t[1][2] is not None):
            return None
        if 0 in (t[2].value, t[1][2].value):
            return None
        u = ("A", ("A", t[1][1], t[2]), t[1][2])
        return E(t, self.pick(["transpose $0", "transpose $0", "transpose (map (\\r -> r) $0)", "map (\\r -> reverse r) (transpose (reverse $0))"]), [self.e(u, env, n - 1)])

    @makes("A", 0.8)
    def matrix(self, t, env, n):
        """Rows and columns mixed; products of matrices."""
        t = self.known(t, env)
        if not (isinstance(t[1], tuple) and t[1][0] == "A" and t[1][2] is not None and t[1][1] == "D"):
            return None
        rows, columns, k = t[2], t[1][2], self.dim(env, nonempty=True)
        if not self.affordable(k, env.bind(times=self.times(rows) * self.times(columns))) or 0 in (rows.value, columns.value):
            return None
        a, b = self.split(n, 2)
        return E(t, self.pick(["map (\\r -> map (\\c -> sum (zipWith (*) r c)) (transpose $1)) $0",
                               "let { p = $0; q = $1 } in build $2 (\\i -> build $3 (\\j -> sum (build $4 (\\k -> p ! i ! k * q ! k ! j))))",
                               "map (\\r -> foldl (\\s (x, q) -> zipWith (\\u w -> u + x * w) s q) (replicate $3 0.0) (zip r $1)) $0"]),
                 [self.e(("A", ("A", "D", k), rows), env, a), self.e(("A", ("A", "D", columns), k), env, b), self.len(rows), self.len(columns), self.len(k)])

    @makes("A", 0.5)
    def reshaped(self, t, env, n):
        t = self.known(t, env)
        if not (isinstance(t[1], tuple) and t[1][0] == "A" and t[1][2] is not None) or isinstance(t[1][1], tuple):
            return None
        r, c = t[2].value, t[1][2].value
        if r is None or c is None:
            return None
        i = self.name("i")
        if not self.affordable(Dim("", r * c), env):
            return None
        big = Dim(str(r * c), r * c)
        inner = env.bind(indices=[(i, big)], times=r * c, nest=1)
        return E(t, f"reshape $0 $1 (build ($0 * $1) (\\{i} -> $2))", [self.len(t[2]), self.len(t[1][2]), self.e(t[1][1], inner, n - 1)], {2: [(i, "I")]})

    @makes("A", 1.0)
    def column(self, t, env, n):
        """A column or a row of something with rows, or several of them mixed."""
        if t[1] != "D":
            return None
        found = [(name, u) for name, u in env.vars if isinstance(u, tuple) and u[0] == "A" and isinstance(u[1], tuple) and u[1][0] == "A"
                 and u[1][1] == "D" and u[2] is not None and u[1][2] is not None]
        found = [(name, u) for name, u in found if t[2] is None or t[2] in (u[2], u[1][2])]
        if not found:
            return None
        name, u = self.pick(found)
        whole = E(u, name)
        if t[2] is u[2] or t[2] is None:
            j = self.index(u[1][2], env, n)
            return j and E(t, self.pick(["map (\\r -> r ! $1) $0", "build (length $0) (\\i -> $0 ! i ! $1)", "map (\\r -> sin (r ! $1) + sum r) $0",
                                         "transpose $0 ! $1"] if 0 not in (u[2].value, u[1][2].value) else ["map (\\r -> r ! $1) $0"]), [whole, j])
        i, k = self.index(u[2], env, n), self.index(u[2], env, n)
        return i and k and E(t, self.pick(["zipWith (\\a b -> a - 0.5 * b) ($0 ! $1) ($0 ! $2)", "map (* ($0 ! $2 ! 0)) ($0 ! $1)", "reverse ($0 ! $1)",
                                           "foldl (\\s r -> zipWith (+) s r) ($0 ! $1) $0", "map (\\c -> sum c - c ! $1) (transpose $0)"]), [whole, i, k])

    @makes("A", 0.9)
    def row_operations(self, t, env, n):
        """Rows changed by means of others, as in an elimination."""
        t = self.known(t, env)
        if not (isinstance(t[1], tuple) and t[1][0] == "A" and t[1][1] == "D" and t[1][2] is not None) or t[2].value == 0:
            return None
        d = t[2]
        if not self.affordable(d, env.bind(times=self.times(t[1][2]))):
            return None
        a, b = self.split(n, 2)
        w, k = self.name("w"), self.name("i")
        inner = env.bind([(w, t)], indices=[(k, d)], times=self.times(d), nest=1)
        i, j = self.index(d, inner, 1), self.index(d, inner, 1)
        x = self.wrapped("D", self.e("D", inner, b))
        binds = {m: [(w, t), (k, "I")] for m in (1, 2, 3)}
        form = self.pick([f"foldl (\\{w} {k} -> update {w} $1 (zipWith (\\a b -> a - 0.1 * $3 * b) ({w} ! $1) ({w} ! $2))) $0 (iota $4)",
                          f"foldl (\\{w} {k} -> let {{ r = {w} ! $1 }} in update (update {w} $1 ({w} ! $2)) $2 (map (* $3) r)) $0 (iota $4)",
                          f"let {{ go {k} {w} = if {k} >= $4 then {w} else let {{ r = map (+ $3) ({w} ! $1) }} in go ({k} + 1) (update {w} $2 r) }} in go 0 $0"])
        return E(t, form, [self.e(t, env, a), i, j, x, self.len(d)], binds)

    @makes("*", 0.8)
    def unzipped(self, t, env, n):
        """A loop that makes several arrays at once."""
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        u, w = "D", self.pick(["D", "I", ("A", "D", self.dim(env)), ("A", "D", self.dim(env))])
        a, b = self.split(n, 2)
        x, y = self.name("v"), self.name("v")
        binds = [(x, ("A", u, d)), (y, ("A", w, d))]
        pairs = self.e(("A", ("T", u, w), d), env, a)
        return E(t, f"let {{ ({x}, {y}) = unzip $0 }} in $1", [pairs, self.e(t, env.bind(binds), b)], {1: binds})

    @makes("T", 2.0)
    def kept_row(self, t, env, n):
        """A row that is made, read and kept."""
        arrays = [k for k, u in enumerate(t[1:]) if isinstance(u, tuple) and u[0] == "A" and u[1] == "D"]
        if not arrays:
            return None
        k = self.pick(arrays)
        u = t[1 + k]
        u = self.known(u, env)
        a, b = self.split(n, 2)
        r = self.name("r")
        kids, parts = [self.body(u, env, a)], []
        for m, x in enumerate(t[1:]):
            if m == k:
                parts.append(r)
            else:
                parts.append(f"${len(kids)}")
                kids.append(self.e(x, env.bind([(r, u)] * 4), max(1, b)))
        return E(t, f"let {{ {r} = $0 }} in ({', '.join(parts)})", kids, {m: [(r, u)] for m in range(1, len(kids))})

    @makes("A", 0.4)
    def literal(self, t, env, n):
        if t[2] is None or not t[2].is_literal() or t[2].value > 5 or t[2].value == 0:
            return None
        k = t[2].value
        return E(t, "[|" + ", ".join(f"${i}" for i in range(k)) + "|]", [self.e(t[1], env, m) for m in self.split(n, k)])

    @makes("A", 0.5)
    def shorter(self, t, env, n):
        """An array of whatever length."""
        if t[2] is not None:
            return None
        d = self.dim(env)
        u = ("A", t[1], d)
        forms = ["take $1 $0", "drop $1 $0", "append $0 $0", "snoc $0 $2"]
        if t[1] == "D":
            forms += ["filter (> 0.0) $0", "filter (\\z -> z * z < 1.0) $0"]
        k = E("I", self.pick(["0", "1", "2", "$0 `div` 2"]), [self.len(d)])
        return E(t, self.pick(forms), [self.e(u, env, n - 1), k, self.leaf(t[1], env)])

    # -- lists, tuples, data --

    @makes("L", 2.0)
    def comprehension(self, t, env, n):
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        i = self.name("i")
        inner = env.bind(indices=[(i, d)], times=self.times(d), nest=1)
        a, b = self.split(n, 2)
        if self.chance(0.5):
            return E(t, f"[$0 | {i} <- [0 .. $1 - 1]]", [self.e(t[1], inner, a), self.len(d)], {0: [(i, "I")]})
        return E(t, f"[$0 | {i} <- [0 .. $1 - 1], $2]", [self.e(t[1], inner, a), self.len(d), self.e("B", inner, min(b, 2))], {0: [(i, "I")], 2: [(i, "I")]})

    @makes("L", 1.5)
    def list_map(self, t, env, n):
        a, b = self.split(n, 2)
        u = self.pick(["D", "I", t[1]])
        x = self.name(self.short(u))
        over = self.e(("L", u), env, b)
        return E(t, f"map (\\{x} -> $0) $1", [self.e(t[1], env.bind([(x, u)], times=6, nest=1), a), over], {0: [(x, u)]})

    @makes("L", 1.0)
    def of_elements(self, t, env, n):
        return E(t, "toList $0", [self.e(("A", t[1], self.dim(env)), env, n - 1)])

    @makes("L", 1.0)
    def list_op(self, t, env, n):
        forms = ["reverse $0", "drop 1 $0", "take 3 $0", "$0 ++ $1", "$2 : $0", "zipWith const $0 $1", "concat [$0, $1]", "init ($2 : $0)",
                 "foldr (\\z zs -> z : zs) $1 $0", "scanl (\\a _ -> a) $2 $0"]
        if t[1] in ("D", "I"):
            forms += ["sort $0", "scanl (+) 0 (take 5 $0)", "filter (> 0) $0", "zipWith (+) $0 $1", "nub $0"]
        form = self.pick(forms)
        a, b = self.split(n, 2)
        return E(t, form, [self.e(t, env, a), self.e(t, env, b if "$1" in form else 0), self.leaf(t[1], env)])

    @makes("T", 4.0)
    def pair(self, t, env, n):
        return self.tuple(t, [self.e(u, env, k) for u, k in zip(t[1:], self.split(n, len(t) - 1))])

    @makes("T", 1.0)
    def old_and_new(self, t, env, n):
        """A row that is made, kept and changed: both are returned."""
        arrays = [k for k, u in enumerate(t[1:]) if isinstance(u, tuple) and u[0] == "A" and u[2] is not None and u[2].value != 0]
        if not arrays:
            return None
        k = self.pick(arrays)
        u = t[1 + k]
        i = self.index(u[2], env, 1)
        if i is None:
            return None
        a, b = self.split(n, 2)
        w = self.name("w")
        binds = [(w, u)]
        kids = [self.e(u, env, a), i, self.e(u[1], env.bind(binds), b // 2)]
        parts = []
        for m, x in enumerate(t[1:]):
            if m == k:
                parts.append(f"update {w} $1 $2")
            else:
                parts.append(f"${len(kids)}")
                kids.append(self.e(x, env.bind(binds * 3), b // 2))
        return E(t, f"let {{ {w} = $0 }} in ({', '.join(parts)})", kids, {m: binds for m in range(2, len(kids))})

    @makes("T", 0.5)
    def pair_of(self, t, env, n):
        if t[1:] == ("D", "D"):
            return E(t, self.pick(["let { z = $0 } in (z, z)", "let { z = $0 } in (sin z, cos z)"]), [self.e("D", env, n - 1)])
        if len(t) == 3 and t[1] == "I" and t[2] == "I":
            return E(t, "divMod $0 3", [self.e("I", env, n - 1)])
        return None

    @makes("M", 3.0)
    def just(self, t, env, n):
        return E(t, self.pick(["Just $0", "if $1 then Just $0 else Nothing", "if $1 then Nothing else Just $0", "fmap (\\z -> z) (Just $0)",
                               "listToMaybe [$0 | $1]"]), [self.e(t[1], env, n - 1), self.e("B", env, min(2, n - 1))])

    @makes("E", 3.0)
    def either(self, t, env, n):
        a, b = self.split(n, 2)
        return E(t, self.pick(["if $2 then Left $0 else Right $1", "Left $0", "Right $1"]), [self.e(t[1], env, a), self.e(t[2], env, b), self.e("B", env, min(2, n - 1))])

    @makes("NP", 4.0)
    def record(self, t, env, n):
        name, fields = self.data(t[1]).constructors[0]
        budgets = self.split(n, len(fields))
        if self.chance(0.3):
            f, u = self.pick(fields)
            old = self.var_of(t, env)
            if old is not None:
                return E(t, f"$0 {{ {f} = $1 }}", [old, self.e(u, env, n - 1)])
        return self.construct(t, name, [self.e(u, env, k) for (_, u), k in zip(fields, budgets)])

    @makes("NS", 4.0)
    def variant(self, t, env, n):
        name, fields = self.pick(self.data(t[1]).constructors)
        budgets = self.split(n, max(1, len(fields)))
        return self.construct(t, name, [self.e(u, env, k) for (_, u), k in zip(fields, budgets)])

    @makes("NH", 4.0)
    def holder(self, t, env, n):
        return self.variant(t, env, n)

    @makes("NT", 2.0)
    def tree(self, t, env, n):
        a, b, c = self.split(n, 3)
        mk, k, x = self.name("mk"), self.name("k"), self.name("x")
        binds = [(k, "I"), (x, "D")]
        inner = env.bind(binds, times=12, nest=1)
        depth = self.pick(["2", "3", "4"])
        form = f"let {{ {mk} {k} {x} = if {k} <= 0 then Leaf else Fork ({mk} ({k} - 1) $1) {x} ({mk} ({k} - 2) $2) }} in {mk} {depth} $0"
        if len(self.data("T").constructors) > 2 and self.chance(0.6):
            form = (f"let {{ {mk} {k} {x} = if {k} <= 0 then Leaf else if odd {k} then Twig $3 ({mk} ({k} - 1) $1) "
                    f"else Fork ({mk} ({k} - 1) $1) {x} ({mk} ({k} - 2) $2) }} in {mk} {depth} $0")
        return E(t, form, [self.e("D", env, a), self.wrapped("D", self.e("D", inner, b)), self.wrapped("D", self.e("D", inner, c)),
                           self.e(("A", "D", None), inner, c)], {1: binds, 2: binds, 3: binds})

    @makes("NT", 1.0)
    def tree_node(self, t, env, n):
        a, b, c = self.split(n, 3)
        return E(t, "Fork $0 $1 $2", [self.e(t, env, a), self.e("D", env, b), self.e(t, env, c)])

    @makes("NT", 1.0)
    def tree_map(self, t, env, n):
        a, b = self.split(n, 2)
        mp, x = self.name("mp"), self.name("x")
        alternatives = f"Leaf -> Leaf; Fork a {x} b -> Fork ({mp} a) $1 ({mp} b)"
        if len(self.data("T").constructors) > 2:
            alternatives += f"; Twig v a -> Twig v ({mp} a)"
        return E(t, f"let {{ {mp} t = case t of {{ {alternatives} }} }} in {mp} $0",
                 [self.e(t, env, a), self.e("D", env.bind([(x, "D")], times=10, nest=1), b)], {1: [(x, "D")]})

    @makes("G", 4.0)
    def function(self, t, env, n):
        return self.lam(list(t[1:-1]), t[-1], env, n - 1)

    # ---- whole programs ----

    def parameter_type(self):
        r = self.rng.random()
        if r < 0.22:
            return "D"
        if r < 0.55:
            return ("A", "D", "?")
        if r < 0.68:
            return ("A", ("A", "D", "?"), "?")
        if r < 0.75:
            return ("A", ("T", "D", "D"), "?")
        if r < 0.79:
            return ("L", "D")
        if r < 0.84:
            return self.data_type("P")
        if r < 0.88:
            return "I"
        if r < 0.9:
            return ("A", "I", "?")
        if r < 0.92:
            return ("T", "D", ("A", "D", None))
        if r < 0.94:
            return ("A", ("T", "D", ("A", "D", None)), "?")
        if r < 0.95:
            return "F"
        if r < 0.97:
            return self.data_type("T")
        return ("A", ("A", ("A", "D", "?"), "?"), "?")

    def parameters(self, known, count):
        """Types of parameters, their names, lengths that are bound in front, and values where there are any."""
        parameters, lets, dims, values = [], [], [], []
        by_size = {}
        for _ in range(count):
            p, t = self.name("p"), self.parameter_type()

            def place(u, access):
                if not isinstance(u, tuple) or u[0] != "A" or u[2] != "?":
                    return u
                size = self.pick(LONG) if known and self.wide and self.chance(0.4) else self.pick(LENGTHS if self.chance(0.3) else COMMON) if known else None
                deep = isinstance(u[1], tuple) and u[1][0] == "A"
                if deep and known:
                    size = max(1, min(size, 17))
                shared = by_size.get(size) if self.chance(0.5) else None
                if shared is not None and known:
                    d = shared
                else:
                    d = Dim(self.name("n"), size)
                    lets.append([d.text, E("I", f"length {access}")])
                    dims.append(d)
                    if known:
                        by_size[size] = d
                return ("A", place(u[1], f"({access} ! 0)"), d)

            t = place(t, p)
            parameters.append((p, t))
            values.append(self.value(t) if known else None)
        return parameters, lets, dims, values

    def number(self):
        r = self.rng.random()
        if r < 0.7:
            return round(self.rng.uniform(-2, 2), 3)
        if r < 0.9:
            return self.pick([0.5, 1.0, -1.0, 0.25, 2.0, -0.5])
        if r < 0.97:
            return self.pick([0.0, -0.0, 0.0, 1.0])
        return self.pick(["inf", "nan", "-inf", 1e300, -1e-300, 1e10]) if self.chance(self.risk) else 0.125

    def value(self, t):
        if t == "D":
            return self.number()
        if t == "F":
            return self.pick([0.5, 1.5, -0.25, 2.0, 0.0])
        if t == "I":
            return self.pick([0, 1, 2, 3, -1, 5, 8])
        if t == "B":
            return self.chance(0.5)
        if t[0] == "A":
            size = t[2].value if t[2] is not None else self.rng.randint(0, 5)
            return [self.value(t[1]) for _ in range(size)]
        if t[0] == "L":
            return [self.value(t[1]) for _ in range(self.rng.randint(0, 6))]
        if t[0] == "T":
            return [self.value(u) for u in t[1:]]
        data = self.data(t[1])
        if t[1] == "T":
            return self.tree_value(3)
        name, fields = self.pick(data.constructors)
        if data.is_record():
            return {f: self.value(u) for f, u in fields}
        return {name: [self.value(u) for _, u in fields]} if fields else name

    def tree_value(self, depth):
        if depth == 0 or self.chance(0.2):
            return "Leaf"
        if len(self.data("T").constructors) > 2 and self.chance(0.3):
            return {"Twig": [self.value(("A", "D", None)), self.tree_value(depth - 1)]}
        return {"Fork": [self.tree_value(depth - 1), self.number(), self.tree_value(depth - 1)]}

    def helper(self, calls):
        """A function at top level, of arrays of any length above 0; perhaps one that calls itself."""
        self.budget = self.fuel * 2
        parameters, lets, dims, _ = self.parameters(False, self.rng.randint(1, 3))
        name = self.name("h")
        vars = parameters + [(d.text, "I") for d in dims]
        args = [u for _, u in parameters]
        form = name + "".join(f" ${i}" for i in range(len(args)))
        result = self.pick(["D", "D", "D", self.any_type(Env(dims=dims))])
        cost = 20
        env = Env(vars, dims, calls=calls, cost=8)
        if self.chance(0.3):  # counts down in a parameter of its own
            k = self.name("k")
            recur = form.replace(name, f"{name} ({k} - 1)", 1)
            base = self.e(result, env, self.fuel // 3)
            step = self.wrapped(result, self.e(result, env.bind([(k, "I")], calls=[Call(recur, args, result)] * 4, times=4), self.fuel // 2))
            again = sum(1 for e in step.walk() if isinstance(e.form, str) and e.form == recur)
            body = E(result, f"if {k} <= 0 then $0 else $1", [base, step], {1: [(k, "I")]})
            parameters = [(k, "I")] + parameters
            form = name + (" 3" if again > 1 else " 6") + form[len(name):]
            cost = 27 if again > 2 else 8
            if again > 3:
                return None
        else:
            body = self.body(result, env, max(4, self.fuel // 2))
        # A length that is not bound by a literal must be one of the parameters' own: no other is known where it is called.
        return Function(name, parameters, lets, body), Call(form, args, result, cost, tuple(dims))

    def program(self):
        functions, calls = [], []
        if self.chance(0.5):
            self.data_type(self.pick("PST"))
        for _ in range(self.rng.choice([0, 0, 0, 1, 1, 2])):
            made = self.helper(calls)
            if made is not None:
                functions.append(made[0])
                calls.append(made[1])
        parameters, lets, dims, values = self.parameters(True, self.rng.choice([1, 2, 2, 3]))
        if not any(has_reals(t, self.datas) for _, t in parameters):
            parameters.append((self.name("p"), "D"))
            values.append(self.number())
        env = Env(parameters + [(d.text, "I") for d in dims], dims, calls=calls)
        results = []
        for _ in range(self.rng.choice([1, 1, 2, 2, 3, 4])):
            self.budget = self.fuel * 3
            t = self.any_type(env)
            x = self.name(self.short(t))
            made = self.body(t, env, self.fuel)
            lets.append([x, made])
            env = env.bind([(x, t)])
            if first_order(t):
                results.append((x, t))
        self.budget = self.fuel
        if len(results) == 1 and self.chance(0.7):
            result = E(results[0][1], results[0][0])
        else:
            results = results[:4]
            kids = [E(t, x) for x, t in results]
            if self.chance(0.3):
                kids.append(self.e("D", env, self.fuel))
            result = kids[0] if len(kids) == 1 else self.tuple(("T", *[k.type for k in kids]), kids)
        functions.append(Function("f", parameters, lets, result))
        return Program(self.datas, functions, values, self.wide)


def make(seed):
    return Maker(seed).program()


if __name__ == "__main__":
    import json
    import sys

    from tree import program_text

    for seed in sys.argv[1:]:
        made = make(int(seed))
        print(program_text(made))
        print("-- " + json.dumps(made.point))
