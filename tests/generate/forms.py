"""Expressions that can have any type: branches, lets, loops that carry it, calls, derivatives."""
from expressions import Call, makes, replace_dims, unify
from tree import Dim, E, first_order, fits, has_reals


class Forms:
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
