"""Random programs. A program is made from its goal: an expression of a type is a production for that type, with kids that
are made for the types that they need. Everything follows from the seed."""
from array_forms import ArrayForms
from data_forms import DataForms
from expressions import Expressions, COMMON, Call, Env, LENGTHS, LONG
from forms import Forms
from function_forms import FunctionForms
from idiom_forms import IdiomForms
from scalar_forms import ScalarForms
from tree import Dim, E, Function, Program, first_order, has_reals


class Maker(Forms, FunctionForms, IdiomForms, ScalarForms, ArrayForms, DataForms, Expressions):
    def parameter_type(self):
        r = self.rng.random()
        if self.scalar and r < 0.95:
            return "D" if r < 0.6 else "I" if r < 0.85 else ("T", "D", "D")
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
        for _ in range(self.rng.choice([1, 2, 3, 4] if self.scalar else [0, 0, 0, 1, 1, 2])):
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
