"""Arrays, their rows and columns."""
from expressions import makes
from tree import Dim, E, first_order


class ArrayForms:
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
        if t[1] == "D" and (t[2].value or 0) > 0:  # stages, each of which reads beside its own element what the one before it makes
            forms += ["foldl (\\v k -> let { y = map (\\a -> 0.5 * a + k) v; z = zipWith (\\a b -> a + 0.25 * b) v (append [|0.5|] (init y)) } in "
                      "zipWith3 (\\a b c -> 0.5 * a + 0.125 * b * c) v (append [|k|] (init z)) y) $0 (replicate 40 0.5)"]
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
