#!/usr/bin/env python3
"""cotan gradbench: every function of every eval, at a small size and through the protocol, against formulas written here and their finite
differences; timings; and messages that nobody means well, none of which may end the process.

    tests/gradbench.py [--cotan PATH] [--programs FOLDER] [--quick]

--quick leaves out the evals that take long to compile.
"""
import argparse
import copy
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SLOW = ["ht", "saddle", "particle"]
passed = failed = 0


def report(what, fault):
    global passed, failed
    if fault is None:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}: {fault}"[:600], flush=True)


class Tool:
    def __init__(self, cotan, *words):
        self.process = subprocess.Popen([cotan, "gradbench", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0

    def line(self, text):
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def send(self, kind, **message):
        self.id += 1
        answer = self.line(json.dumps({"id": self.id, "kind": kind, **message}))
        if answer.get("id") != self.id:
            raise ValueError(f"an answer to {answer.get('id')}, and not to {self.id}")
        return answer

    def evaluate(self, module, function, point, **runs):
        if isinstance(point, dict):
            point = {**point, **runs}
        return self.send("evaluate", module=module, function=function, input=point)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


# ---- numbers ----

RANDOM = random.Random(7)


def vector(n, low=-1.0, high=1.0):
    return [RANDOM.uniform(low, high) for _ in range(n)]


def matrix(n, m, low=-1.0, high=1.0):
    return [vector(m, low, high) for _ in range(n)]


def flat(value):
    """The numbers of a value, from left to right; of an object by the names of its members."""
    if isinstance(value, dict):
        return [x for key in sorted(value) for x in [key, *flat(value[key])]]
    if isinstance(value, list):
        return ["[", *(x for part in value for x in flat(part)), "]"]
    return [value]


def difference(found, wanted, tolerance):
    """What is different, or None: names and brackets, and numbers beyond the tolerance, relative to the larger of them and 1."""
    found, wanted = flat(found), flat(wanted)
    if len(found) != len(wanted):
        return f"{len(found)} parts, expected {len(wanted)}"
    for at, (a, b) in enumerate(zip(found, wanted)):
        if isinstance(b, str) or isinstance(a, str) or isinstance(b, bool):
            if a != b:
                return f"part {at} is {a}, expected {b}"
        elif not abs(a - b) <= tolerance * max(1, abs(a), abs(b)):
            return f"number {at} is {a}, expected {b}"
    return None


def slope(f, point, places, step=1e-5):
    """The derivative of f, a number or a list of them, as places of the point move together, by central differences of the fourth order."""
    def at(distance):
        moved = copy.deepcopy(point)
        for *path, last in places:
            inner = moved
            for key in path:
                inner = inner[key]
            inner[last] += distance
        value = f(moved)
        return value if isinstance(value, list) else [value]
    rows = [at(k * step) for k in (-2, -1, 1, 2)]
    slopes = [(a - 8 * b + 8 * c - d) / (12 * step) for a, b, c, d in zip(*rows)]
    return slopes


def gradient(f, point, value, path=()):
    """The derivative of a number by all numbers of a part of the point, in its structure."""
    if isinstance(value, list):
        return [gradient(f, point, part, (*path, i)) for i, part in enumerate(value)]
    return slope(f, point, [path])[0]


def dot(u, v):
    return sum(a * b for a, b in zip(u, v))


# ---- the evals: functions of their inputs ----

def llsq(given):
    x, n = given["x"], given["n"]
    total = 0
    for i in range(n):
        t = -1 + 2 * i / (n - 1)
        total += ((t > 0) - (t < 0) - sum(c * t**j for j, c in enumerate(x))) ** 2
    return total / 2


def logsumexp(x):
    m = max(x)
    return m + math.log(sum(math.exp(v - m) for v in x))


def det(given):
    side = given["ell"]
    a = [given["A"][i * side:(i + 1) * side] for i in range(side)]
    sign = 1
    product = 1
    for i in range(side):
        pivot = max(range(i, side), key=lambda r: abs(a[r][i]))
        if pivot != i:
            a[i], a[pivot], sign = a[pivot], a[i], -sign
        product *= a[i][i]
        for r in range(i + 1, side):
            k = a[r][i] / a[i][i]
            a[r] = [u - k * v for u, v in zip(a[r], a[i])]
    return sign * product


def ode(given):
    x, s = given["x"], given["s"]
    n, h = len(x), 2 / s
    f = lambda y: [x[0]] + [x[i] * y[i - 1] for i in range(1, n)]
    y = [0.0] * n
    for _ in range(s):
        k1 = f(y)
        k2 = f([a + h / 2 * b for a, b in zip(y, k1)])
        k3 = f([a + h / 2 * b for a, b in zip(y, k2)])
        k4 = f([a + h * b for a, b in zip(y, k3)])
        y = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
    return y


def gmm(given):
    d, n, k, m, gamma = given["d"], given["n"], given["k"], given["m"], given["gamma"]
    factors = []
    for q, l in zip(given["q"], given["l"]):
        rows = [[0.0] * d for _ in range(d)]
        below = iter(l)
        for c in range(d):
            rows[c][c] = math.exp(q[c])
            for r in range(c + 1, d):
                rows[r][c] = next(below)
        factors.append(rows)
    total = -n * (d / 2 * math.log(2 * math.pi) + logsumexp(given["alpha"]))
    for x in given["x"]:
        terms = []
        for alpha, mu, q, rows in zip(given["alpha"], given["mu"], given["q"], factors):
            v = [a - b for a, b in zip(x, mu)]
            terms.append(alpha - sum(dot(row, v) ** 2 for row in rows) / 2 + sum(q))
        total += logsumexp(terms)
    nu = d + m + 1
    log_gamma = d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma(nu / 2 - j / 2) for j in range(d))
    total += k * (nu * d * math.log(gamma / math.sqrt(2)) - log_gamma)
    total -= gamma**2 / 2 * sum(v * v for rows in factors for row in rows for v in row)
    return total + m * sum(map(sum, given["q"]))


def kmeans(given):
    return sum(min(sum((a - b) ** 2 for a, b in zip(c, p)) for c in given["centroids"]) for p in given["points"])


def direction(given):
    """Half of the gradient over the number of points that are nearest: the centroid less the mean of these points."""
    nearest = [[] for _ in given["centroids"]]
    for p in given["points"]:
        nearest[min(range(len(nearest)), key=lambda j: sum((a - b) ** 2 for a, b in zip(given["centroids"][j], p)))].append(p)
    return [[a - sum(p[i] for p in near) / len(near) for i, a in enumerate(c)] for c, near in zip(given["centroids"], nearest)]


def lstm(given):
    main, extra, sequence = given["main_params"], given["extra_params"], given["sequence"]
    state = copy.deepcopy(given["state"])
    sigmoid = lambda v: 1 / (1 + math.exp(-v))
    b, total = len(sequence[0]), 0
    for now, wanted in zip(sequence, sequence[1:]):
        x = [u * v for u, v in zip(now, extra[0])]
        for layer in range(len(main) // 2):
            w, bias, hidden, cell = main[2 * layer], main[2 * layer + 1], state[2 * layer], state[2 * layer + 1]
            for i in range(b):
                sums = [v * w[g * b + i] + bias[g * b + i] for g, v in enumerate([x[i], hidden[i], x[i], hidden[i]])]
                cell[i] = cell[i] * sigmoid(sums[0]) + sigmoid(sums[1]) * math.tanh(sums[3])
                hidden[i] = sigmoid(sums[2]) * math.tanh(cell[i])
            x = hidden
        y = [u * v + c for u, v, c in zip(x, extra[1], extra[2])]
        scale = math.log(2 + sum(map(math.exp, y)))
        total += sum(u * (v - scale) for u, v in zip(wanted, y))
    return -total / (b * (len(sequence) - 1))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def projection(given):
    """The two errors of an observation."""
    cam = given["cam"]
    v, r = [a - b for a, b in zip(given["x"], cam[3:6])], cam[:3]
    angle = math.sqrt(dot(r, r))
    if angle == 0:
        v = [a + b for a, b in zip(v, cross(r, v))]
    else:
        u = [a / angle for a in r]
        c, s, along = math.cos(angle), math.sin(angle), dot(u, v) * (1 - math.cos(angle))
        v = [a * c + b * s + d * along for a, b, d in zip(v, cross(u, v), u)]
    p = [v[0] / v[2], v[1] / v[2]]
    square = dot(p, p)
    bent = [a * (1 + cam[9] * square + cam[10] * square**2) for a in p]
    return [given["w"] * (a * cam[6] + b - f) for a, b, f in zip(bent, cam[7:9], given["feat"])]


def ba(given):
    return {"reproj_error": {"elements": projection(given), "repeated": given["p"]},
            "w_err": {"element": 1 - given["w"] ** 2, "repeated": given["p"]}}


def ba_jacobian(given):
    n, m, p = given["n"], given["m"], given["p"]
    columns = [("cam", i) for i in range(11)] + [("x", i) for i in range(3)] + [("w",)]
    block = list(zip(*(slope(projection, given, [path]) for path in columns)))
    rows, cols, vals = [0], [], []
    for i in range(p):
        for row in block:
            rows.append(rows[-1] + 15)
            cols += [11 * (i % n) + j for j in range(11)] + [11 * n + 3 * (i % m) + j for j in range(3)] + [11 * n + 3 * m + i]
            vals += row
    for i in range(p):
        rows.append(rows[-1] + 1)
        cols.append(11 * n + 3 * m + i)
        vals.append(-2 * given["w"])
    return {name: numbers[:30] + numbers[-1:] for name, numbers in [("rows", rows), ("cols", cols), ("vals", vals)]}


def times(a, b):
    return [[dot(row, column) for column in zip(*b)] for row in a]


def turned(axis, angle):
    """The rotation about a coordinate axis, in homogeneous coordinates."""
    out = [[float(i == j) for j in range(4)] for i in range(4)]
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out[i][i] = out[j][j] = math.cos(angle)
    out[j][i] = math.sin(angle)
    out[i][j] = -math.sin(angle)
    return out


def about(r):
    """The rotation about an axis: the exponential of its cross product."""
    angle = math.sqrt(dot(r, r))
    u = [a / angle for a in r]
    k = [[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]]
    square = times(k, k)
    return [[(i == j) + math.sin(angle) * k[i][j] + (1 - math.cos(angle)) * square[i][j] for j in range(3)] for i in range(3)]


def ht(given):
    theta, data, us = given["theta"], given["data"], given["us"]
    model = data["model"]
    bends = {2 + 4 * finger + joint: [theta[6 + 4 * finger + joint + (joint > 0)], theta[7 + 4 * finger] if joint == 0 else 0]
             for finger in range(5) for joint in range(3)}
    absolutes = []
    for bone, (parent, relative) in enumerate(zip(model["parents"], model["base_relatives"])):
        flexion, spread = bends.get(bone, (0, 0))
        posed = times(relative, times(turned(2, spread), turned(0, flexion)))
        absolutes.append(posed if parent == -1 else times(absolutes[parent], posed))
    transforms = [times(a, b) for a, b in zip(absolutes, model["inverse_base_absolutes"])]
    whole = about(theta[:3])
    vertices = []
    for position, weights in zip(model["base_positions"], model["weights"]):
        at = [sum(w * dot(t[i], position) for w, t in zip(weights, transforms)) for i in range(3)]
        if model["is_mirrored"]:
            at[0] = -at[0]
        vertices.append([dot(row, at) + shift for row, shift in zip(whole, theta[3:6])])
    errors = []
    for i, (index, point) in enumerate(zip(data["correspondences"], data["points"])):
        if us:
            a, b, c = (vertices[v] for v in model["triangles"][index])
            u, v = us[i]
            at = [u * x + v * y + (1 - u - v) * z for x, y, z in zip(a, b, c)]
        else:
            at = vertices[index]
        errors += [p - q for p, q in zip(point, at)]
    return errors


def ht_jacobian(given):
    columns = [slope(ht, given, [("us", i, j) for i in range(len(given["us"]))]) for j in range(2 if given["us"] else 0)]
    columns += [slope(ht, given, [("theta", i)]) for i in range(26)]
    return [list(row) for row in zip(*columns)]


def hand(on_triangles, mirrored):
    near = lambda: [[(i == j) + RANDOM.uniform(-0.2, 0.2) for j in range(4)] for i in range(3)] + [[0, 0, 0, 1.0]]
    model = {"bone_count": 22, "bone_names": [f"bone {i}" for i in range(22)],
             "parents": [-1] + [0 if i % 4 == 0 else i for i in range(20)] + [0],
             "base_relatives": [near() for _ in range(22)], "inverse_base_absolutes": [near() for _ in range(22)],
             "base_positions": [[*vector(3), 1.0] for _ in range(9)], "weights": matrix(9, 22, 0, 0.1),
             "triangles": [RANDOM.sample(range(9), 3) for _ in range(7)], "is_mirrored": mirrored}
    return {"theta": vector(26), "us": matrix(4, 2, 0, 0.5) if on_triangles else [],
            "data": {"model": model, "correspondences": [RANDOM.randrange(7) for _ in range(4)], "points": matrix(4, 3)}}


def mixture(d, k, n, m=0, gamma=1.0):
    return {"d": d, "k": k, "n": n, "x": matrix(n, d), "m": m, "gamma": gamma, "alpha": vector(k), "mu": matrix(k, d, 0),
            "q": matrix(k, d), "l": matrix(k, d * (d - 1) // 2)}


def network(layers, characters, bits):
    return {"main_params": matrix(2 * layers, 4 * bits), "extra_params": matrix(3, bits), "state": matrix(2 * layers, bits),
            "sequence": matrix(characters, bits, 0)}


def scene(n, m, p, rotation=(0.1, -0.2, 0.3)):
    return {"n": n, "m": m, "p": p, "cam": [*rotation, 0.1, 0.2, -3.0, 5.0, 0.3, -0.2, 0.01, -0.002], "x": vector(3), "w": 0.9,
            "feat": vector(2)}


EXACT, DIFFERENCES = 1e-11, 1e-7


def cases():
    """module, function, input, expected, tolerance"""
    yield "hello", "square", 1.5, 2.25, 0
    yield "hello", "double", 1.5, 3.0, 0
    for n, m in [(30, 4), (2, 1), (17, 9)]:
        point = {"x": vector(m), "n": n}
        yield "llsq", "primal", point, llsq(point), EXACT
        yield "llsq", "gradient", point, gradient(llsq, point, point["x"], ("x",)), DIFFERENCES
    for x in [vector(9), [800.0, 801.0, -800.0], [2.0]]:
        yield "lse", "primal", {"x": x}, logsumexp(x), EXACT
        yield "lse", "gradient", {"x": x}, [math.exp(v - logsumexp(x)) for v in x], EXACT
    for side in (1, 2, 5):
        point = {"A": vector(side * side), "ell": side}
        yield "det", "primal", point, det(point), EXACT
        yield "det", "gradient", point, gradient(det, point, point["A"], ("A",)), DIFFERENCES
    for n, s in [(7, 3), (1, 1), (40, 20)]:
        point = {"x": vector(n), "s": s}
        yield "ode", "primal", point, ode(point), EXACT
        yield "ode", "gradient", point, gradient(lambda p: ode(p)[-1], point, point["x"], ("x",)), DIFFERENCES
    x = vector(4)  # polynomials up to the fourth degree are exact: yi = x0 … xi 2^(i + 1) / (i + 1)!
    y = [math.prod(x[:i + 1]) * 2 ** (i + 1) / math.factorial(i + 1) for i in range(4)]
    yield "ode", "primal", {"x": x, "s": 3}, y, EXACT
    yield "ode", "gradient", {"x": x, "s": 3}, [y[3] / v for v in x], EXACT
    for point in [mixture(3, 4, 7), mixture(1, 2, 3, m=2, gamma=0.7), mixture(11, 3, 5, m=1, gamma=1.5)]:
        yield "gmm", "objective", point, gmm(point), EXACT
        yield "gmm", "jacobian", point, {name: gradient(gmm, point, point[name], (name,)) for name in ["alpha", "mu", "q", "l"]}, DIFFERENCES
    for n, k, d in [(30, 3, 4), (20, 1, 1), (50, 9, 11)]:
        points = matrix(n, d)
        point = {"points": points, "centroids": [[v + 0.01 for v in p] for p in points[-k:]]}
        yield "kmeans", "cost", point, kmeans(point), EXACT
        yield "kmeans", "dir", point, direction(point), EXACT
    for point in [network(2, 4, 3), network(1, 2, 1), network(3, 5, 11)]:
        yield "lstm", "objective", point, lstm(point), EXACT
        wanted = [gradient(lstm, point, point[name], (name,)) for name in ["main_params", "extra_params"]]
        yield "lstm", "jacobian", point, [x for part in wanted for row in part for x in row], DIFFERENCES
    for point in [scene(3, 4, 7), scene(1, 1, 1), scene(2, 3, 20, (0.0, 0.0, 0.0))]:
        yield "ba", "objective", point, ba(point), EXACT
        if any(point["cam"][:3]): # where the axis has no direction, differences are of the other branch
            yield "ba", "jacobian", point, ba_jacobian(point), DIFFERENCES
    for point in [hand(False, False), hand(True, False), hand(False, True)]:
        yield "ht", "objective", point, ht(point), EXACT
        yield "ht", "jacobian", point, ht_jacobian(point), DIFFERENCES
    for function in ["ff", "fr", "rf", "rr"]:  # what the papers' programs give; the true answers are 0, and 0 for w's distance
        yield "saddle", function, {"start": [1.0, 1.0]}, [8.246324826140356e-06] * 4, 1e-12
        yield "particle", function, {"w": 0.0}, 0.2071918746486116, 1e-8


def check_values(tool, quick):
    defined = {}
    for module, function, point, wanted, tolerance in cases():
        if quick and module in SLOW:
            continue
        if module not in defined:
            answer = tool.send("define", module=module)
            defined[module] = answer["success"]
            sound = answer["success"] and answer["timings"][0]["name"] == "build" and answer["timings"][0]["nanoseconds"] > 0
            report(f"{module}: define", None if sound else answer)
        answer = tool.evaluate(module, function, point)
        fault = difference(answer["output"], wanted, tolerance) if answer["success"] else answer["error"]
        report(f"{module}: {function}", fault)


def check_timings(tool):
    point = {"x": vector(1000)}
    for runs, seconds in [(1, 0), (7, 0), (1, 0.02), (3, 0.01)]:
        answer = tool.evaluate("lse", "gradient", point, min_runs=runs, min_seconds=seconds)
        times = [entry["nanoseconds"] for entry in answer["timings"] if entry["name"] == "evaluate"]
        sound = len(times) >= runs and sum(times) >= seconds * 1e9 and min(times) >= 0 and len(times) == len(answer["timings"])
        report(f"timings of {runs} runs and {seconds} s", None if sound else times[:10])
    only = tool.evaluate("lse", "primal", point)
    report("timings where the input asks for none", None if len(only["timings"]) == 1 else only["timings"])
    report("start", difference(tool.send("start", eval="lse"), {"id": tool.id, "tool": "cotan"}, 0))
    report("analysis", difference(tool.send("analysis", of=1, valid=True), {"id": tool.id}, 0))


def hostile(quick):
    """Lines, and what the answer's error has in it."""
    evaluate = lambda module, function, point: json.dumps({"id": 1, "kind": "evaluate", "module": module, "function": function, "input": point})
    for line in ["", " ", "x", "[", "{", "}", "[]", "{}x", '{"id":1', '{"id":1,"kind":"define","module":"hello"', '{"id":1,}', '{"id":1 "kind":2}',
                 '"', '"\\', '{"a\\', '{"a":"\\u12', "\0", '{"id":\0}', "{" * 100000, "[" * 100000, '{"id":' + "[" * 100000, '{"id":1,"kind":]}']:
        yield line, "not a JSON object"
    yield b'{"\xff":1}', "`kind`"
    yield b"\xff\xfe", "not a JSON object"
    for kind in ["1", "null", '"end"', '"Define"', '"define\\u0000"', "[]"]:
        yield f'{{"id":1,"kind":{kind}}}', "`kind`"
    yield '{"id":1}', "`kind`"
    for module in ["null", "1", '""', '"/etc/passwd"', '"../gradbench/hello"', '"hello\\u0000"', '"' + "x" * 100000 + '"', "{}"]:
        yield f'{{"id":1,"kind":"define","module":{module}}}', "`module`"
        yield f'{{"id":1,"kind":"evaluate","module":{module},"function":"square","input":1}}', "`module`"
    yield '{"id":1,"kind":"define"}', "`module`"
    yield '{"id":1,"kind":"define","module":"nothing"}', "no module `nothing`"
    yield '{"id":1,"kind":"evaluate","module":"nothing","function":"square","input":1}', "no module `nothing`"
    yield '{"id":1,"kind":"evaluate","module":"hello","function":"square"}', "`input` is missing"
    yield '{"id":1,"kind":"evaluate","module":"hello","input":1}', "`function`"
    for function in ["cube", "map", "jacobian", "input", "Square", "x'"]:
        yield evaluate("hello", function, 1), "has no function"
    yield evaluate("hello", "1 + 1", 1), "`function`"
    for point in [None, True, "x", [], [1], {}, {"x": 1}, [[1]]]:
        yield evaluate("hello", "square", point), "E0601"
    yield '{"id":1,"kind":"evaluate","module":"hello","function":"square","input":NaN}', "E0602"
    yield '{"id":1,"kind":"evaluate","module":"hello","function":"square","input":tru}', "E0602"
    yield '{"id":1,"kind":"evaluate","module":"hello","function":"square","input":' + "[" * 5000 + "]" * 5000 + "}", "E0602"
    yield '{"id":1,"kind":"evaluate","module":"hello","function":"square","input":{"a":1,"a":1}}', "E0602"
    for point in [1, [], {"n": 3}, {"x": [1]}, {"x": 1, "n": 3}, {"x": ["a"], "n": 3}, {"x": [[1]], "n": 3}, {"x": [1], "n": 1.5}, {"x": [1], "n": "3"}]:
        yield evaluate("llsq", "primal", point), "E0601"
    yield evaluate("llsq", "primal", {"x": [1], "n": -3}), "E05"
    for runs in [{"min_runs": "many"}, {"min_runs": -1}, {"min_seconds": None}, {"min_seconds": [1]}]:
        yield evaluate("llsq", "primal", {"x": [1], "n": 3, **runs}), "`min_"
    yield evaluate("lse", "gradient", {"x": []}), "E05"
    yield evaluate("det", "gradient", {"A": [1, 2, 3], "ell": 2}), "E0501"
    yield evaluate("ode", "gradient", {"x": [], "s": 1}), "E05"
    yield evaluate("gmm", "objective", {**mixture(2, 2, 2), "l": [[1], []]}), "E0601"
    yield evaluate("gmm", "objective", {**mixture(2, 2, 2), "l": [[], []]}), "E05"
    yield evaluate("gmm", "jacobian", {**mixture(2, 2, 2), "mu": [[1, 2, 3], [1, 2, 3]]}), "E05"
    yield evaluate("kmeans", "dir", {"points": [[1, 2]], "centroids": [[1]]}), "E05"
    yield evaluate("kmeans", "cost", {"points": [[1, 2]], "centroids": []}), "E05"
    yield evaluate("lstm", "jacobian", {**network(1, 3, 2), "state": [[1], [1]]}), "E05"
    yield evaluate("ba", "objective", scene(0, 1, 1)), "E05"
    yield evaluate("ba", "jacobian", scene(1, 1, -1)), "E05"
    yield evaluate("ba", "jacobian", {**scene(1, 1, 1), "cam": [1]}), "E0501"
    yield evaluate("ba", "objective", {**scene(1, 1, 1), "p": 10**17}), "E0"
    yield evaluate("llsq", "gradient", {"x": [1], "n": 2**70}), "E0601"
    if not quick:
        broken = hand(False, False)
        broken["data"]["correspondences"] = [0, 1, 2, 100]
        yield evaluate("ht", "jacobian", broken), "E0501"
        yield evaluate("ht", "objective", {**hand(True, False), "us": [[1]]}), "E0501"
        yield evaluate("particle", "rr", {"w": 1e6}), "does not come down"
        yield evaluate("saddle", "ff", {"start": [1]}), "E0501"


def check_hostile(tool, quick):
    for line, wanted in hostile(quick):
        answer = tool.line(line)
        sound = answer.get("success") is False and wanted in answer.get("error", "")
        report(f"the line {str(line)[:120]}", None if sound else answer)
    report("the process still answers", difference(tool.send("start"), {"id": tool.id, "tool": "cotan"}, 0))
    large = tool.evaluate("lse", "primal", {"x": [0.0] * 10**6})
    report("a line of 5 MB", difference(large.get("output", 0), math.log(10**6), EXACT))
    many = tool.send("analysis", of=1, valid=False, message="x\\\"" * 10**6)
    report("a message of 4 MB", difference(many, {"id": tool.id}, 0))


PROGRAMS = {
    "wrong": "primal :: Int -> Int\nprimal x = x + 'a'\n",
    "functions": "primal :: Double -> Double -> Double\nprimal x y = x * y\ngradient :: Double -> (Double, Double -> Double)\ngradient x = (x, (* x))\n",
    "lists": "data Input = Input { rows :: [[Double]], names :: [String] }\nprimal :: Input -> Double\nprimal i = sum (map product (rows i))\n"
             "gradient :: Input -> [[Double]]\ngradient i = grad (\\m -> sum (map product m)) (rows i)\n",
    "trees": "data T = Leaf | Node T Double T\ninput :: [Double] -> T\ninput [] = Leaf\ninput (x : xs) = Node (input (take k xs)) x (input (drop k xs))\n"
             "  where k = length xs `div` 2\nprimal :: T -> T\nprimal t = case t of { Leaf -> Leaf; Node l x r -> Node (primal r) (2 * x) (primal l) }\n"
             "primalOutput :: T -> [Double]\nprimalOutput t = case t of { Leaf -> []; Node l x r -> primalOutput l ++ [x] ++ primalOutput r }\n",
    "deep": "count :: Int -> Int\ncount n = if n <= 0 then 0 else 1 + count (n - 1)\nprimal :: Int -> Int\nprimal n = count n\n",
    "converts": "input :: Array Double -> (Array Double, Int)\ninput v = (map (* 2) v, length v)\nprimal :: (Array Double, Int) -> Double\n"
                "primal (v, n) = sum v / fromIntegral n\nprimalOutput :: Double -> Array Double\nprimalOutput x = [|x, x|]\n",
    "unfit": "input :: Double -> Int\ninput x = floor x\nprimal :: Double -> Double\nprimal x = x\n",
}


def check_programs(cotan):
    """Programs that are not ours."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            with open(os.path.join(folder, name + ".cot"), "w", encoding="utf-8") as file:
                file.write(text)
        tool = Tool(cotan, "--programs", folder)
        for module, wanted in [("wrong", "E0301"), ("functions", "E0613"), ("lists", None), ("trees", None), ("hello", "no module"), ("unfit", None), ("deep", None), ("converts", None)]:
            answer = tool.send("define", module=module)
            sound = answer["success"] == (wanted is None) and (wanted is None or wanted in answer["error"])
            report(f"a program, {module}: define", None if sound else answer)
        for module, point, wanted in [("converts", [1, 2, 3], [4, 4]), ("deep", 1000, 1000), ("deep", 10**6, 10**6), ("unfit", 1, "does not take"),
                                      ("trees", [1, 2.5, 3, 4], [8, 6, 2, 5]), ("trees", [], []), ("trees", [True], "expected Double"),
                                      ("lists", {"rows": [[1, 2], [3, 4, 5], []], "names": ["a"], "more": 1}, 63)]:
            answer = tool.evaluate(module, "primal", point)
            fault = None if wanted == answer.get("output") or isinstance(wanted, str) and wanted in answer.get("error", "") else answer
            report(f"a program, {module}: evaluate", fault)
        answer = tool.evaluate("lists", "gradient", {"rows": [[1, 2], [3, 4, 5], []], "names": [], "min_runs": 3, "min_seconds": 0.001})
        times = [t["nanoseconds"] for t in answer.get("timings", [])]
        sound = answer.get("output") == [[2, 1], [20, 15, 12], []] and len(times) >= 3 and all(t > 0 for t in times)
        report("a program, lists: gradient", None if sound else answer)
        bounded = Tool(cotan, "--programs", folder, "--max-memory", "64M")
        answer = bounded.evaluate("deep", "primal", 10**9)
        report("recursion beyond all memory", None if answer["success"] is False and "E08" in answer["error"] else answer)
        report("the end of the input", None if (tool.end(), bounded.end()) == (0, 0) else "another exit status than 0")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "bench", "gradbench"))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    tool = Tool(options.cotan, "--programs", options.programs)
    check_values(tool, options.quick)
    check_timings(tool)
    check_hostile(tool, options.quick)
    report("the end of the input", None if tool.end() == 0 else "another exit status than 0")
    check_programs(options.cotan)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
