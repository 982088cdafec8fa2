"""Idioms of several lines, whose parts are random: forms that passes look for, and that single productions seldom make."""
from expressions import makes
from tree import E

# What stands in front of the elements of an array that moves by one place; behind them.
SHIFTED = ["[|$F|] ++ init ARRAY", "append (replicate 1 ($F)) (init ARRAY)", "tail ARRAY ++ [|$F|]", "build (length ARRAY) (\\i -> if i == 0 then $F else ARRAY ! (i - 1))",
           "build (length ARRAY) (\\i -> if i + 1 < length ARRAY then ARRAY ! (i + 1) else $F)"]

# Places beside the loop's index, in an array that wraps around or whose ends stand for what is beyond them.
BESIDE = ["mod (I + C) N", "mod (I - C) N", "min (N - 1) (I + C)", "max 0 (I - C)", "min (I + C) (N - 1)", "max 0 (min (N - 1) (I - C))", "I"]


class IdiomForms:
    def function_of(self, names, t, env, n):
        """An expression of variables of type Double, and which they are, for `binds`."""
        binds = [(x, "D") for x in names]
        return self.wrapped(t, self.e(t, env.bind(binds * 2), n)), binds

    def stage_by_index(self, v, last, x, y, k, kid):
        """A stage that says what its first element is: of the expression `kid`, or of one operation."""
        i, of = self.name("i"), self.pick([v, last])
        first = self.pick([f"{of} ! {i}", f"{of} ! {i}", f"{of} ! 0", f"0.5 * {k}", "-0.0", f"{last} ! (length {last} - 1)"])
        others = self.pick([f"${kid}"] * 3 + [f"{x} * {y}", f"{y} + {x}", f"{x} - {y}", f"{y} - {x}", f"{x} / {y}", f"{y} * {x} + {x}"])
        others = f"(let {{ {x} = {of} ! {i}; {y} = {last} ! ({i} - {self.pick('1112')}) }} in {others})"
        test = self.pick([f"{i} == 0", f"0 == {i}", f"{i} < 1", f"{i} <= 0", f"{i} < 2"])
        body = self.pick([f"if {test} then {first} else {others}", f"if {i} > 0 then {others} else {first}"])
        if f"({i} - 2)" in body:
            body = f"if {i} < 2 then {first} else {others}"
        return f"build (length {last}) (\\{i} -> {body})"

    @makes("A", 0.5)
    def stages(self, t, env, n):
        """A loop of stages, each of which reads beside its own element what the one before it makes."""
        t = self.known(t, env)
        if t[1] != "D" or (t[2].value or 0) == 0 or not self.affordable(t[2], env.bind(times=12)):
            return None
        a, b, c, d = self.split(n, 4)
        v, k = self.name("v"), self.name("x")
        inner = env.bind([(k, "D")], times=4 * self.times(t[2]), nest=1)
        kids, binds, lets, last = [self.e(t, env, a)], {}, [], v
        for m in range(self.rng.randint(1, 3)):
            made, x, y = self.name("v"), self.name("x"), self.name("y")
            form = self.pick(SHIFTED).replace("ARRAY", last).replace("$F", self.pick([k, "0.5", f"0.5 * {k}", "-0.0"]))
            body, bound = self.function_of([x, y], "D", inner, (b, c, d)[m])
            binds[len(kids)] = bound + [(k, "D")]
            lets.append(f"{made} = " + (self.stage_by_index(v, last, x, y, k, len(kids)) if self.rng.random() < 0.4
                                        else f"zipWith (\\{x} {y} -> ${len(kids)}) {self.pick([v, last])} ({form})"))
            kids.append(body)
            last = made
        result = self.pick([last, f"zipWith (\\a b -> a + 0.25 * b) {v} {last}", f"zipWith3 (\\a b c -> a + b * c) {v} {last} (append [|{k}|] (init {last}))"])
        form = f"foldl (\\{v} {k} -> let {{ {'; '.join(lets)} }} in {result}) $0 (replicate {self.pick('1236')} 0.5)"
        return E(t, form, kids, binds)

    def beside(self, index, length):
        place = self.pick(BESIDE).replace("C", self.pick(["1", "1", "1", "2", "3", "20"]))
        return "(" + place.replace("I", index).replace("N", length) + ")"

    @makes("A", 0.5)
    def grid(self, t, env, n):
        """A step over a grid of one or two dimensions; or several, one after the other."""
        t = self.known(t, env)
        if t[1] != "D" or not self.affordable(t[2], env.bind(times=12)):
            return None
        a, b, c = self.split(n, 3)
        v, m, x, y, i, j, k = (self.name(prefix) for prefix in ("v", "m", "x", "y", "i", "j", "n"))
        two, binds = self.function_of([x, y], "D", env.bind(times=12 * self.times(t[2]), nest=1), b)
        one, of_one = self.function_of([x], "D", env.bind(times=4 * self.times(t[2]), nest=1), c)
        ends = self.pick(["", "", f"if {i} == 0 then {v} ! {i} else ", f"if {i} > 0 && {i} < {k} - 1 then 0.5 else "])
        here = f"let {{ {x} = {v} ! {self.beside(i, k)}; {y} = {v} ! {self.beside(i, k)} }} in {ends}$1 + 0.5 * {v} ! {self.beside(i, k)}"
        line = f"(\\{v} -> let {{ {k} = length {v} }} in build {k} (\\{i} -> {here}))"
        at = lambda: f"{m} ! {self.beside(j, '3')} ! {self.beside(i, k)}"
        plane = (f"let {{ {v} = $0; {k} = length {v}; {m} = map (\\s -> map (\\{x} -> s * $2) {v}) [|1.0, 0.5, 2.0|] }} in "
                 f"map sum (build {k} (\\{i} -> build 3 (\\{j} -> let {{ {x} = {at()}; {y} = {at()} }} in $1 + {at()})))")
        rows = (f"let {{ {v} = $0; {k} = length {v}; {m} = map (\\s -> map (\\{x} -> s * $2) {v}) [|1.0, 0.5, 2.0|] }} in "
                f"foldl (zipWith (+)) {v} (toList (build 3 (\\{j} -> build {k} (\\{i} -> let {{ {x} = {at()}; {y} = {at()} }} in $1 + {at()}))))")
        form = self.pick([f"{line} $0", f"{line} ({line} $0)", f"iterate {line} $0 !! 2", plane, rows])
        return E(t, form, [self.e(t, env, a), two, one], {1: binds, 2: of_one})

    @makes("D", 0.6)
    def through_rows(self, t, env, n):
        """A sum, or another fold, that goes on from row to row; paths whose parameters all rows share."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=12)):
            return None
        a, b, c = self.split(n, 3)
        x, y, s, q, row, m = (self.name(prefix) for prefix in ("x", "y", "s", "x", "v", "m"))
        inner = env.bind(times=12 * self.times(d), nest=1)
        one, of_one = self.function_of([x], "D", inner, b)
        two, of_two = self.function_of([x, y], "D", inner, c)
        first = self.pick([s, s, f"({s} + 1.0)", f"({s} + sum {row})"])
        matrix = f"{m} = build {self.pick('1359')} (\\{q} -> map (\\{x} -> {x} * fromIntegral {q} + $1) $0)"
        over = self.pick([
            f"foldl (\\{s} {row} -> foldl (\\{y} {x} -> {y} + $1) {first} {row}) $3 {m}",
            f"foldl (\\{s} {row} -> foldl (\\{y} {x} -> $1 + {y}) {first} {row} + 0.5) $3 {m}",
            f"foldl (\\{s} {row} -> foldl (\\{y} {x} -> 0.5 * {y} + $1) {first} {row}) $3 {m}",
            f"sum (scanl (\\{s} {row} -> foldl (\\{y} {x} -> {y} + $1) {first} {row}) $3 {m})",
            f"fst (foldl (\\{s} {row} -> foldl (\\({y}, {q}) {x} -> ({q} + $1, {y})) {s} {row}) ($3, 0.5) {m})",
            f"let {{ {y} = $3 }} in sum (map (\\{row} -> foldl (\\{s} {x} -> {s} * 0.5 + $2) {y} {row}) {m})",
            f"let {{ {y} = $3 }} in sum (map (\\{row} -> sin (foldl (\\{s} {x} -> {s} * cos ({y} * {x}) + $2) 1.0 {row})) {m})",
        ])
        return E(t, f"let {{ {matrix} }} in {over}", [self.e(("A", "D", d), env, a), one, two, self.e("D", env, 1)], {1: of_one, 2: of_two})

    @makes("D", 0.5)
    def left_out(self, t, env, n):
        """A function of each element and all others; a difference of what a list has."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=12)):
            return None
        a, b, c = self.split(n, 3)
        v, x, y, i, u = (self.name(prefix) for prefix in ("v", "x", "y", "i", "v"))
        two, binds = self.function_of([x, y], "D", env.bind(times=2 * self.times(d) ** 2, nest=2), b)
        k = self.pick(["(-1)", "0", "1", "2", "7", i, i, i])
        numbers = self.pick(["[0 ..]", "[0 ..]", "[1 ..]", "[i, i + 1 ..]".replace("i", "3")])
        others = self.pick([f"[let {{ {y} = z }} in $1 | (j, z) <- zip {numbers} (toList {v}), j /= {k}]", f"map (\\{y} -> $1) [{v} ! (j - 1) | j <- [1 .. length {v}], j /= {k}]",
                            f"[let {{ {y} = {v} ! j }} in $1 | j <- [0 .. length {v} - 1], not ({k} == j)]", f"map (\\(_, {y}) -> $1) (filter ((/= {k}) . fst) (zip {numbers} (toList {v})))",
                            f"[let {{ {y} = 0.5 * z }} in $1 | (z, j) <- zip (toList {v}) [0 ..], {y} <- [z], {k} /= j]"])
        each = self.pick([f"sum ({others})", f"foldr (-) 0.25 ({others})", f"foldl (\\s z -> 0.5 * s + z) {x} ({others})",
                          f"let {{ {u} = fromList ({others}) }} in sum {u} * fromIntegral (length {u}) + sum (zipWith (*) {u} (reverse {u}))"])
        whole = f"let {{ {v} = $0 }} in sum (build (length {v}) (\\{i} -> let {{ {x} = {v} ! {i} }} in {each}))"
        return E(t, whole, [self.e(("A", "D", d), env, a), two], {1: binds})

    @makes("D", 0.4)
    def polynomials(self, t, env, n):
        """A polynomial by its coefficients: powers of each kind with an index, Horner's rule, powers that a list has."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=12)):
            return None
        a, b = self.split(n, 2)
        v, x, y, i = (self.name(prefix) for prefix in ("v", "x", "y", "i"))
        k = self.pick(["", " + 1", " + 2", " - 1", " + 0.5"])
        whole = k if "." not in k else ""
        each = self.pick([f"sum [{y} * {x} ** {i} | ({i}, {y}) <- zip [0 ..] (toList {v})]", f"sum [{v} ! {i} * {x} ^ {i} | {i} <- [0 .. length {v} - 1]]",
                          f"sum (build (length {v}) (\\{i} -> {v} ! {i} * {x} ** (fromIntegral {i}{k})))",
                          f"sum (build (length {v}) (\\{i} -> {v} ! {i} * {x} ** fromIntegral ({i}{whole})))",
                          f"foldr (\\{y} s -> {y} + {x} * s) 0.0 (toList {v})", f"sum (zipWith (*) (toList {v}) (iterate (* {x}) 1.0))"])
        base = self.pick(["0.9 * sin $1", "1.25 + tanh $1", "0.0 * $1"])
        return E(t, f"let {{ {v} = $0; {x} = {base} }} in {each}", [self.e(("A", "D", d), env, a), self.e("D", env, b)])

    @makes("D", 0.8)
    def small_arrays(self, t, env, n):
        """Recursion on vectors of two or three numbers, determinants by parts of matrices, reads beside the index, one element of a mapped array."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=60)):
            return None
        a, b, c = self.split(n, 3)
        v, w, m, x, y, i, j, k, go, u = (self.name(prefix) for prefix in ("v", "w", "m", "x", "y", "i", "j", "n", "go", "u"))
        two, binds = self.function_of([x, y], "D", env.bind(times=30 * self.times(d), nest=1), b)
        one, of_one = self.function_of([x], "D", env.bind(times=20 * self.times(d), nest=1), c)
        bounded = f"map (\\{x} -> tanh ($2))"
        zipped = f"zipWith (\\{x} {y} -> tanh ($1))"
        start = self.pick(["[|0.5, $0|]", "[|$0, 1.0, -0.25|]", "[|$0|]", "replicate 2 ($0)"])
        step = self.pick([f"{bounded} {u}", f"{zipped} {u} {w}", f"tanh ({u} + 0.5 * {w})", f"reverse {u}", f"build (length {u}) (\\{i} -> {u} ! {i} * {w} ! 0)",
                          f"update {u} 0 (tanh ({w} ! 0 + {k}'))", f"take 1 {u} ++ drop 1 {w}", f"[|{u} ! 0, tanh (sum {w})|]", f"if sum {u} > 0.25 then {w} else {u}",
                          f"{u} - 0.125 * grad (\\{v} -> sum (map (\\{x} -> $2) {v})) {u}"])
        other = self.pick([f"{bounded} {w}", f"{zipped} {w} {u}", f"tanh ({w} - {u})", w, f"{u}", f"tanh ({w} * [|{u} ! 0|])"])
        given = self.pick([f"sum ({u} * {w})", f"{u} ! 0 - sum {w}", f"maximum {u} + {w} ! 0", f"sum ({u} ++ {w})", f"{u} ! (mod ({self.pick('123')} * 5) (length {u}))"])
        steps, rows = self.pick(["0", "1", "2", "5"]), self.pick(["1", "2", "3", "4", "5"])
        recursion = f"let {{ {go} :: Int -> Array Double -> Array Double -> Double; {go} {k} {u} {w} = let {{ {k}' = fromIntegral {k} }} in if {k} == 0 || sum {u} > 50.0 then {given} else {go} ({k} - 1) ({step}) ({other}) }} in {go} {steps} ({start}) ({start})"
        part = self.pick([f"take {i} {m} ++ drop ({i} + 1) {m}", f"build ({k} - 1) (\\{j} -> {m} ! (if {j} < {i} then {j} else {j} + 1))"])
        det = f"let {{ {go} :: Array (Array Double) -> Double; {go} {m} = case length {m} of {{ 0 -> 1.0; 1 -> {m} ! 0 ! 0; {k} -> sum (build {k} (\\{i} -> (if even {i} then 1.0 else -1.0) * {m} ! {i} ! 0 * {go} (map tail ({part})))) }} }} in {go} (build {rows} (\\{i} -> build {rows} (\\{j} -> let {{ {x} = $0 + fromIntegral (3 * {i} + {j} * {j}) }} in sin ($2))))"
        gates = f"let {{ {v} = $3; {k} = length {v}; {w} = build (3 * {k}) (\\{i} -> let {{ {x} = fromIntegral {i} * 0.25 }} in $2) }} in sum (build {k} (\\{i} -> let {{ {x} = {v} ! {i} * {w} ! {i}; {y} = {w} ! ({k} + {i}) }} in $1 - {w} ! (2 * {k} + {i})))"
        chosen = self.pick([f"{u} ! argmin {u}", f"{u} ! argmax {w}", f"last {u}", f"{u} ! (length {u} - 1) * {u} ! 0", f"{u} ! (mod {self.pick(['3', '7'])} (length {u}))"])
        element = f"let {{ {v} = $3; {w} = map (\\{x} -> sin ($2)) {v}; {u} = zipWith (\\{x} {y} -> $1) {v} {w} }} in if length {v} == 0 then 0.0 else {chosen}"
        first = f"let {{ {v} = $3; {k} = length {v} }} in sum (build {k} (\\{i} -> if {k} < 4 then 1.0 else let {{ {u} = take 3 {v}; {x} = {v} ! 3; {y} = sum ({u} * {u}) }} in $1 + {u} ! ({i} .&. 1)))"
        best = self.pick([f"sum {w} > sum {u}", f"sum (zipWith (\\{x} {y} -> $1) {u} {w}) > 0.25", f"sum {w} <= sum {u}"])
        start, others = self.pick([(f"({m} ! 0)", m), (f"({m} ! 0)", f"(drop 1 {m})"), (f"(last {m})", f"(init {m})"), (f"(map negate ({m} ! 0))", m)])
        row = f"let {{ {v} = $3; {m} = build {rows} (\\{i} -> map (\\{x} -> sin ($2) + fromIntegral {i}) {v}) }} in sum (foldl (\\{u} {w} -> if {best} then {w} else {u}) {start} {others})"
        whole = self.pick([recursion, recursion, det, gates, element, first, row, row])
        return E(t, whole, [self.e("D", env, a), two, one, self.e(("A", "D", d), env, a)], {1: binds, 2: of_one})

    @makes("D", 0.8)
    def borders(self, t, env, n):
        """Grids with a border, rows taken by an index and put together, all pairs of rows, extremes by a test, Ints from step to step."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=30)):
            return None
        a, b, c = self.split(n, 3)
        v, m, x, y, i, j, k, u = (self.name(prefix) for prefix in ("v", "m", "x", "y", "i", "j", "n", "v"))
        two, binds = self.function_of([x, y], "D", env.bind(times=30 * self.times(d), nest=1), b)
        one, of_one = self.function_of([x], "D", env.bind(times=5 * self.times(d), nest=1), c)
        rows = self.pick(["1", "2", "3", "5"])
        edge = self.pick([f"{j} == 0 || {i} == 0 || {j} == {rows} - 1 || {i} == {k} - 1", f"{i} == 0 || {i} >= {k} - 1 || {j} == 0 || {j} >= {rows} - 1",
                          f"not ({j} > 0 && {j} < {rows} - 1 && {i} > 0 && {i} < {k} - 1)", f"{j} < 1 || ({j} >= {rows} - 1 || not (0 < {i} && {i} + 1 < {k}))"])
        here = f"let {{ {x} = {m} ! ({j} - 1) ! {i}; {y} = {m} ! {j} ! ({i} + 1) }} in $1 + {m} ! ({j} + 1) ! ({i} - 1)"
        at = lambda p, q: f"(if {p} < 0 || {p} >= {rows} || {q} < 0 || {q} >= {k} then 0.0 else {m} ! ({p}) ! ({q}))"
        pick = f"mod ({i} * {i} + 1) {rows}"
        form = self.pick([
            f"map sum (build {rows} (\\{j} -> build {k} (\\{i} -> if {edge} then {m} ! {j} ! {i} else {here})))",
            f"map sum (build {rows} (\\{j} -> build {k} (\\{i} -> let {{ {x} = {at(j + ' - 1', i)}; {y} = {at(j, i + ' + 1')} }} in $1 + {at(j, i)})))",
            f"build {k} (\\{i} -> let {{ {u} = {m} ! ({pick}) ++ [|{v} ! {i}, 0.5|] }} in sum (zipWith (\\{x} {y} -> $1) {u} (reverse {u})) + last {u} * {u} ! 0)",
            f"build {k} (\\{i} -> let {{ {u} = {m} ! ({pick}) }} in sum (zipWith (\\{x} {y} -> $1) {u} {v}) + sum (take 2 {u}))",
            f"map (\\{u} -> sum (map (\\{v} -> sum (zipWith (\\{x} {y} -> $1) {u} {v})) {m})) {m}",
            f"build {k} (\\{i} -> sum (build {k} (\\{j} -> let {{ {x} = {v} ! {i}; {y} = {v} ! {j} }} in $1)))",
            f"map (\\{u} -> if length {u} == 0 then 1.0 else foldl (\\{x} {y} -> if {y} {self.pick('><')} {x} then {y} else {x}) ({u} ! 0) {u}) {m}",
            f"build {k} (\\{i} -> fst (foldl (\\({x}, {j}) _ -> (let {{ {y} = fromIntegral ({j} .&. 7) * 0.125 }} in $1, {j} * 5 + {i})) ({v} ! {i}, {i}) (iota 20)))",
            f"let {{ {u} = grad (\\{v} -> sum (map (\\{x} -> $2) {v})) {v} }} in zipWith (\\{x} {y} -> $1) {v} {u}",
        ])
        whole = f"let {{ {v} = $0; {k} = length {v}; {m} = build {rows} (\\{j} -> map (\\{x} -> $2 + fromIntegral {j}) {v}) }} in sum ({form})"
        return E(t, whole, [self.e(("A", "D", d), env, a), two, one], {1: binds, 2: of_one})

    def choice(self, tests, one, other):
        """A choice between two expressions by a truth value, an Ordering or a small Int; its alternatives in either order."""
        truth, order, number = tests
        tag = self.pick(["LT", "EQ", "GT"])
        some, rest = self.pick([["LT", "EQ"], ["GT", "LT"], ["EQ", "GT"]]), self.pick([one, other])
        last = next(c for c in ("LT", "EQ", "GT") if c not in some)
        return "(" + self.pick([
            f"if {truth} then {one} else {other}", f"if not {truth} then {one} else {other}",
            f"case {truth} of {{ {self.pick(['True', 'False'])} -> {one}; _ -> {other} }}",
            f"case {truth} of {{ False -> {one}; True -> {other} }}",
            f"case {order} of {{ {tag} -> {one}; _ -> {other} }}", f"case {order} of {{ {tag} -> {one}; _ -> {other} }}",
            f"case {order} of {{ {some[0]} -> {one}; {some[1]} -> {other}; {last} -> {rest} }}",
            f"case {order} of {{ {some[0]} -> {one}; {some[1]} -> {other}; _ -> {rest} }}",
            f"case {number} of {{ {self.pick('0123')} -> {one}; _ -> {other} }}",
            f"case {number} of {{ {self.pick('01')} -> {one}; {self.pick('23')} -> {rest}; _ -> {other} }}",
        ]) + ")"

    @makes("D", 1.0)
    def choices(self, t, env, n):
        """Several choices by the same truth value, Ordering or Int, which the row of a grid, or each of its elements, has."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=20)):
            return None
        a, b, c = self.split(n, 3)
        v, x, y, i, j, k, u = (self.name(prefix) for prefix in ("v", "x", "y", "i", "j", "n", "v"))
        truth, order, number = (self.name(prefix) for prefix in ("p", "o", "q"))
        two, binds = self.function_of([x, y], "D", env.bind(times=8 * self.times(d), nest=1), b)
        one, of_one = self.function_of([x], "D", env.bind(times=8 * self.times(d), nest=1), c)
        of = self.pick([j, j, j, f"(mod ({i} + {j}) 4)"])
        lets = "; ".join([f"{truth} = {self.pick([f'{of} == 1', f'{of} >= 2', f'even {of}', f'{of} * {of} < 3'])}",
                          f"{order} = compare {of} {self.pick('0112')}", f"{number} = mod {of} {self.pick('34')}"])
        alternatives = [x, y, f"({x} * {y})", f"(0.5 - {x})", f"({v} ! {i})", f"({x} + {y})", "0.25", "(-0.0)", *self.pick([[], [], ["$1", "$2"]])]
        pick = lambda: self.choice((truth, order, number), *self.rng.sample(alternatives, 2))
        edge = self.pick([f"{i} == 0 || {i} == {k} - 1", f"{i} < 1 || not ({i} + 1 < {k})"])
        beside = f"(if {edge} then 0.5 * fromIntegral {j} else {v} ! ({i} - 1) * fromIntegral ({j} + 1) + {v} ! ({i} + 1))"
        here = f"{y} = {v} ! {i}; {u} = {pick()}"
        of_row, of_element = (f"let {{ {lets} }} in ", "") if of == j else ("", f"{lets}; ")
        row = self.pick([f"build {k} (\\{i} -> let {{ {of_element}{x} = {beside}; {here} }} in {u} + {pick()} * {pick()})",
                         f"build {k} (\\{i} -> let {{ {of_element}{x} = {beside}; {here} }} in {u} + {pick()} * {pick()})",
                         f"[|foldl (\\{x} {i} -> let {{ {of_element}{here} }} in {u} + 0.5 * {pick()}) 0.5 (iota {k})|]"])
        grid = f"build {self.pick(['3', f'(1 + mod {k} 5)', f'(2 + div {k} 2)'])} (\\{j} -> {of_row}{row})"
        m = self.name("m")
        whole = self.pick([f"sum (map sum {m})", f"sum (map (\\{u} -> sum (zipWith (*) {u} (last {m}))) {m})", f"sum (foldl1 (zipWith (-)) (toList {m}))"])
        whole = f"let {{ {v} = $0; {k} = length {v}; {m} = {grid} }} in {whole}"
        return E(t, whole, [self.e(("A", "D", d), env, a), two, one], {1: binds, 2: of_one})

    def all_but(self, i, v):
        """An array without its element `i`."""
        of = self.pick([i, i, i, f"({i} - 1)", f"({i} + 1)"])
        return [f"map (\\j -> {v} ! j) (filter (\\j -> j /= {of}) (iota (length {v})))", f"fromList [x | (j, x) <- zip [0 ..] (toList {v}), j /= {of}]",
                f"fromList [{v} ! j | j <- [0 .. length {v} - 1], not ({of} == j)]", f"fromList (map snd (filter ((/= {of}) . fst) (zip [0 ..] (toList {v}))))"]

    @makes("D", 0.7)
    def smaller_sizes(self, t, env, n):
        """A function that calls itself in a loop, with an array that is one shorter or a number that is one less."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=100)):
            return None
        a, b, c = self.split(n, 3)
        go, v, x, y, i, k, u = (self.name(prefix) for prefix in ("go", "v", "x", "y", "i", "n", "v"))
        two, binds = self.function_of([x, y], "D", env.bind(times=60, nest=1), b)
        one, of_one = self.function_of([x], "D", env.bind(times=30, nest=1), c)
        h = self.name("h")
        rest = self.pick([f"build ({k} - 1) (\j -> {v} ! (if j < {i} then j else j + 1))", f"take {i} {v} ++ drop ({i} + 1) {v}",
                          f"map (\{x} -> {x} * {v} ! {i}) (tail {v})", f"slice 0 ({k} - 1) {v}", f"build ({k} - 1) (\j -> let {{ {x} = {v} ! (j + 1) }} in $2)",
                          f"zipWith (\{x} {y} -> {x} - 0.5 * {y}) (init {v}) (tail {v})", *self.all_but(i, v)])
        base = self.pick([f"{k} == 0 = 0.25", f"{k} <= 1 = sum {v}", f"{k} == 1 = {v} ! 0", f"{k} < 3 = foldl (\{x} {y} -> {x} * 0.5 + {y}) 1.0 {v}",
                          f"{k} == 0 = 1.0 | {k} == 2 = {v} ! 0 * {v} ! 1"])
        smaller = self.pick([rest, rest, f"let {{ {u} = {rest} }} in map (\\{x} -> {x} + sum {u}) {u}"])
        term = f"let {{ {x} = {v} ! {i}; {y} = {go} ({smaller}) }} in {self.pick(['$1', f'{x} * {y}'])}"
        total = self.pick([f"foldr (-) 0.5 [{term} | {i} <- [0 .. {k} - 1]]", f"sum (build {k} (\{i} -> {term}))", f"sum [{term} | {i} <- [0 .. {k} - 1]]", f"foldl (\s {i} -> 0.5 * s + ({term})) 0.125 (iota {k})"])
        whole = f"let {{ {go} {v} = let {{ {k} = length {v} }} in {h} {k} {v}; {h} {k} {v} | {base} | otherwise = {total} }} in {go} (take {self.pick('12345')} $0)"
        less = self.pick(["", f" - mod {i} 2"])
        calls = f"build {self.pick(['2', '3', k])} (\\{i} -> let {{ {y} = {go} ({k} - 1{less}) ({x} * fromIntegral ({i} + 1)) }} in $1)"
        number = f"let {{ {go} {k} {x} | {k} <= {self.pick('01')} = {x} | otherwise = sum ({calls}) }} in {go} {self.pick('01234')} (sum $0)"
        return E(t, self.pick([whole, whole, number]), [self.e(("A", "D", d), env, a), two, one], {1: binds, 2: of_one})

    @makes("D", 0.7)
    def node_and_fields(self, t, env, n):
        """Recursion over a list of rows, whose steps use both a node and its fields."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=40)):
            return None
        a, b, c = self.split(n, 3)
        size, go, l, v, r, x, k = (self.name(prefix) for prefix in ("size", "go", "l", "v", "l", "x", "k"))
        one, of_one = self.function_of([x], "D", env.bind(times=20 * self.times(d), nest=1), b)
        two, of_two = self.function_of([x, k], "D", env.bind(times=10, nest=1), c)
        terms = [f"foldl {self.pick(['min', 'max'])} 0.5 {v} * {size} {l}", f"sum (map (\\{x} -> {x} * {size} {l}) {v})", f"(if sum {v} > 0.5 then {size} {l} else sum {v})",
                 f"foldl (\\s {x} -> 0.5 * s + (if {x} > 0.25 then foldl max 0.0 {v} * {x} else {size} {l})) 0.125 {v}", f"{size} {l} * {size} {r}",
                 f"(let {{ {x} = {size} {l}; {k} = if length {v} > 0 then {v} ! 0 else 0.5 }} in $2)", f"sum (zipWith (*) {v} (reverse {v}))"]
        term = " + ".join(f"{self.pick(terms)}" for _ in range(self.rng.randint(1, 3)))
        form = (f"let {{ {size} {l} = case {l} of {{ [] -> 0.75; ({v} : {r}) -> sum (map (\\{x} -> $1) {v}) + 0.5 * {size} {r} }}; "
                f"{go} {l} = case {l} of {{ [] -> 1.0; ({v} : {r}) -> 0.25 * ({term}) + 0.5 * {go} {r} }} }} in {go} [map (\\{x} -> {x} * {k}) $0 | {k} <- {self.pick(['[1.0]', '[1.0, 0.5]', '[0.5, 2.0, 1.5]'])}]")
        return E(t, form, [self.e(("A", "D", d), env, a), one, two], {1: of_one, 2: of_two})

    @makes("D", 0.6)
    def changing_shapes(self, t, env, n):
        """A matrix that a loop carries, with another number of rows or columns from step to step."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=60)):
            return None
        a, b = self.split(n, 2)
        v, m, x, y, k, i = (self.name(prefix) for prefix in ("v", "m", "x", "y", "n", "i"))
        two, binds = self.function_of([x, y], "D", env.bind(times=60 * self.times(d), nest=1), b)
        value = lambda p, q: f"let {{ {y} = {m} ! {p} ! {q} }} in $1"
        steps = [f"build (length ({m} ! 0)) (\\{i} -> build (length {m}) (\\j -> {value('j', i)}))",
                 f"build (length ({m} ! 0)) (\\{i} -> build 3 (\\j -> {value('0', i)}))",
                 f"build 1 (\\{i} -> map (\\{y} -> $1) (last {m}))", f"update {m} 0 (map (\\{y} -> $1) ({m} ! (length {m} - 1)))",
                 f"[|map (\\{y} -> $1) ({m} ! 0) ++ [|{x}|]|]", f"update [|{m} ! 0|] 0 ({m} ! 0 ++ [|{x} * 0.5|])",
                 f"map (\\{v} -> take 2 (map (\\{y} -> $1) {v})) {m}", f"transpose {m}", f"map (map (\\{y} -> $1)) {m} ++ [|{m} ! 0|]"]
        step = self.pick([self.pick(steps), f"if even (length {m}) then {self.pick(steps)} else {self.pick(steps)}"])
        whole = f"(\\{m} -> sum (map sum {m}) + {m} ! 0 ! 0) (foldl (\\{m} {x} -> {step}) (build {self.pick('123')} (\\{i} -> map (* (1.0 + 0.25 * fromIntegral {i})) {v})) (take 3 {v}))"
        return E(t, f"let {{ {v} = $0; {k} = length {v} }} in if {k} == 0 then 0.5 else {whole}", [self.e(("A", "D", d), env, a), two], {1: binds})

    @makes("D", 0.6)
    def as_long_as_the_shorter(self, t, env, n):
        """Maps, of which a loop that ends with the shorter reads all or a part."""
        d, o = self.dim(env), self.dim(env)
        if not self.affordable(d, env) or not self.affordable(o, env):
            return None
        a, b, c, g = self.split(n, 4)
        x, y, u, w = self.name("x"), self.name("y"), self.name("v"), self.name("w")
        times = max(self.times(d), self.times(o))
        inner = env.bind(times=times, nest=1)
        one, of_one = self.function_of([x], "D", inner, a)
        both, of_both = self.function_of([x, y], "D", inner, b)
        arrays = [self.e(("A", "D", d), env, c), self.e(("A", "D", o), env, g)]
        kids, binds = [*arrays, one, both], {2: of_one, 3: of_both}
        if self.chance(0.5):
            over = self.pick([f"sum (zipWith (\\{x} {y} -> $3) (map (\\{x} -> $2) (toList $0)) (toList $1))",
                              f"foldl (+) 0.0 (zipWith (\\{x} {y} -> $3) (toList $1) (map (\\{x} -> $2) (toList $0)))",
                              f"sum [$3 | ({x}, {y}) <- zip [$2 | {x} <- toList $0] (toList $1)]"])
            return E(t, over, kids, binds)
        rest = self.pick(["", "", f" + sum {u}", f" + fromIntegral (length {u})", f" + sum (map sin {w})"])
        form = (f"let {{ {u} = map (\\{x} -> $2) $0; {w} = $1 }} in "
                f"sum (build (min (length {u}) (length {w})) (\\i -> let {{ {x} = {u} ! i; {y} = {w} ! i }} in $3)){rest}")
        return E(t, form, kids, binds)

    @makes("L", 1.0)
    def list_recursion(self, t, env, n):
        """A local function on a list that gives a list: by one element, by several, or with what is left of it."""
        if t[1] not in ("D", "I"):
            return None
        a, b, c = self.split(n, 3)
        u = t[1]
        go, x, y, r = self.name("go"), self.name("x"), self.name("y"), self.name("r")
        inner = env.bind([(x, u)] * 2, times=8, nest=1)
        one = self.wrapped(u, self.e(u, inner, b))
        test = self.e("B", inner, min(c, 2))
        two = self.wrapped(u, self.e(u, inner.bind([(y, u)] * 2), b))
        form = self.pick([
            "let { GO [] = []; GO (X : R) = $1 : GO R } in GO $0",
            "let { GO [] = []; GO (X : R) | $2 = $1 : GO R | otherwise = GO R } in GO $0",
            "let { GO [] = []; GO (X : R) | $2 = X : R | otherwise = $1 : GO R } in GO $0",
            "let { GO [] = []; GO (X : R) | $2 = X : R | otherwise = X : GO (map (\\X -> $1) R) } in GO (take 6 $0)",
            "let { GO [] = []; GO (X : R) = X : GO [$1 | X <- R, $2] } in GO (take 6 $0)",
            "let { GO (X : Y : R) = $3 : GO R; GO R = R } in GO $0",
            "let { GO (X : Y : R) = $3 : GO (Y : R); GO _ = [] } in GO $0",
            "let { GO (X : R@(Y : _)) | $2 = $3 : GO R | otherwise = GO R; GO R = R } in GO $0",
            "let { GO done [] = reverse done; GO done (X : R) = GO ($1 : done) R } in GO [] $0",
            "let { GO k [] = []; GO k (X : R) = if k <= 0 then X : R else $1 : GO (k - 1) R } in GO 3 $0",
            "let { GO R = case splitAt 2 R of { ([], _) -> []; (f, g) -> sum f : GO g } } in GO $0",
            "let { GO [] = []; GO R = map (\\X -> $1) (take 2 R) ++ GO (drop 2 R) } in GO $0",
            "map sum (let { GO [] = []; GO R = take 3 R : GO (drop 3 R) } in GO (map (\\X -> $1) $0))",
            "concatMap (\\X -> if $2 then [X, $1] else [X]) $0",
            "[$3 | (X, Y) <- zip $0 (drop 1 $0)]",
            "takeWhile (\\X -> $2) (map (\\X -> $1) $0)",
        ]).replace("GO", go).replace("X", x).replace("Y", y).replace("R", r)
        return E(t, form, [self.e(t, env, a), one, test, two], {1: [(x, u)], 2: [(x, u)], 3: [(x, u), (y, u)]})

    @makes("D", 0.8)
    def list_consumer(self, t, env, n):
        """A local function that goes through a list, with what is left of it or with the element before."""
        a, b, c = self.split(n, 3)
        go, x, y, s, r = self.name("go"), self.name("x"), self.name("y"), self.name("s"), self.name("r")
        inner = env.bind([(x, "D"), (s, "D")], times=8, nest=1)
        one = self.wrapped("D", self.e("D", inner, b))
        test = self.e("B", inner, min(c, 2))
        start = self.e("D", env, 1)
        form = self.pick([
            "let { GO S [] = S; GO S (X : R) = GO $1 R } in GO $3 $0",
            "let { GO S [] = S; GO S (X : R) | $2 = GO $1 R | otherwise = S } in GO $3 $0",
            "let { GO S [] = S; GO S (X : R) = GO ($1 + 0.1 * fromIntegral (length R)) R } in GO $3 $0",
            "let { GO [] = $3; GO (X : R) = let { S = GO R } in $1 } in GO $0",
            "let { GO _ [] = $3; GO S (X : R) = $1 + 0.5 * GO X R } in GO 0.5 $0",
            "let { GO [X] = X; GO (X : Y : R) = GO (X * 0.5 + Y : R); GO [] = $3 } in GO $0",
            "let { GO [] = $3; GO R@(X : Y) = 0.5 * sum R + 0.25 * GO Y } in GO (take 6 $0)",
            "USE (let { GO [] = []; GO R@(X : Y) = let { S = fromIntegral (length R) } in $1 : GO Y } in GO (take 6 $0))",
            "USE (let { GO [] = []; GO (X : R) = (let { S = 0.5 } in $1) : GO R } in GO (reverse (GO (take 6 $0))))",
            "USE (let { GO [] = []; GO (X : R) = let { GO' [] = GO R; GO' (S : Y) = ($1 + fromIntegral (length Y)) : GO' Y } in GO' [X, 0.25] } in GO (take 6 $0))",
            "USE (let { GO [] = []; GO (X : R) = let { S = sum (GO (take 1 R)) } in if $2 then $1 : GO R else GO R } in GO (take 4 $0))",
            "let { GO _ [] = $3; GO S (X : R) = let { Y = 0.5 * sin ($1) } in let { z = GO (Y * Y + Y) R } in 0.5 * z * Y + 1.0 } in GO 0.5 $0",
            "let { GO _ [] = $3; GO S (X : R) = let { (Y, z) = if $2 then (sin $1, X) else (X, 0.5) } in z + 0.25 * GO (Y * z) R } in GO 0.5 $0",
            "foldr (\\X S -> $1) $3 $0",
            "foldl (\\S X -> if $2 then $1 else S) $3 $0",
            "sum (zipWith3 (\\X S z -> $1 + z) $0 (scanl (+) $3 $0) $0)",
            "snd (foldl (\\(X, S) z -> (z, $1)) ($3, 0.5) $0)",
            "sum (map (\\(X, S) -> $1) (zip $0 (map (* 0.5) $0)))",
            "sum (map sum [map (\\X -> let { S = 0.5 } in $1) row | row <- [take 2 $0, drop 2 $0, [$3]]])",
        ]).replace("USE", self.pick(["sum", "(foldr (\\p q -> p + 0.5 * q) 0.0)", "(\\l -> if null l then 0.5 else head l)", "(fromIntegral . length)", "(sum . map (* 0.5))"]))
        form = form.replace("GO", go).replace("X", x).replace("Y", y).replace("S", s).replace("R", r)
        return E(t, form, [self.e(("L", "D"), env, a), one, test, start], {1: [(x, "D"), (s, "D")], 2: [(x, "D"), (s, "D")]})

    @makes("D", 0.6)
    def growing(self, t, env, n):
        """An array that a fold makes longer, and what each step makes of all of it."""
        d = self.dim(env)
        if not self.affordable(d, env.bind(times=60)):
            return None
        a, b = self.split(n, 2)
        v, x, y, k = (self.name(prefix) for prefix in ("v", "x", "y", "k"))
        one, binds = self.function_of([x, y], "D", env.bind(times=20 * self.times(d), nest=1), b)
        whole = self.pick([f"sum (grad (\\w -> sum w * sum w) {v})", f"snd (jvp (\\w -> sum (map (\\z -> z * z) w)) {v} {v})", f"sum ([|{v}, update {v} 0 0.25|] ! 1)", f"fromIntegral (length {v})",
                           f"{v} ! (length {v} - 1)", f"sum {v}", f"sum (map (* 0.5) {v})", f"withVjp sum (\\w -> (sum w, \\e -> replicate (length w) (3.0 * e))) {v}"])
        step = self.pick([f"snoc {v} (let {{ {y} = {whole} }} in $1)", f"({v} ++ [|let {{ {y} = {whole} }} in $1|])", f"(let {{ {y} = {whole} }} in {v} ++ [|$1|])"])
        plain = f"{self.pick(['sum', 'sum', 'last'])} (foldl (\\{v} {x} -> {step}) [|0.5|] (take 5 $0))"
        counted = f"(let {{ ({v}, {k}) = foldl (\\({v}, {k}) {x} -> ({step.replace('let {', f'let {{ z = fromIntegral {k};')}, length {v})) ([|0.5|], 7) (take 5 $0) }} in sum {v} + fromIntegral {k})"
        return E(t, self.pick([plain, plain, counted]), [self.e(("A", "D", d), env, a), one], {1: binds})

    @makes("A", 0.6)
    def slopes(self, t, env, n):
        """Derivatives in a map, of functions with branches and small vectors: what one sweep keeps, the other takes."""
        t = self.known(t, env)
        if t[1] != "D" or not self.affordable(t[2], env.bind(times=8)):
            return None
        a, b, c = self.split(n, 3)
        x, y, m = self.name("x"), self.name("y"), self.name("m")
        inner = env.bind([(x, "D")] * 2, times=8 * self.times(t[2]), nest=1)
        one, test = self.e("D", inner, b), self.e("B", inner, min(c, 2))
        two, of_two = self.function_of([x, y], "D", env.bind(times=8 * self.times(t[2]), nest=1), c)
        kids, binds = [self.e(t, env, a), one, test, two], {1: [(x, "D")], 2: [(x, "D")], 3: of_two}
        form = self.pick([
            f"map (diff (\\{x} -> if $2 then $1 else 0.5 * {x})) $0",
            f"map (diff (\\{x} -> if $2 then let {{ {y} = sin {x} }} in $3 else {x} * {x})) $0",
            f"map (\\{x} -> let {{ {m} = if $2 then Just ($1) else Nothing }} in case {m} of {{ Just {y} -> $3; Nothing -> {x} }}) $0",
            f"map (\\{x} -> let {{ {m} = if $2 then Just ($1, 3, {x}) else Nothing; z = {x} + 1.0 }} in if $2 then (case {m} of {{ Just ({y}, k, w) -> $3 + fromIntegral k * w; Nothing -> -1.0 }}) else z) $0",
            f"map (diff (\\{x} -> let {{ {m} = [|{x}, $1, 2.0|]; {y} = {m} ! 1 }} in if $2 then $3 + sum (update {m} 0 {y}) else sum {m})) $0",
            f"map (\\{x} -> let {{ {m} = update (update [|{x}, 1.0, 2.0|] 1 ($1)) 2 {x}; {y} = {m} ! 2 }} in $3 + {m} ! 1) $0",
            f"map (\\{x} -> grad (\\v -> let {{ {y} = v ! 0; {x} = v ! 1 }} in if $2 then $3 else {y} * v ! 1) [|{x}, 0.5|] ! 0) $0",
        ])
        return E(t, form, kids, binds)

    @makes("D", 1.0)
    def scan_of_parts(self, t, env, n):
        """A scan whose value has several parts, of which some are looked at."""
        d = self.dim(env)
        if not self.affordable(d, env):
            return None
        types = [self.pick(["D", "D", "D", "I", ("A", "D", None)]) for _ in range(self.rng.randint(2, 4))]
        s = [self.name(self.short(u)) for u in types]
        x = self.name("x")
        binds = [*zip(s, types), (x, "D")]
        budgets = self.split(n, 2 * len(types) + 2)
        inner = env.bind(binds, times=self.times(d), nest=1)
        kids = [self.e(("A", "D", d), env, budgets[0])] + [self.e(u, env, m) for u, m in zip(types, budgets[1:])]
        steps = [self.wrapped(u, self.e(u, inner, m)) for u, m in zip(types, budgets[1 + len(types):])]
        used = [(name, u) for name, u in zip(s, types) if self.chance(0.5)]
        used = used[:len(s) - 1]
        for i, (name, u) in enumerate(zip(s, types)):  # a part that is not looked at, but that one needs that is
            others = [other for other, v in zip(s, types) if v == "D" and (other, v) not in used]
            if (name, u) in used and u == "D" and others and self.chance(0.7):
                steps[i] = E("D", self.pick(["($0 + 0.5 * $1)", "($0 * 0.5 - $1)", "($0 + 0.1 * sin $1)"]), [steps[i], E("D", self.pick(others))])
        last = self.wrapped("D", self.e("D", env.bind(used * 2, times=self.times(d), nest=1), budgets[-1]))
        starts = ", ".join(f"${1 + i}" for i in range(len(types)))
        nexts = ", ".join(f"${1 + len(types) + i}" for i in range(len(types)))
        last_kid = f"${1 + 2 * len(types)}"
        parts, seen = ", ".join(s), ", ".join(name if (name, u) in used else "_" for name, u in zip(s, types))
        scanned = self.pick([f"scanl (\\({parts}) {x} -> ({nexts})) ({starts}) $0", f"scanr (\\{x} ({parts}) -> ({nexts})) ({starts}) $0"])
        form = self.pick(["sum", "sum", "head", "last", "foldl (\\a z -> 0.5 * a + z) 0.0"]) + f" (map (\\({seen}) -> {last_kid}) ({scanned}))"
        where = {i: binds for i in range(1 + len(types), 1 + 2 * len(types))}
        where[1 + 2 * len(types)] = used
        return E(t, form, kids + steps + [last], where)
