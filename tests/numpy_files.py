#!/usr/bin/env python3
"""Inputs and results as .npy and .npz files, written and read here by the format's description alone (no NumPy needed):
what is read has the value that was written, spoilt files are refused with an error that says why.

    tests/numpy_files.py --cotan PATH
"""
import argparse
import ast
import io
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = """
data Model = Model { alpha :: Double, mu :: Array (Array Double), steps :: Array Int, on :: Array Bool
                   , inner :: Inner }
data Inner = Inner { pair :: (Double, [Double]) }
data Tree = Leaf | Node Tree Double Tree

model :: Model -> Model
model m = m

cost :: Model -> Double
cost (Model a m s _ (Inner (b, bs))) = a * sum (map sum m) + b * sum bs * fromIntegral (sum s)

three :: Array (Array (Array Double)) -> Array (Array (Array Double))
three xs = xs

lists :: [[Double]] -> [[Double]]
lists xs = xs

scalar :: Double -> Double
scalar x = x * x

two :: Double -> Array Double -> Double
two a xs = a * sum xs

ints :: Array Int -> Array Int
ints xs = xs

floats :: Array Float -> Array Float
floats xs = xs

bools :: Array Bool -> Array Bool
bools xs = xs

tree :: Tree -> Double
tree Leaf = 0
tree (Node l x r) = tree l + x + tree r

grow :: Double -> Tree
grow x = Node Leaf x Leaf

ragged :: Double -> [[Double]]
ragged x = [[x], [x, x]]

main = 0 :: Int
"""
CODES = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b", "<u4": "I", "<u2": "H", "|u1": "B",
         "|b1": "?"}


def flat(value):
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]


def shape_of(value):
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def fortran_order(value, shape):
    elements, out = flat(value), []
    count = len(elements)
    for k in range(count):
        index, rest = [], k
        for size in shape:
            index.append(rest % size)
            rest //= size
        place = 0
        for i, size in zip(index, shape):
            place = place * size + i
        out.append(elements[place])
    return out


def npy(value, descr="<f8", version=1, fortran=False, shape=None, header=None, cut=0, extra=b""):
    """The bytes of a file; the later arguments spoil it."""
    true_shape = shape_of(value)
    elements = fortran_order(value, true_shape) if fortran else flat(value)
    text = header or repr({"descr": descr, "fortran_order": fortran, "shape": true_shape if shape is None else shape})
    size = 4 if version > 1 else 2
    text += " " * (-(8 + size + len(text) + 1) % 64) + "\n"
    body = struct.pack("<" + CODES.get(descr, "d") * len(elements), *elements)
    out = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<I" if size == 4 else "<H", len(text)) + text.encode() + body
    return out[:len(out) - cut] + extra


def npz(compression=zipfile.ZIP_STORED, **members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", ".") + ".npy", data)
    return out.getvalue()


def parse(data):
    """The type, shape and elements of the bytes of a file."""
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length, = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0
    header = ast.literal_eval(data[10:10 + length].decode())
    assert header["fortran_order"] is False
    count = 1
    for size in header["shape"]:
        count *= size
    return header["descr"], header["shape"], list(struct.unpack("<" + CODES[header["descr"]] * count, data[10 + length:]))


class Tests:
    def __init__(self, cotan, folder):
        self.cotan, self.folder, self.passed, self.failed = cotan, folder, 0, 0
        self.program = self.file("program.cot", PROGRAM.encode())

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def run(self, *args):
        done = subprocess.run([self.cotan, *args], capture_output=True, cwd=self.folder, timeout=120)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def check(self, name, sound, told=""):
        self.passed += bool(sound)
        self.failed += not sound
        if not sound:
            print(f"FAIL {name}: {told}")

    def reads(self, name, function, data, expected):
        path = self.file("in.npz" if data[:2] == b"PK" else "in.npy", data)
        status, out, err = self.run("run", self.program, function, "--args", "@" + path, "--json")
        value = json.loads(out)["value"] if status == 0 else None
        self.check(name, value == expected, (status, out[:300], err[:300]))

    def refuses(self, name, function, data, code, words, *more):
        path = self.file("bad.npz" if data[:2] == b"PK" else "bad.npy", data)
        status, out, err = self.run("run", self.program, function, "--args", "@" + path, *more)
        sound = status in (1, 2) and f"error[{code}]" in err and words in err and out == ""
        self.check(name, sound, (status, out[:200], err[:500]))


def reading(t):
    cube = [[[float(100 * i + 10 * j + k) for k in range(4)] for j in range(3)] for i in range(2)]
    for version in (1, 2, 3):
        t.reads(f"version {version}", "three", npy(cube, version=version), cube)
    t.reads("Fortran order", "three", npy(cube, fortran=True), cube)
    t.reads("lists", "lists", npy(cube[0]), cube[0])
    t.reads("lists in Fortran order", "lists", npy(cube[1], fortran=True), cube[1])
    t.reads("no axis", "scalar", npy(3.0), 9)
    t.reads("an integer for a Double", "scalar", npy(-3, "<i4"), 9)
    for descr, values in {"<i8": [-2**63, 2**63 - 1], "<i4": [-2**31, 2**31 - 1], "<i2": [-2**15, 7], "|i1": [-128, 127],
                          "<u4": [0, 2**32 - 1], "<u2": [0, 2**16 - 1], "|u1": [0, 255]}.items():
        t.reads(f"integers {descr}", "ints", npy(values, descr), values)
    t.reads("floats", "floats", npy([0.5, -1.25], "<f4"), [0.5, -1.25])
    t.reads("a double becomes the nearest float", "floats", npy([0.1]), [0.1])
    t.reads("truth values", "bools", npy([True, False], "|b1"), [True, False])
    t.reads("nothing", "three", npy([]  , shape=(0, 3, 4)), [])
    t.reads("rows of nothing", "lists", npy([[], []], shape=(2, 0)), [[], []])
    t.reads("keys in another order", "scalar", npy(2.0, header="{'shape': (), 'fortran_order': False, 'descr': '<f8'}"), 4)
    t.reads("not a number, infinity", "floats", npy([float("inf"), float("-inf")], "<f4"), ["inf", "-inf"])
    members = dict(alpha=npy(2.0), mu=npy([[1.0, 2.0]]), steps=npy([1, 2], "<i8"), on=npy([True], "|b1"),
                   inner__pair__0=npy(1.5), inner__pair__1=npy([3.0, 4.0]))
    model = {"alpha": 2, "mu": [[1, 2]], "steps": [1, 2], "on": [True], "inner": {"pair": [1.5, [3, 4]]}}
    t.reads("a record", "model", npz(**members), model)
    t.reads("a compressed record", "model", npz(zipfile.ZIP_DEFLATED, **members), model)
    t.reads("two arguments", "two", npz(arr_0=npy(2.0), arr_1=npy([1.0, 2.0])), 6)
    t.reads("two arguments by their names", "two", npz(xs=npy([1.0, 2.0]), a=npy(2.0)), 6)
    t.reads("one argument by its name, one by its place", "two", npz(xs=npy([1.0, 2.0]), arr_0=npy(2.0)), 6)
    t.reads("one member of any name", "lists", npz(anything=npy([[1.0]])), [[1]])
    rng = random.Random(1)
    for i in range(20):
        a, b = rng.randrange(5), rng.randrange(1, 5)
        value = [[struct.unpack("<d", struct.pack("<Q", rng.getrandbits(62)))[0] for _ in range(b)] for _ in range(a)]
        t.reads(f"random {i}", "lists", npy(value, fortran=i % 2 == 1, shape=(a, b)), value)


def writing(t):
    members = npz(alpha=npy(2.0), mu=npy([[1.0, 2.0], [3.0, 4.0]]), steps=npy([1, 2], "<i8"), on=npy([True], "|b1"),
                  inner__pair__0=npy(1.5), inner__pair__1=npy([3.0, 4.0]))
    point, out = t.file("point.npz", members), os.path.join(t.folder, "out.npz")
    status, _, err = t.run("run", t.program, "model", "--args", "@" + point, "--out", out)
    t.check("a record is written", status == 0, err)
    with zipfile.ZipFile(out) as archive:
        t.check("as valid zip", archive.testzip() is None)
        got = {name: parse(archive.read(name)) for name in archive.namelist()}
    want = {"alpha.npy": ("<f8", (), [2.0]), "mu.npy": ("<f8", (2, 2), [1.0, 2.0, 3.0, 4.0]),
            "steps.npy": ("<i8", (2,), [1, 2]), "on.npy": ("|b1", (1,), [True]),
            "inner.pair.0.npy": ("<f8", (), [1.5]), "inner.pair.1.npy": ("<f8", (2,), [3.0, 4.0])}
    t.check("with the members of the record", got == want, got)
    first = open(out, "rb").read()
    t.run("run", t.program, "model", "--args", "@" + out, "--out", out)
    t.check("read and written again, the same bytes", open(out, "rb").read() == first)
    for verb, name, more in (("grad", "gradient", ()), ("jvp", "tangent", ("--tangent", "@" + point)),
                             ("vjp", "cotangent", ("--cotangent", "1")), ("jacobian", "jacobian", ())):
        function = "two" if verb == "jacobian" else "cost"
        at = "[2, [1, 2]]" if verb == "jacobian" else "@" + point
        asked = (verb, t.program, function, "--at", at, *more)
        status, _, err = t.run(*asked, "--out", out)
        if verb == "jacobian":  # a row of pairs is no array of numbers
            t.check("jacobian: refused", status == 2 and "E0612" in err, err)
            continue
        answer = json.loads(t.run(*asked, "--json")[1])
        with zipfile.ZipFile(out) as archive:
            got = {n: parse(archive.read(n))[2] for n in archive.namelist()}
        derivative = answer[name]
        want = {"value.npy": [answer["value"]]}
        if isinstance(derivative, dict):
            want.update({f"{name}.{k}.npy": flat(v) for k, v in derivative.items() if k != "inner"})
            for i, part in enumerate(derivative["inner"]["pair"]):
                want[f"{name}.inner.pair.{i}.npy"] = flat(part)
        else:
            want[f"{name}.npy"] = [derivative]
        t.check(f"{verb}: value and {name}", got == want, (got, want))
    status, said, _ = t.run("check", t.program, "cost", "--at", "@" + point)
    t.check("cotan check at a point of a file", status == 0 and "agree" in said, said)
    status, said, _ = t.run("grad", t.program, "cost", "--at", "@" + point, "--count")
    t.check("--count at a point of a file", status == 0 and "primal steps" in said, said)
    one = os.path.join(t.folder, "one.npy")
    t.run("run", t.program, "floats", "--args", "[[0.5, 1.5]]", "--out", one)
    t.check("one array", parse(open(one, "rb").read()) == ("<f4", (2,), [0.5, 1.5]))
    as_json = os.path.join(t.folder, "one.json")
    status, said, _ = t.run("grad", t.program, "scalar", "--at", "3", "--out", as_json)
    t.check("JSON to a file", status == 0 and said == "" and json.load(open(as_json)) == {"value": 9, "gradient": 6})
    for function, form in (("ragged", "npz"), ("ragged", "npy"), ("grow", "npz"), ("grow", "npy")):
        name = os.path.join(t.folder, "none." + form)
        status, _, err = t.run("run", t.program, function, "--args", "[1]", "--out", name)
        t.check(f"{function} to .{form}", status == 2 and "E0612" in err and not os.path.exists(name), err)
    for name, code in (("x.txt", "E0701"), ("no/such/folder/x.npz", "E0704")):
        status, _, err = t.run("run", t.program, "--out", os.path.join(t.folder, name))
        t.check(f"--out {name}", status == 2 and code in err, err)


def hostile(t):
    good = npy([[1.0, 2.0]])
    t.refuses("truncated elements", "lists", npy([[1.0, 2.0]], cut=1), "E0610", "15 bytes follow")
    t.refuses("elements too many", "lists", good + b"\0", "E0610", "17 bytes follow")
    t.refuses("truncated header", "lists", good[:40], "E0610", "ends inside its header")
    t.refuses("truncated magic", "lists", good[:7], "E0610", "not a .npy file")
    t.refuses("version", "lists", good[:6] + b"\x07" + good[7:], "E0610", "version")
    t.refuses("a header that lies about its size", "lists", good[:8] + b"\xff\xff" + good[10:], "E0610", "ends inside")
    t.refuses("a shape that lies", "lists", npy([[1.0]], shape=(10**6, 10**6)), "E0610", "(1000000, 1000000)")
    t.refuses("a product that overflows", "lists", npy([[1.0]], shape=(2**32, 2**32)), "E0610", "bytes follow")
    t.refuses("a product that overflows to what is there", "lists", npy([[1.0]], shape=(2**62, 2**2 + 1)), "E0610", "")
    t.refuses("sizes that overflow", "lists", npy([[1.0]], shape=(10**30, 1)), "E0610", "header")
    t.refuses("many rows of nothing", "lists", npy([], shape=(2**58, 0)), "E0801", "memory", "--max-memory", "200M")
    t.refuses("a negative size", "lists", npy([[1.0]], shape=(-1, -1)), "E0610", "header")
    t.refuses("too many axes", "lists", npy([[1.0]], shape=(1,) * 40), "E0610", "header")
    for header in ("{}", "[]", "{'descr': '<f8'}", "{'descr': '<f8', 'shape': (1,1), 'fortran_order': Maybe}",
                   "{'descr': '<f8', 'shape': (1,1), 'fortran_order': False, 'shape': (1,1)}",
                   "{'descr': '<f8', 'shape': (1,1), 'fortran_order': False, 'more': 1}",
                   "{'descr': '<f8', 'shape': (1,1), 'fortran_order': False} + 1", "{'descr': '" + "x" * 300 + "'}",
                   "{'descr': [('a', '<f8')], 'shape': (1,1), 'fortran_order': False}"):
        t.refuses(f"header {header[:40]}", "lists", npy([[1.0]], header=header), "E0610", "")
    for descr in (">f8", "<c16", "|O", "<U3", "<f2", "", "<M8[ns]"):
        t.refuses(f"elements {descr}", "lists", npy([[1.0]], header=repr(
            {"descr": descr, "fortran_order": False, "shape": (1, 1)})), "E0611", "little-endian")
    t.refuses("too few axes", "lists", npy([1.0]), "E0601", "expected [[Double]], found an array of shape (1,) of <f8")
    t.refuses("reals for integers", "ints", npy([1.0]), "E0601", "expected Array Int")
    t.refuses("integers for truth values", "bools", npy([1], "|u1"), "E0601", "expected Array Bool")
    t.refuses("an array for a tree", "tree", npy(1.0), "E0601", "expected Tree")
    t.refuses("an archive for a tree", "tree", npz(arr_0=npy(1.0)), "E0612", "Tree has no form")
    t.refuses("a missing member", "two", npz(arr_0=npy(1.0)), "E0601", "no member `xs`")
    t.refuses("an argument under both names", "two", npz(arr_0=npy(1.0), arr_1=npy([1.0]), a=npy(1.0)), "E0601", "`a` is no part")
    t.refuses("another member", "two", npz(arr_0=npy(1.0), arr_1=npy([1.0]), arr_2=npy(1.0)), "E0601",
              "the member `arr_2` is no part of")
    t.refuses("a spoilt member", "two", npz(arr_0=npy(1.0, cut=1), arr_1=npy([1.0])), "E0610", "`arr_0`")
    archive = npz(zipfile.ZIP_DEFLATED, arr_0=npy(1.0), arr_1=npy([1.0] * 100))
    for cut in (10, len(archive) // 2, len(archive) - 10):
        t.refuses(f"an archive cut at {cut}", "two", archive[:cut], "E0610", "not a whole .npz")
    spoilt = bytearray(archive)
    spoilt[45] ^= 0x55
    t.refuses("an archive with a wrong byte", "two", bytes(spoilt), "E0610", "")
    bomb = npz(zipfile.ZIP_DEFLATED, arr_0=npy(1.0), arr_1=b"\0" * 300_000_000)
    t.refuses("an archive that unpacks to much", "two", bomb, "E0801", "more than the memory limit", "--max-memory", "100M")
    rng = random.Random(2)
    for i in range(150):
        data = bytearray(archive if i % 2 else good)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path = t.file("spoilt", bytes(data))
        status, _, err = t.run("run", t.program, "two" if i % 2 else "lists", "--args", "@" + path)
        t.check(f"spoilt {i}", status in (0, 1, 2) and "AddressSanitizer" not in err and "runtime error" not in err, err)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(os.path.dirname(HERE), "build", "cotan"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        t = Tests(os.path.abspath(options.cotan), folder)
        reading(t)
        writing(t)
        hostile(t)
    print(f"{t.passed} passed, {t.failed} failed")
    sys.exit(1 if t.failed else 0)


main()
