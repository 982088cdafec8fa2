"""Functions as values, functions by clauses, and loops that carry what is not written where it is used: continuations, compositions,
arrays that grow, groups of rows of different lengths."""
from expressions import Call, makes
from tree import E, first_order, has_reals


class FunctionForms:
    @makes("*", 0.5)
    def composition(self, t, env, n):
        """A loop that carries a function, or a list of functions composed."""
        a, b, c = self.split(n, 3)
        g, i, s = self.name("g"), self.name("i"), self.name(self.short(t))
        if self.chance(0.5):
            d = self.dim(env)
            if not self.affordable(d, env):
                return None
            inner = env.bind([(s, t)], indices=[(i, d)], times=self.times(d), nest=1)
            form = self.pick([f"foldl (\\{g} {i} -> \\{s} -> {g} $1) id (iota $2) $0", f"foldr (\\{i} {g} -> \\{s} -> {g} $1) id (iota $2) $0",
                              f"foldl (\\{g} {i} -> {g} . (\\{s} -> $1)) id [0 .. $2 - 1] $0"])
            return E(t, form, [self.e(t, env, a), self.wrapped(t, self.body(t, inner, b)), self.len(d)], {1: [(i, "I"), (s, t)]})
        k = self.rng.randint(1, 3)
        inner = env.bind([(s, t)], nest=1)
        bodies = [self.wrapped(t, self.body(t, inner, m)) for m in self.split(b + c, k)]
        functions = ", ".join(f"\\{s} -> ${m + 1}" for m in range(k))
        form = self.pick([f"foldr (.) id [{functions}] $0", f"foldl (\\a g -> g a) $0 [{functions}]", f"foldr ($) $0 [{functions}]"])
        return E(t, form, [self.e(t, env, a)] + bodies, {m + 1: [(s, t)] for m in range(k)})

    @makes("*", 0.4)
    def continuation(self, t, env, n):
        """A loop in continuation-passing style; or one whose continuation is called twice."""
        k = self.rng.randint(1, 4)
        if env.cost * 2**k > self.limit:
            return None
        a, b, c = self.split(n, 3)
        go, i, s, y, u = self.name("go"), self.name("i"), self.name(self.short(t)), self.name(self.short(t)), self.name("k")
        start = self.e(t, env, a)
        first = self.wrapped(t, self.body(t, env.bind([(s, t), (i, "I")], times=2**k, nest=1), b))
        then = self.wrapped(t, self.body(t, env.bind([(s, t), (y, t), (i, "I")], times=2**k, nest=1), c))
        form = self.pick([
            f"let {{ {go} {i} {s} {u} = if {i} >= {k} then {u} {s} else {go} ({i} + 1) $1 (\\{y} -> {u} $2) }} in {go} 0 $0 (\\z -> z)",
            f"let {{ {go} 0 {s} {u} = {u} {s}; {go} {i} {s} {u} = {go} ({i} - 1) $1 (\\{y} -> {u} (let {{ z = $2 }} in z)) }} in {go} {k} $0 id",
            f"let {{ {go} {i} {s} = if {i} <= 0 then {s} else (if even {i} then (\\{u} -> {u} ({u} $1)) else (\\{u} -> {u} $1)) "
            f"(\\{y} -> {go} ({i} - 1) $2) }} in {go} {k} $0"])
        return E(t, form, [start, first, then], {1: [(i, "I"), (s, t)], 2: [(i, "I"), (s, t), (y, t)]})

    @makes("*", 0.7)
    def clauses(self, t, env, n):
        """A local function that takes a case on numbers and tuples in its clauses."""
        k = self.rng.randint(1, 9)
        if env.cost * k > self.limit:
            return None
        a, b, c = self.split(n, 3)
        go, i, s, x = self.name("go"), self.name("i"), self.name(self.short(t)), self.name("x")
        binds = [(i, "I"), (s, t), (x, "D")]
        inner = env.bind(binds, times=k, nest=1)
        kids = [self.e(t, env, a), self.wrapped(t, self.body(t, inner, b)), self.wrapped(t, self.e(t, env.bind(binds[1:], times=k, nest=1), c)), self.e("D", env, min(2, c)),
                self.wrapped("D", self.e("D", inner, min(3, c)))]
        form = self.pick([
            "let { G 0 (S, _) = S; G I (S, X) = G (I - 1) ($1, $4) } in G K ($0, $3)",
            "let { G 0 S _ = S; G 2 S X | X > 0.5 = $2; G I S X = G (I - 1) $1 $4 } in G K $0 $3",
            "let { G (I, S) X | I >= K = S | even I = G (I + 1, $1) X | otherwise = G (I + 2, $2) $4 } in G (0, $0) $3",
            "let { G I S X = case (I, X > 0.25) of { (0, _) -> S; (_, True) -> G (I - 1) $1 $4; (1, False) -> $2; _ -> G (I - 1) S $4 } } in G K $0 $3",
        ])
        form = form.replace("G", go).replace("K", str(k)).replace("I", i).replace("S", s).replace("X", x)
        return E(t, form, kids, {1: binds, 2: binds[1:], 4: binds})

    @makes("*", 0.6)
    def match_pairs(self, t, env, n):
        """A case on a pair, with numbers in its patterns."""
        a, b, c = self.split(n, 3)
        x, k = self.name("x"), self.name("k")
        binds = [(x, "D"), (k, "I")]
        inner = env.bind(binds)
        form = self.pick([
            f"case ($0, $1) of {{ (_, 0) -> $3; ({x}, {k}) -> $2 }}",
            f"case ($1, $0) of {{ (3, _) -> $3; ({k}, {x}) -> $2 }}",
            f"case ($0, $1) of {{ ({x}, {k}) | {k} > 1, {x} > 0.0 -> $2; _ -> $3 }}",
            f"let {{ ({x}, {k}) = if $4 then ($0, $1) else (0.5, 2) }} in $2",
        ])
        return E(t, form, [self.e("D", env, a), self.e("I", env, min(2, a)), self.e(t, inner, b), self.e(t, env, c), self.e("B", env, min(2, c))], {2: binds})

    @makes("D", 0.4)
    def list_of_functions(self, t, env, n):
        x, g = self.name("x"), self.name("g")
        k = self.rng.randint(1, 3)
        a, b = self.split(n, 2)
        bodies = [self.e("D", env.bind([(x, "D")], nest=1), m) for m in self.split(b, k)]
        functions = ", ".join(f"\\{x} -> ${m + 1}" for m in range(k))
        form = self.pick([f"sum (map (\\{g} -> {g} $0) [{functions}])", f"sum (zipWith (\\{g} z -> {g} z) [{functions}] [0.5, $0])",
                          f"foldr (\\{g} a -> {g} (a + $0)) 0.25 [{functions}]", f"maximum (map ($ $0) [{functions}])"])
        return E(t, form, [self.e("D", env, a)] + bodies, {m + 1: [(x, "D")] for m in range(k)})

    @makes("D", 0.4)
    def section(self, t, env, n):
        """Functions without names for their arguments."""
        a, b = self.split(n, 2)
        form = self.pick(["(* 0.5) $0", "(subtract $1) $0", "((+ 1.0) . negate) $0", "flip (-) $0 $1", "uncurry (*) ($0, $1)", "curry fst $0 $1",
                          "(`min` $1) $0", "((\\f -> f . f) (* 0.75)) $0", "(** 2.0) (abs $0)", "($ $0) sin", "(const $0) $1", "(max <$> sin <*> cos) $0"])
        return E(t, form, [self.e("D", env, a), self.e("D", env, b)])

    @makes("D", 0.4)
    def record_recursion(self, t, env, n):
        """A function that calls itself twice, with a record that it changes."""
        u = self.data_type("P")
        go, i, s = self.name("go"), self.name("i"), self.name("s")
        a, b, c = self.split(n, 3)
        binds = [(i, "I"), (s, u)]
        inner = env.bind(binds, times=9, nest=1)
        if env.cost * 9 > self.limit:
            return None
        form = (f"let {{ {go} {i} {s} = if {i} <= 0 then $1 else {go} ({i} - 1) ({s} {{ px = $2 }}) * 0.5 + sin ({go} ({i} - 2) {s}) }} "
                f"in {go} {self.pick('1234')} $0")
        return E(t, form, [self.e(u, env, a), self.e("D", inner, b), self.wrapped("D", self.e("D", inner, c))], {1: binds, 2: binds})

    @makes("A", 0.8)
    def grown(self, t, env, n):
        """An array that a loop makes longer and shorter, and changes where it is long enough."""
        if t[2] is not None or not first_order(t[1]):
            return None
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        a, b, c = self.split(n, 3)
        w, i = self.name("w"), self.name("i")
        binds = [(w, t), (i, "I")]
        inner = env.bind([(w, t)], indices=[(i, d)], times=self.times(d), nest=1)
        body = self.wrapped(t[1], self.body(t[1], inner, b))
        form = self.pick([
            "foldl (\\W I -> take 5 (let { q = reverse W } in if length q > 0 then update q (I * I `mod` length q) $1 else snoc q $1)) $0 (iota $2)",
            "foldl (\\W I -> if length W > 4 then drop 2 W else snoc W $1) $0 (iota $2)",
            "foldl (\\W I -> if length W > 9 then W else W ++ [|$1|] ++ (if I == 2 then [|W ! 0|] else [||])) $0 (iota $2)",
            "foldl (\\W I -> if I `mod` 3 == 1 then W else W ++ [|$1|]) (take 3 $0) (iota $2)",
            "foldl (\\W I -> if I < length W then snoc (update W I $1) (W ! I) else append W (take 1 W)) $0 (iota $2)",
            "let { go I W = if I >= $2 then W else go (I + 1) (let { r = W } in if length r > 1 then append (drop 1 r) [| $1 |] else snoc r $1) } in go 0 $0",
        ])
        return E(t, form.replace("W", w).replace("I", i), [self.e(t, env, a), body, self.len(d)], {1: binds})

    @makes("*", 0.6)
    def groups(self, t, env, n):
        """Numbers with rows of different lengths, made and folded."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=3)):
            return None
        a, b, c = self.split(n, 3)
        i, j, s, x, r = self.name("i"), self.name("j"), self.name(self.short(t)), self.name("x"), self.name("v")
        row = ("A", "D", None)
        here = env.bind(indices=[(i, d)], times=self.times(d), nest=1)
        kids = [self.e(t, env, 0), self.body(t, env.bind([(s, t), (x, "D"), (r, row)], times=self.times(d), nest=1), b), self.len(d),
                self.e("D", here, a), self.e("D", here.bind([(j, "I")], times=2, nest=1), c)]
        length = self.pick([f"{i} `mod` 4", f"min 3 {i}", "2", f"(7 - {i}) `mod` 3", f"{i} `rem` 2 + 1"])
        form = self.pick([f"foldl (\\{s} ({x}, {r}) -> $1) $0 (build $2 (\\{i} -> ($3, build ({length}) (\\{j} -> $4))))",
                          f"foldr (\\({x}, {r}) {s} -> $1) $0 (reverse (map (\\{i} -> ($3, build ({length}) (\\{j} -> $4))) (iota $2)))"])
        return E(t, form, kids, {1: [(s, t), (x, "D"), (r, row)], 3: [(i, "I")], 4: [(i, "I"), (j, "I")]})

    @makes("A", 0.8)
    def element_of_rows(self, t, env, n):
        """A loop that changes one element of one row at a time, and reads others."""
        t = self.known(t, env)
        if not (isinstance(t[1], tuple) and t[1][0] == "A" and t[1][2] is not None) or 0 in (t[2].value, t[1][2].value) or t[1][1] != "D":
            return None
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        a, b = self.split(n, 2)
        w, i = self.name("w"), self.name("i")
        inner = env.bind([(w, t)], indices=[(i, d)], times=self.times(d), nest=1)
        p, q = self.index(t[2], inner, 1), self.index(t[1][2], inner, 1)
        if p is None or q is None:
            return None
        body = self.wrapped("D", self.body("D", inner, b))
        form = self.pick([f"foldl (\\{w} {i} -> let {{ p = $1; q = $2 }} in update {w} p (update ({w} ! p) q ({w} ! p ! q + $3))) $0 (iota $4)",
                          f"foldl (\\{w} {i} -> let {{ r = {w} ! $1 }} in update {w} $1 (update r $2 (r ! 0 * $3))) $0 (iota $4)",
                          f"foldr (\\{i} {w} -> update {w} $1 (map (\\z -> z * 0.5 + $3) ({w} ! $1))) $0 (iota $4)"])
        binds = [(w, t), (i, "I")]
        return E(t, form, [self.e(t, env, a), p, q, body, self.len(d)], {m: binds for m in (1, 2, 3)})

    @makes("A", 0.3)
    def rows_of_one(self, t, env, n):
        """An array whose rows are one array, and others made of it."""
        row = t[1]
        if not (isinstance(row, tuple) and row[0] == "A") or t[2] is not None and t[2].value != 2:
            return None
        if t[2] is not None and not t[2].is_literal():
            return None
        r = self.name("r")
        forms = ["R", "reverse R"] if row[1] != "D" else ["R", "reverse R", "map (* 2.0) R", "zipWith (-) R R"]
        return E(t, f"let {{ {r} = $0 }} in [| {r}, {self.pick(forms).replace('R', r)} |]", [self.e(row, env, n - 1)])

    @makes("*", 0.6)
    def value_and_pullback(self, t, env, n):
        """A pullback, used along with its value, and perhaps more than once."""
        if not self.chance(self.derive * 3):
            return None
        a, b, c = self.split(n, 3)
        u, w = self.real_type(env, n), self.pick(["D", ("A", "D", self.dim(env)), ("T", "D", "D")])
        if not first_order(u) or not has_reals(u, self.datas):
            return None
        y, p = self.name(self.short(w)), self.name("p")
        inside = env.bind(times=8)
        f, at = self.lam([u], w, inside, a), self.e(u, env, b)
        body = self.e(t, env.bind([(y, w)], calls=[Call(f"{p} $0", [w], u, cost=8)] * 3), max(2, c))
        return E(t, f"let {{ ({y}, {p}) = vjp $0 $1 }} in $2", [f, at, body], {2: [(y, w)]})

    @makes("L", 0.8)
    def list_by_condition(self, t, env, n):
        if t[1] not in ("D", "I"):
            return None
        zero = "0" if t[1] == "I" else "0.25"
        form = self.pick([f"takeWhile (> {zero}) $0", f"dropWhile (< {zero}) $0", f"fst (partition (> {zero}) $0)", f"snd (span (>= {zero}) $0)",
                          "take 3 (iterate (\\z -> z + z) $1)", f"fst (splitAt 2 $0) ++ snd (splitAt 1 $0)", "foldl (flip (:)) [] $0"])
        return E(t, form, [self.e(t, env, n - 1), self.leaf(t[1], env)])
