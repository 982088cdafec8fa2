"""Lists, tuples, and data of the program."""
from expressions import makes
from tree import E


class DataForms:
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
