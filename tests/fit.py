#!/usr/bin/env python3
"""cotan fit against closed forms, and what may go wrong with it.

    tests/fit.py [--cotan PATH]
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = """
import Statistics (softplus)

data Line = Line { slope :: Double, offset :: Double, kind :: Int, weights :: Array Float }
data Point = Point { x :: Double, y :: Double, n :: Int, on :: Bool }

line :: Line -> Array Point -> Double
line l points = sum (map one points) / 2 + sum (map (\\w -> toDouble (w * w)) (weights l))
  where one p = if on p then (slope l * x p + offset l - y p) ^ 2 else 0

mean :: Double -> Array Double -> Double
mean m value = sum (map (\\v -> (v - m) ^ 2) value) / (2 * toDouble (length value))

points :: Double -> Array Double -> Array (Double, Double, Double)
points m value = zipWith (\\i v -> (fromIntegral (negate i), v, m)) (iota (length value)) value

rosenbrock :: (Double, Double) -> Double
rosenbrock (a, b) = (1 - a) ^ 2 + 100 * (b - a * a) ^ 2

low = (-2, -2) :: (Double, Double)
high = (0.5, 2) :: (Double, Double)
wrongWay = (1, 3) :: (Double, Double)

disc :: (Double, Double) -> Double
disc (a, b) = a * a + b * b - 1

both :: (Double, Double) -> Array Double
both (a, b) = [|a - b, a + b - 1|]

twoWells :: Double -> Double
twoWells a = (a * a - 4) ^ 2 + a

pairs :: Double -> (Array Double, Array Double) -> Double
pairs a x = (a - sum (fst x)) ^ 2 + sum (snd x)

twice :: Double -> Array Point -> Array Point -> Double
twice a left right = sum (map x left) * a ^ 2 + sum (map x right)

someWells :: Double -> Array Double -> Double
someWells a xs = sum (map (\\x -> x * twoWells a) xs)

below :: Double -> Double
below a = a - 100

squares, ten, over, under, large :: (Double, Double) -> Double
squares (a, b) = a * a + b * b
ten (a, b) = a * b - 10
over (a, _) = 1 - a
under (a, _) = a + 1
large (a, _) = a ^ 3 - 2e15

corner :: (Double, Double) -> Array Double
corner (a, b) = [|a + b - 1, a - 0.2|]

quartic :: (Double, Double) -> Double
quartic (a, b) = exp (a - 1) - a + (b + 2) ^ 4 + 100

point' = 3 :: Double

p', p'', dy' :: Double -> Double
p' a = (a - 5) ^ 2
p'' a = p' a
dy' a = a - point'

data1' :: Double -> Array Double -> Double
data1' a xs = sum (map (\\x -> x * p' a) xs)

valley, canyon, narrow :: (Double, Double) -> Double
valley (a, b) = (0.1 * a + 0.3 * b - 1) ^ 2
canyon (a, b) = (3 * a + 0.1 * b - 1) ^ 2
narrow (a, b) = (a + b - 1) ^ 2 / 2 + 1e-10 * (a - b) ^ 2 / 4

valleys :: (Double, Double) -> Array Double -> Double
valleys (a, b) xs = sum (map (\\x -> (0.1 * x * a + 0.3 * x * b - 2 * x) ^ 2) xs)

stairs :: Double -> Double
stairs a = fromIntegral (abs (round (10 * a) - 70))

flat :: (Double, Double) -> Double
flat (a, _) = a * a

logOf :: Double -> Double
logOf a = a - log a

nowhere :: Double -> Double
nowhere a = sqrt (a - 2)

kink :: (Double, Double) -> Double
kink (a, b) = sqrt (a * a) + (b - 1) ^ 2

root :: Double -> Array Double -> Double
root a xs = sum (map (\\x -> x * sqrt (a * a)) xs)

steep :: Double -> Double
steep a = log 1 + exp a

fails :: Double -> Array Double -> Double
fails a xs = if a < 1 then xs ! 9 else a * a

forever :: Double -> Double
forever a = if go 0 > a then a else a
  where go k = if k < 0 then k else go (k + 1) :: Double

lists :: Double -> [Double] -> Double
lists a xs = a + sum xs

notReal :: Int -> Double
notReal = toDouble

"""
passed = failed = 0


def expect(what, holds, shown=""):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}: {shown}")


class Command:
    LONGEST = 60

    def __init__(self, cotan, folder):
        self.cotan, self.folder = cotan, folder

    def raw(self, *words, **more):
        return subprocess.run([self.cotan, "fit", "fit.cot", *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=self.LONGEST, **more)

    def found(self, what, *words, status=0):
        done = self.raw(*words, "--json")
        expect(f"{what}: exit status", done.returncode == status, f"{done.returncode} {done.stderr}")
        try:
            return json.loads(done.stdout)
        except ValueError:
            expect(f"{what}: JSON", False, done.stdout + done.stderr)
            return {"parameters": None, "value": math.nan, "steps": 0, "ending": "", "gradient": math.nan, "errors": None}

    def refused(self, what, pattern, *words, status=2):
        done = self.raw(*words)
        expect(what, done.returncode == status and re.search(pattern, done.stderr), f"{done.returncode} {done.stdout}{done.stderr}")
        expect(f"{what}: nothing else", done.returncode != 0, done.stdout)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()


def near(a, b, tolerance=1e-6):
    if isinstance(b, dict):
        return all(near(a[key], b[key], tolerance) for key in b)
    if isinstance(b, (list, tuple)):
        return a is not None and len(a) == len(b) and all(near(x, y, tolerance) for x, y in zip(a, b))
    return a is not None and abs(a - b) <= tolerance * max(1, abs(b))


def csv_of(rows):
    return "x,y,n,on\n" + "".join(f"{x!r},{y!r},{n},{on}\n" for x, y, n, on in rows)


def least_squares(rows):
    used = [(x, y) for x, y, _, on in rows if on]
    count, sx, sy = len(used), sum(x for x, _ in used), sum(y for _, y in used)
    sxx, sxy = sum(x * x for x, _ in used), sum(x * y for x, y in used)
    slope = (count * sxy - sx * sy) / (count * sxx - sx * sx)
    offset = (sy - slope * sx) / count
    det = count * sxx - sx * sx
    return slope, offset, math.sqrt(count / det), math.sqrt(sxx / det)


def check_csv(command):
    source = random.Random(7)
    rows = [(source.uniform(-1, 1), source.gauss(0, 1), source.randrange(9), source.random() < 0.8) for _ in range(40)]
    slope, offset, slope_error, offset_error = least_squares(rows)
    start = '{"slope": 0, "offset": 0, "kind": 3, "weights": [0.5, 0.25]}'
    command.write("points.csv", csv_of(rows))
    for method in ("lbfgs", "slsqp", "newton", "adam", "nelder-mead"):
        found = command.found(f"a line by {method}", "line", "--start", start, "--data", "@points.csv", "--method", method, "--steps",
                              "20000", *(("--rate", "0.02") if method == "adam" else ()))
        tolerance = 1e-3 if method in ("adam", "nelder-mead") else 1e-6
        expect(f"a line by {method}", near(found["parameters"], {"slope": slope, "offset": offset}, tolerance), found)
        expect(f"{method} leaves integers alone", found["parameters"]["kind"] == 3, found)
        expect(f"{method} fits Floats", near(found["parameters"]["weights"], [0, 0], 1e-2), found)
    found = command.found("standard errors", "line", "--start", start, "--data", "@points.csv", "--errors")
    expect("standard errors", near(found["errors"], {"slope": slope_error, "offset": offset_error}), found)
    # the same data in other forms
    as_json = json.dumps([dict(zip(("x", "y", "n", "on"), row)) for row in rows])
    command.write("points.json", as_json)
    command.write("mark.csv", "\ufeff" + csv_of(rows))
    command.write("mark.json", "\ufeff" + as_json)
    command.write("crlf.csv", csv_of(rows).replace("\n", "\r\n"))
    command.write("order.csv", "".join(",".join([line.split(",")[1], '"a ""b"", c"', *reversed(line.split(",")[2:]), line.split(",")[0]])
                                       + "\n" for line in csv_of(rows).split("\n")[:-1]).replace('"a ""b"", c"', "other", 1))
    for name in ("points.json", "mark.csv", "mark.json", "crlf.csv", "order.csv"):
        again = command.found(name, "line", "--start", start, "--data", "@" + name)
        expect(f"{name} gives the same", near(again["parameters"], found["parameters"], 1e-9), again)
    head = "x,y,n,on\n"
    for name, text, pattern in (
            ("number.csv", head + "1,2,3,true\n1,two,3,true\n", r"number\.csv, row 3, column `y`: expected a number, found `two`"),
            ("integer.csv", head + "1,2,3.5,true\n", r"row 2, column `n`: expected an integer, found `3\.5`"),
            ("big.csv", head + "1,2,99999999999999999999,true\n", r"column `n`: expected an integer"),
            ("truth.csv", head + "1,2,3,yes\n", r"column `on`: expected True or False, found `yes`"),
            ("short.csv", head + "1,2,3\n", r"row 2 has 3 fields, and the first row has 4"),
            ("long.csv", head + "1,2,3,1,5\n", r"row 2 has 5 fields"),
            ("missing.csv", "x,y,on\n1,2,1\n", r"missing\.csv has no column `n`"),
            ("twice.csv", "x,x,y,n,on\n1,1,2,3,1\n", r"two columns `x`"),
            ("empty.csv", "", r"empty\.csv has no column `x`"),
            ("head.csv", head, r"head\.csv has no rows"),
            ("blank.csv", head + "1,,3,1\n", r"column `y`: expected a number, found ``"),
            ("quote.csv", head + '1,"2,3,1\n', r"quote\.csv, row 2"),
            ("nul.csv", head + "1,2\x00,3,1\n", r"NUL")):
        command.write(name, text)
        command.refused(name, pattern, "line", "--start", start, "--data", "@" + name)
    command.refused("no such file", "nosuch", "line", "--start", start, "--data", "@nosuch.csv")
    command.write("values.csv", "other,value\na,1\nb,2.5\nc,4\n")
    found = command.found("a column of a parameter's name", "mean", "--start", "0", "--data", "@values.csv")
    expect("the mean", near(found["parameters"], 2.5), found)
    command.write("pair.csv", "x,y,n,on\n1,2,3,true\n3,4,5,true\n")
    for loss in ("pairs", "twice"):
        command.refused(f"{loss}: one column for two parts", r"of the data would both take the column `x`", loss, "--start", "0", "--data",
                        "@pair.csv")


def check_batches(command):
    source = random.Random(3)
    values = [source.gauss(5, 1) for _ in range(500)]
    command.write("many.csv", "value\n" + "".join(f"{v!r}\n" for v in values))
    for method, rate in (("sgd", "0.02"), ("adam", "0.02")):
        words = ("mean", "--start", "0", "--data", "@many.csv", "--method", method, "--batch", "32", "--steps", "1500", "--rate", rate)
        found = command.found(f"batches by {method}", *words)
        expect(f"batches by {method}", near(found["parameters"], sum(values) / 500, 0.05), found)
        expect(f"the value of all rows by {method}",
               near(found["value"], sum((v - found["parameters"]) ** 2 for v in values) / 1000, 1e-9), found)
        again = command.found(f"batches by {method}, again", *words)
        expect(f"the same seed, the same numbers by {method}", again["parameters"] == found["parameters"], again)
        other = command.found(f"batches by {method}, another seed", *words, "--seed", "5")
        expect(f"another seed, other numbers by {method}", other["parameters"] != found["parameters"], other)


def check_bounds(command):
    for method in ("lbfgs", "slsqp", "newton"):
        found = command.found(f"Rosenbrock by {method}", "rosenbrock", "--start", "[-1.2, 1]", "--method", method)
        expect(f"Rosenbrock by {method}", near(found["parameters"], [1, 1], 1e-5) and found["value"] < 1e-10, found)
    for method in ("lbfgs", "slsqp"):
        found = command.found(f"bounds by {method}", "rosenbrock", "--start", "[-1, 1]", "--method", method, "--lower", "low", "--upper", "high")
        expect(f"bounds by {method}", near(found["parameters"], [0.5, 0.25], 1e-5), found)
    found = command.found("a disc", "rosenbrock", "--start", "[0, 0]", "--method", "slsqp", "--constraint", "disc")
    # the minimum on the unit disc, from the literature on tests of optimisation
    expect("a disc", near(found["parameters"], [0.7864, 0.6177], 1e-3), found)
    found = command.found("equalities", "rosenbrock", "--start", "[0, 0]", "--method", "slsqp", "--equality", "both")
    expect("equalities", near(found["parameters"], [0.5, 0.5], 1e-5), found)
    found = command.found("an expression", "rosenbrock", "--start", "[0, 0]", "--upper", "(0.25, 1)")
    expect("an expression", near(found["parameters"], [0.25, 0.0625], 1e-5), found)
    for loss in ("p'", "p''", "data1'"):
        words = ("--data", "[1, 2]") if loss == "data1'" else ()
        found = command.found(f"a loss called {loss}", loss, "--start", "1", *words, "--upper", "point'")
        expect("names of the program are the program's", near(found["parameters"], 3), found)
    found = command.found("a constraint called dy'", "p'", "--start", "1", "--method", "slsqp", "--equality", "dy'")
    expect("a constraint called dy'", near(found["parameters"], 3), found)
    found = command.found("one well", "twoWells", "--start", "1.9")
    expect("one well", near(found["parameters"], 1.9671, 1e-2), found)
    found = command.found("restarts", "twoWells", "--start", "1.9", "--restarts", "10", "--lower", "-4", "--upper", "4")
    expect("restarts find the lower well", near(found["parameters"], -2.0306, 1e-2), found)
    command.refused("a constraint that is not met", "the constraint `corner` is not met: it is off by 5$", "squares", "--start", "[3, 3]", "--method",
                    "slsqp", "--equality", "ten", "--constraint", "corner", status=1)
    for other in ("under", "corner"):
        found = command.found("constraints that contradict each other", "squares", "--start", "[0, 0]", "--method", "slsqp", "--constraint",
                              f"over,{other}", status=1)
        expect("constraints that contradict each other", found["ending"] == "the constraints are not met", found)
    found = command.found("a constraint of large numbers", "squares", "--start", "[126000, 0]", "--method", "slsqp", "--equality", "large")
    expect("a constraint of large numbers", near(found["parameters"][0] ** 3, 2e15), found)
    found = command.found("a method that has lost its way ends", "squares", "--start", "[9e4, 1]", "--method", "slsqp", "--equality", "large", status=1)
    expect("a method that has lost its way ends", found["steps"] <= 1000, found)
    for k in range(1, 7):
        found = command.found(f"{k} restarts", "twoWells", "--start", "-1.9", "--method", "slsqp", "--constraint", "below", "--restarts", str(k),
                              "--lower", "-4", "--upper", "4")
        expect(f"{k} restarts keep the lower well within constraints", near(found["parameters"], -2.0306, 1e-2), found)
        found = command.found(f"{k} restarts", "someWells", "--start", "-1.9", "--data", "[1, 1, 1, 1]", "--method", "adam", "--batch", "2", "--rate",
                              "0.05", "--steps", "300", "--restarts", str(k), "--lower", "-4", "--upper", "4")
        expect(f"{k} restarts keep the lower well of batches", near(found["parameters"], -2.0306, 1e-2), found)
    found = command.found("steps of the best", "twoWells", "--start", "-2.03", "--restarts", "3")
    alone = command.found("the best alone", "twoWells", "--start", "-2.03")
    expect("steps of the best", found["steps"] == alone["steps"] and near(found["parameters"], -2.0306, 1e-2), (found, alone))
    command.refused("bounds the wrong way", "lower bound, 1, above the upper, 0.5", "rosenbrock", "--start", "[0, 0]", "--lower", "wrongWay",
                    "--upper", "high")
    for bound in ("--lower", "--upper"):
        command.refused(f"a NaN as {bound}", "number 2 of the bounds `.1, 0 / 0.` is NaN", "rosenbrock", "--start", "[0, 0]", bound, "(1, 0 / 0)")
    command.refused("bounds of another type", "E03", "rosenbrock", "--start", "[0, 0]", "--lower", "disc", status=1)
    command.refused("newton takes no bounds", "newton takes no bounds", "rosenbrock", "--start", "[0, 0]", "--method", "newton", "--lower", "low")
    command.refused("lbfgs takes no constraints", "takes no constraints", "rosenbrock", "--start", "[0, 0]", "--constraint", "disc")
    done = command.raw("rosenbrock", "--start", "[0, 0]", "--engine", "native", env=dict(os.environ, COTAN_NATIVE="off"))
    expect("a note where there is no native code", done.returncode == 0 and "note: the evaluator runs this: " in done.stderr, done.stderr)
    done = command.raw("rosenbrock", "--start", "[0, 0]", "--engine", "native")
    expect("no note where there is", done.returncode == 0 and done.stderr == "", done.stderr)
    command.refused("lbfgs takes no rate", "takes no --rate", "rosenbrock", "--start", "[0, 0]", "--rate", "3")
    command.refused("lbfgs takes no batches", "takes no --batch", "rosenbrock", "--start", "[0, 0]", "--batch", "3")


def check_ends(command):
    found = command.found("few steps", "rosenbrock", "--start", "[-1.2, 1]", "--steps", "5")
    expect("few steps", found["steps"] == 5 and "--steps" in found["ending"], found)
    for rate in ("1e8", "1e10"):
        found = command.found(f"a descent that diverges, at the rate {rate}", "p'", "--start", "0", "--method", "sgd", "--rate", rate, status=1)
        expect(f"a descent that diverges, at the rate {rate}", "not a finite number" in found["ending"] and found["gradient"] == 10, found)
    found = command.found("a descent that comes near", "p'", "--start", "0", "--method", "sgd", "--rate", "0.3")
    expect("a descent that comes near", found["ending"] == "converged" and abs(found["gradient"]) <= 1e-8, found)
    found = command.found("a line search around NaN", "logOf", "--start", "5")
    expect("a line search around NaN", near(found["parameters"], 1), found)
    done = command.raw("nowhere", "--start", "1")
    expect("NaN at the start", done.returncode == 1 and "not a finite number" in done.stdout + done.stderr, done.stdout + done.stderr)
    expect("its place", "E0515]: sqrt (-1.0) is NaN" in done.stderr and "nowhere a = sqrt (a - 2)" in done.stderr, done.stderr)
    done = command.raw("root", "--start", "0", "--data", "[4]")
    expect("the place of a NaN in the gradient", "the gradient holds NaN" in done.stderr and "E0515]: 0.0 * Infinity is NaN" in done.stderr, done.stderr)
    for method in ("lbfgs", "newton", "adam"):
        done = command.raw("kink", "--start", "[0, 1]", "--method", method)
        expect(f"a NaN before a number in the gradient, by {method}", done.returncode == 1 and "E0515" in done.stderr, done.stdout + done.stderr)
    done = command.raw("steep", "--start", "1000", "--method", "sgd", "--json")
    expect("the place of an infinity", '"code":"E0515"' in done.stderr and "exp 1000.0 is Infinity" in done.stderr, done.stderr)
    done = command.raw("fails", "--start", "3", "--data", "[1, 2]")
    expect("the program fails", done.returncode == 1 and "E0501" in done.stderr and "fit.cot" in done.stderr, done.stderr)
    done = command.raw("flat", "--start", "[1, 1]", "--errors")
    expect("no standard errors", done.returncode == 3 and "E0711" in done.stderr and "parameters = (" in done.stdout, done.stdout + done.stderr)
    found = command.found("a loss of steps", "stairs", "--start", "0", "--method", "nelder-mead", "--log", "stairs.csv")
    expect("a loss of steps", abs(found["parameters"] - 7) <= 0.05 and found["value"] == 0 and found["ending"] == "converged", found)
    expect("no gradients in its log", all(line.split(",")[2] == "" for line in command.read("stairs.csv").split()[1:]), command.read("stairs.csv"))
    found = command.found("no gradient at the start", "kink", "--start", "[0, 0]", "--method", "nelder-mead")
    expect("no gradient at the start", near(found["parameters"], [0, 1], 1e-5), found)
    done = command.raw("logOf", "--start", "-1", "--method", "nelder-mead")
    expect("NaN at the start of a simplex", done.returncode == 1 and "E0515" in done.stderr, done.stdout + done.stderr)
    for loss, *data in (("valley",), ("valleys", "--data", "[1, 2, 3.5, 0.7, 2.9]"), ("canyon",)):
        command.refused(f"no standard errors of {loss}", "E0711", loss, "--start", "[0, 0]", *data, "--errors", status=3)
    narrow = command.found("standard errors of a narrow valley", "narrow", "--start", "[0.5, 0.5]", "--errors", "--method", "newton")
    expect("standard errors of a narrow valley", near(narrow["errors"], [0.5 ** 0.5 * 1e5, 0.5 ** 0.5 * 1e5], 1e-3), narrow)
    began = time.time()
    found = command.found("a time limit", "rosenbrock", "--start", "[-1.2, 1]", "--method", "sgd", "--rate", "1e-9", "--steps", "1000000000",
                          "--time", "0.5")
    expect("a time limit", "--time" in found["ending"] and time.time() - began < 60, found)
    running = subprocess.Popen([command.cotan, "fit", "fit.cot", "rosenbrock", "--start", "[-1.2, 1]", "--method", "sgd", "--rate", "1e-9",
                                "--steps", "1000000000", "--json", "--log", "long.csv"], cwd=command.folder, stdout=subprocess.PIPE, text=True)
    for _ in range(600):
        time.sleep(0.1)
        if os.path.exists(os.path.join(command.folder, "long.csv")) and len(command.read("long.csv")) > 1000:
            break
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    expect("Ctrl-C gives the best point", running.returncode == 1 and json.loads(out or "{}").get("ending") == "interrupted", out)


def check_files(command):
    words = ("rosenbrock", "--start", "[-1.2, 1]")
    done = command.found("a log", *words, "--log", "log.csv", "--out", "point.json", "--checkpoint", "state")
    lines = command.read("log.csv").split("\n")
    expect("a log", lines[0] == "step,value,gradient,seconds" and len(lines) == done["steps"] + 2, lines[:3])
    expect("--out", json.loads(command.read("point.json")) == done["parameters"], command.read("point.json"))
    again = command.found("--start @FILE", "rosenbrock", "--start", "@point.json")
    expect("--start @FILE", again["steps"] <= 2 and near(again["parameters"], [1, 1]), again)
    again = command.found("a checkpoint", *words, "--checkpoint", "state")
    expect("a checkpoint goes on", again["steps"] <= done["steps"] + 2 and near(again["parameters"], [1, 1]), again)
    half = command.found("half", *words, "--method", "newton", "--steps", "6", "--checkpoint", "half")
    rest = command.found("the other half", *words, "--method", "newton", "--checkpoint", "half")
    whole = command.found("the whole", *words, "--method", "newton")
    expect("Newton goes on as if never stopped", rest["parameters"] == whole["parameters"] and half["value"] > rest["value"], (half, rest, whole))
    for name, *other in (("within", "quartic", "--start", "[0, 0]", "--tolerance", "1e-14"),
                         ("late", "rosenbrock", "--start", "[-1.2, 1]", "--method", "sgd", "--rate", "1e-9", "--time", "0.001", "--steps", "99"),
                         ("failing", "fails", "--start", "3", "--data", "[1, 2]")):
        command.raw(*other, "--checkpoint", name)
        expect(f"a checkpoint at the end, {name}", os.path.exists(os.path.join(command.folder, name)))
    done = command.raw("rosenbrock", "--start", "[0, 0]", "--checkpoint", "/nosuch/file")
    expect("no place for a checkpoint", done.returncode == 2 and "cannot be written" in done.stderr, done.stderr)
    command.write("spoilt", "cotan fit 1\nsteps 3\n")
    command.refused("a spoilt checkpoint", "is not a checkpoint", *words, "--checkpoint", "spoilt")
    if os.path.exists("/dev/full"):
        done = command.raw(*words, "--log", "/dev/full")
        expect("no room for the log", done.returncode == 2 and "/dev/full cannot be written" in done.stderr and "converged" in done.stdout, done.stderr)
    if shutil.which("gnuplot"):
        expect("--plot", command.raw(*words, "--plot", "a'b.svg").returncode == 0 and "<svg" in command.read("a'b.svg"))
        done = command.raw("mean", "--start", "0", "--data", "[3, 1, 2]", "--plot", "both.svg", "--plot-model", "points")
        expect("--plot-model", done.returncode == 0 and ">data<" in command.read("both.svg") and ">model<" in command.read("both.svg"), done.stderr)
    else:
        print("skipped: --plot, since gnuplot is not installed")
    command.refused("a model that is no points", "takes what the loss does", "mean", "--start", "0", "--data", "[1]", "--plot", "x.svg",
                    "--plot-model", "mean")
    command.refused("a model that there is not", "nosuch", "mean", "--start", "0", "--data", "[1]", "--plot", "x.svg", "--plot-model", "nosuch", status=1)
    command.refused("a model without a picture", "drawn by --plot", "mean", "--start", "0", "--data", "[1]", "--plot-model", "points")
    done = command.raw("mean", "--start", "0", "--data", "[" + "1," * 50000 + "1]", "--plot", "both.svg", "--plot-model", "points",
                       env=dict(os.environ, PATH="/nowhere"))
    expect("--plot-model without gnuplot", done.returncode == 2 and "E0706" in done.stderr and "parameters" in done.stdout, done.stderr)
    done = command.raw(*words, "--plot", "descent.svg", "--engine", "eval", env=dict(os.environ, PATH="/nowhere"))
    expect("--plot without gnuplot", done.returncode == 2 and "E0706" in done.stderr and "parameters" in done.stdout, done.stderr)


def inverse(rows):
    """The inverse of a small matrix, by Gauss and Jordan with pivots."""
    n = len(rows)
    rows = [list(row) + [float(i == k) for k in range(n)] for i, row in enumerate(rows)]
    for i in range(n):
        best = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i])]
    return [row[n:] for row in rows]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def recurrence(period, decay, mean):
    """u(t) = constant + a1 u(t - 1) + a2 u(t - 2) of the oscillator in examples/fit/sunspots.cot."""
    radius = math.exp(-1 / decay)
    a1, a2 = 2 * radius * math.cos(2 * math.pi / period), -radius * radius
    return mean * (1 - a1 - a2), a1, a2


def check_sunspots(command):
    """The likelihood has its maximum where the regression on the two years before has its least squares; and Yule's numbers are near."""
    examples = os.path.join(ROOT, "examples", "fit")
    with open(os.path.join(examples, "sunspots.csv")) as file:
        u = [float(line.split(",")[1]) for line in file.read().split()[1:]]
    done = subprocess.run([command.cotan, "fit", "sunspots.cot", "loss", "--start", "@guess.json", "--data", "@sunspots.csv", "--errors", "--json"],
                          cwd=examples, capture_output=True, text=True, timeout=300)
    expect("sunspots: exit status", done.returncode == 0, done.stderr)
    found = json.loads(done.stdout)
    place = [found["parameters"][name] for name in ("period", "decay", "mean")]
    rows = [(1, u[t - 1], u[t - 2]) for t in range(2, len(u))]
    information = product(list(zip(*rows)), rows)
    covariance = inverse(information)
    best = [row[0] for row in product(covariance, product(list(zip(*rows)), [[x] for x in u[2:]]))]
    expect("sunspots: least squares", near(recurrence(*place), best, 1e-6), (recurrence(*place), best))
    squares = sum((x - sum(a * b for a, b in zip(best, row))) ** 2 for x, row in zip(u[2:], rows)) / len(rows)
    expect("sunspots: the shocks", near(found["parameters"]["shock"], math.sqrt(squares)), found)
    # standard errors of the regression, carried over to the oscillator by the inverse of the Jacobian
    step = 1e-6
    columns = []
    for k in range(3):
        up, down = ([x + sign * step * (i == k) for i, x in enumerate(place)] for sign in (1, -1))
        columns.append([(a - b) / (2 * step) for a, b in zip(recurrence(*up), recurrence(*down))])
    back = inverse(list(zip(*columns)))
    spread = product(product(back, [[squares * x for x in row] for row in covariance]), list(zip(*back)))
    errors = [math.sqrt(spread[k][k]) for k in range(3)] + [math.sqrt(squares / (2 * len(rows)))]
    expect("sunspots: standard errors", near([found["errors"][name] for name in ("period", "decay", "mean", "shock")], errors, 1e-5), (found, errors))
    # Yule took serial correlations, which weigh the first and last years otherwise: his numbers are about a tenth of a standard error away
    expect("sunspots: Yule's coefficients", near(recurrence(*place)[1:], (1.34254, -0.65504), 0.01), recurrence(*place))
    expect("sunspots: Yule's period", abs(place[0] - 10.600) < 0.05 < errors[0] / 10, place)
    expect("sunspots: Yule's mean", near(sum(u) / len(u), 44.784, 1e-4) and abs(place[2] - 44.78) < errors[2] / 5, place)


def check_words(command):
    for what, pattern, words, status in (
            ("no start", "--start", ("rosenbrock",), 2),
            ("no such method", "there is no method `bfgs`", ("rosenbrock", "--start", "[0, 0]", "--method", "bfgs"), 2),
            ("no such loss", "does not define `nosuch`", ("nosuch", "--start", "0"), 2),
            ("no function", "is not a function", ("low", "--start", "0"), 2),
            ("data for none", "takes nothing but the parameters", ("rosenbrock", "--start", "[0, 0]", "--data", "[1]"), 2),
            ("no data", "give them as --data", ("mean", "--start", "0"), 2),
            ("a wrong start", r"--start: expected .*found the string", ("rosenbrock", "--start", '"a"'), 2),
            ("wrong data", r"--data: expected", ("mean", "--start", "0", "--data", '"a"'), 2),
            ("nothing to fit", "no real numbers", ("notReal", "--start", "3"), 2),
            ("lists", "E0613", ("lists", "--start", "0", "--data", "[1]"), 2),
            ("no Double", "E03", ("both", "--start", "[0, 0]"), 1),
            ("a bad tolerance", "--tolerance takes", ("rosenbrock", "--start", "[0, 0]", "--tolerance", "-1"), 2),
            ("a bad rate", "--rate takes", ("rosenbrock", "--start", "[0, 0]", "--rate", "x", "--method", "sgd"), 2),
            ("a bad seed", "--seed takes", ("rosenbrock", "--start", "[0, 0]", "--seed", "-1"), 2),
            ("no place for the log", "cannot be written", ("rosenbrock", "--start", "[0, 0]", "--log", "/nosuch/log"), 2)):
        command.refused(what, pattern, *words, status=status)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    folder = tempfile.mkdtemp(prefix="cotan-fit-")
    command = Command(os.path.abspath(parser.parse_args().cotan), folder)
    try:
        command.write("fit.cot", PROGRAM)
        for check in (check_csv, check_batches, check_bounds, check_ends, check_files, check_sunspots, check_words):
            check(command)
    finally:
        shutil.rmtree(folder)
    print(f"fits: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
