#!/usr/bin/env python3
"""bench/gradbench.py [--quick] [--seconds S] [--threads N] [EVAL…]: the evals of GradBench at growing sizes, by `cotan gradbench`, beside the functions written by hand in C
(gradbench.c), which are measured in turn with them. bench/README.md explains the table.
"""
import argparse
import array
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from ladders import duration, figures

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.environ.get("COTAN_BUILD", os.path.join(ROOT, "build"))
RANDOM = random.Random(11)
TOLERANCE = 1e-9


def vector(n, low=-1.0, high=1.0):
    return [RANDOM.uniform(low, high) for _ in range(n)]


def matrix(n, m, low=-1.0, high=1.0):
    return [vector(m, low, high) for _ in range(n)]


# ---- inputs: what the suite sends, the sizes for C, and the order of numbers there ----

def llsq(m, n):
    return {"x": vector(m), "n": n}, [m, n], ["x"]


def lse(n):
    return {"x": vector(n)}, [n], ["x"]


def det(side):
    return {"A": vector(side * side), "ell": side}, [side], ["A"]


def ode(n, s):
    return {"x": vector(n, 0), "s": s}, [n, s], ["x"]


def gmm(d, k, n):
    return ({"d": d, "k": k, "n": n, "x": matrix(n, d), "m": 0, "gamma": 1.0, "alpha": vector(k), "mu": matrix(k, d, 0), "q": matrix(k, d),
             "l": matrix(k, d * (d - 1) // 2)}, [d, k, n], ["x", "alpha", "mu", "q", "l"])


def kmeans(n, k, d):
    points = matrix(n, d, 0)
    return {"points": points, "centroids": points[-k:]}, [n, k, d], ["points", "centroids"]


def lstm(layers, characters, bits):
    return ({"main_params": matrix(2 * layers, 4 * bits), "extra_params": matrix(3, bits), "state": matrix(2 * layers, bits),
             "sequence": matrix(characters, bits, 0)}, [layers, characters, bits], ["main_params", "extra_params", "state", "sequence"])


def ba(n, m, p):
    return ({"n": n, "m": m, "p": p, "cam": [0.1, -0.2, 0.3, 0.1, 0.2, -3.0, 5.0, 0.3, -0.2, 0.01, -0.002], "x": vector(3), "w": 0.9,
             "feat": vector(2)}, [n, m, p], ["cam", "x", "w", "feat"])


def ht(vertices, points, on_triangles):
    near = lambda: [[(i == j) + RANDOM.uniform(-0.2, 0.2) for j in range(4)] for i in range(3)] + [[0.0, 0.0, 0.0, 1.0]]
    model = {"bone_count": 22, "bone_names": [f"bone {i}" for i in range(22)], "parents": [-1] + [0 if i % 4 == 0 else i for i in range(20)] + [0],
             "base_relatives": [near() for _ in range(22)], "inverse_base_absolutes": [near() for _ in range(22)],
             "base_positions": [[*vector(3), 1.0] for _ in range(vertices)], "weights": matrix(vertices, 22, 0, 0.1),
             "triangles": [RANDOM.sample(range(vertices), 3) for _ in range(2 * vertices)], "is_mirrored": False}
    data = {"model": model, "correspondences": [RANDOM.randrange(vertices) for _ in range(points)], "points": matrix(points, 3)}
    given = {"theta": vector(26), "data": data, "us": matrix(points, 2, 0, 0.5) if on_triangles else []}
    inner = ["parents", "base_relatives", "inverse_base_absolutes", "base_positions", "weights", "triangles"]
    order = ["theta", *(("data", "model", name) for name in inner), ("data", "correspondences"), ("data", "points"), "us"]
    return given, [vertices, 2 * vertices, points, int(on_triangles)], order


def saddle(x):
    return {"start": [x, x]}, None, None


def particle(w):
    return {"w": w}, None, None


# eval, function, derivatives, how inputs are made, sizes in order
EVALS = [
    ("llsq", "primal", ["gradient"], llsq, [(8, 1024), (32, 4096), (128, 16384)]),
    ("lse", "primal", ["gradient"], lse, [(1000,), (100000,), (1000000,)]),
    ("det", "primal", ["gradient"], det, [(5,), (7,), (9,)]),
    ("ode", "primal", ["gradient"], ode, [(1000, 10), (1000, 100), (10000, 100)]),
    ("gmm", "objective", ["jacobian"], gmm, [(2, 5, 1000), (10, 25, 1000), (32, 50, 1000), (64, 100, 1000)]),
    ("kmeans", "cost", ["dir"], kmeans, [(1000, 10, 8), (10000, 100, 8), (10000, 100, 16)]),
    ("lstm", "objective", ["jacobian"], lstm, [(2, 128, 14), (2, 1024, 14), (4, 1024, 14)]),
    ("ba", "objective", ["jacobian"], ba, [(5, 50, 500), (49, 7776, 31843), (372, 47423, 204472)]),
    ("ht", "objective", ["jacobian"], ht, [(544, 100, False), (544, 192, False), (10597, 100, False), (544, 100, True), (10597, 192, True)]),
    ("saddle", None, ["ff", "fr", "rf", "rr"], saddle, [(1.0,)]),
    ("particle", None, ["ff", "fr", "rf", "rr"], particle, [(0.0,)]),
]


def numbers(value):
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, dict):
        for name in value:
            yield from numbers(value[name])
    else:
        yield float(value)


class Tool:
    def __init__(self, threads):
        words = ["--threads", str(threads)] if threads > 1 else []
        self.process = subprocess.Popen([os.path.join(BUILD, "cotan"), "gradbench", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **message):
        self.process.stdin.write(json.dumps({"id": 0, **message}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if not answer["success"]:
            sys.exit(f"{message.get('module')}: {answer['error']}")
        return answer

    def time(self, module, function, given, seconds):
        """The least of the times, and the output."""
        answer = self.ask(kind="evaluate", module=module, function=function, input={**given, "min_runs": 3, "min_seconds": seconds})
        return min(entry["nanoseconds"] for entry in answer["timings"]) * 1e-9, answer["output"]


def compile_c(folder):
    target = os.path.join(folder, "gradbench")
    command = [*os.environ.get("CC", "cc").split(), "-O3", "-march=native", "-fno-math-errno", "-w", os.path.join(HERE, "gradbench.c"), "-o", target, "-lm"]
    if subprocess.run(command).returncode != 0:
        sys.exit("bench/gradbench.c does not compile")
    return target


def by_hand(program, folder, name, given, sizes, order, seconds):
    point = os.path.join(folder, "point")
    with open(point, "wb") as file:
        for path in order:
            value = given
            for key in [path] if isinstance(path, str) else path:
                value = value[key]
            array.array("d", numbers(value)).tofile(file)
    run = subprocess.run([program, name, point, str(seconds), *map(str, sizes)], capture_output=True, text=True, check=True)
    times, result = run.stdout.split("\n")[:2]
    return min(map(float, times.split())) * 1e-9, [float(x) for x in result.split()]


def agree(output, result):
    found = list(numbers(output["reproj_error"]["elements"] if isinstance(output, dict) else output))
    return all(abs(a - b) <= TOLERANCE * max(1, abs(a), abs(b)) for a, b in zip(found, result)) and len(found) > 0


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def measure(tool, program, folder, row, size, seconds):
    """The least of the times of three rounds, in which they take turns."""
    name, function, derivatives, make, _ = row
    given, sizes, order = make(*size)
    best = {}
    for _ in range(3):
        for each in ([function] if function else []) + derivatives:
            time, output = tool.time(name, each, given, seconds)
            best[each] = min(time, best.get(each, math.inf))
            if each == function and order is not None:
                time, result = by_hand(program, folder, name, given, sizes, order, seconds)
                best["C"] = min(time, best.get("C", math.inf))
                if not agree(output, result):
                    print(f"WRONG {name} at {size}: {str(output)[:60]}, by hand {str(result)[:60]}")
                    sys.exit(1)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the first size of each eval")
    parser.add_argument("--seconds", type=float, default=0.2, help="the time of a sample")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("evals", nargs="*", metavar="EVAL")
    options = parser.parse_args()
    tool = Tool(options.threads)
    print(f"{'':26}{'function':>10}{'C':>10}{'derivative':>12}  {'/ function':>10}{'/ C':>8}{'function / C':>14}")
    with tempfile.TemporaryDirectory() as folder:
        program = compile_c(folder)
        for row in EVALS:
            name, function, derivatives, _, sizes = row
            if options.evals and name not in options.evals:
                continue
            build = tool.ask(kind="define", module=name)["timings"][0]["nanoseconds"] * 1e-9
            ratios = []
            for size in sizes[:1] if options.quick else sizes:
                best = measure(tool, program, folder, row, size, options.seconds)
                for each in derivatives:
                    what = f"{name} {' '.join(map(str, size))}" if function else f"{name} {each}"
                    if not function:
                        print(f"{what:26}{'–':>10}{'–':>10}{duration(best[each]):>12}", flush=True)
                        continue
                    ratios.append((best[each] / best[function], best[each] / best["C"], best[function] / best["C"]))
                    print(f"{what:26}{duration(best[function]):>10}{duration(best['C']):>10}{duration(best[each]):>12}  {figures(ratios[-1][0]):>10}"
                          f"{figures(ratios[-1][1]):>8}{figures(ratios[-1][2]):>14}", flush=True)
            means = [figures(mean(column)) for column in zip(*ratios)]
            if means:
                print(f"{name + ', mean; built in ' + duration(build):58}  {means[0]:>10}{means[1]:>8}{means[2]:>14}", flush=True)


if __name__ == "__main__":
    main()
