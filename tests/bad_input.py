#!/usr/bin/env python3
"""Input that nobody means well: each ends with the error that is expected, or works, in time and within memory.

    tests/bad_input.py --cotan PATH [--long]

--long takes the sizes ten times as large.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 180  # a build under the sanitizers, on a machine with other work


def cases(n):
    """(name, text of a program, what its check or run ends with: None or an error's code)"""
    main = "main = 1\n"
    # bytes
    for name, data in {"overlong": b"\xc0\xaf", "overlong of three": b"\xe0\x80\xaf", "a surrogate": b"\xed\xa0\x80",
                       "beyond Unicode": b"\xf4\x90\x80\x80", "a lone continuation": b"\x80", "five bytes": b"\xf8\x88\x80\x80\x80",
                       "truncated": b"\xe2\x82", "0xff": b"\xff"}.items():
        yield f"UTF-8, {name}, in a comment", b"-- " + data + b"\nmain = 1\n", "E0102"
        yield f"UTF-8, {name}, in a string", b'main = "' + data + b'"\n', "E0102"
        yield f"UTF-8, {name}, at the end", b"main = 1 " + data, "E0102"
    yield "a byte order mark in the middle", b"main = \xef\xbb\xbf1\n", "E0101"
    yield "a NUL byte", b"main = 1\0\n", "E0101"
    yield "NUL bytes in a string", b'main = "a\0b"\n', None
    yield "all bytes", bytes(range(256)) * 10, "E0101"
    yield "nothing", b"", None
    yield "blanks", b" \n\t\n" * n, None
    # depth
    for name, (left, middle, right) in {
            "parentheses": ("(", "1", ")"), "brackets": ("[", "1", "]"), "array brackets": ("[|", "1", "|]"),
            "tuples": ("(1, ", "1", ")"), "lambdas": ("\\x -> ", "1", ""), "lets": ("let x = 1 in ", "1", ""),
            "ifs": ("if True then 1 else ", "1", ""), "cases": ("case 1 of { _ -> ", "1", " }"), "minuses": ("(-", "1", ")"),
            "dos": ("do { ", "1", " }"), "sections": ("(+ ", "1", ") 1"), "records": ("R { x = ", "1", " }"),
            "annotations": ("(", "1", " :: Int)"), "comprehensions": ("[y | y <- ", "[1]", "]")}.items():
        yield f"nested {name}", f"main = {left * n}{middle}{right * n}\n", "E0207"
    yield "opened parentheses", "main = " + "(" * n, "E0207"
    yield "some opened parentheses", "main = " + "(" * 1000, "E0202"
    yield "closed parentheses", "main = 1" + ")" * n, "E0203"
    yield "nested patterns", f"f {'(Just ' * n}x{')' * n} = x\n" + main, "E0207"
    yield "nested list patterns", f"f {'[' * n}x{']' * n} = x\n" + main, "E0207"
    yield "nested types", f"f :: {'(Maybe ' * n}Int{')' * n}\nf = f\n" + main, "E0207"
    yield "nested list types", f"f :: {'[' * n}Int{']' * n}\nf = f\n" + main, "E0207"
    yield "nested comments", "{-" * n + "-}" * n + "\n" + main, None
    yield "a comment that is not closed", "{-" * n + "\n" + main, "E0104"
    yield "nested where", "".join(f"{' ' * k}f{k} = f{k + 1}\n{' ' * k} where\n" for k in range(3000)) + " " * 3001 + "f3000 = 1\n", "E0207"
    yield "blocks ever deeper", "main = " + "".join(f"case 1 of\n{' ' * (k + 1)}_ -> " for k in range(3000)) + "1\n", "E0207"
    # length
    yield "a long identifier", f"main = {'x' * (n * 10)}\n", "E0302"
    yield "a long string", f'main = length "{"x" * n}"\n', None
    yield "a long sum", f"main = {'1 + ' * (n // 4)}1\n", None
    yield "a long chain of operators to the right", f"main = {'1 : ' * (n // 4)}[]\n", None
    yield "a long application", f"f :: Int -> Int\nf x = x\nmain = f {'1 ' * (n // 10)}\n", "E0307"
    yield "a long list", f"main = length [{'1, ' * (n // 4)}1]\n", None
    yield "a long array", f"main = sum [|{'1, ' * (n // 4)}1|]\n", None
    yield "a long tuple", f"main = fst ({'1, ' * (n // 10)}1)\n", "E0301"
    yield "a long number", f"main = {'9' * n}\n", "E0107"
    yield "a long fraction", f"main = 0.{'1' * n}\n", None
    yield "a huge exponent", "main = 1e999999999999999999999\n", "E0107"
    yield "a long comment", "-- " + "x" * (10 * n) + "\n" + main, None
    yield "a long operator", f"main = 1 {'+' * n} 2\n", "E0302"
    for count, code in ((4000, None), (25_000, "E0404")):  # a test inside the next: Core may be nested 10,000 deep
        of = "many" if code is None else "too many"
        yield f"{of} clauses", "f :: Int -> Int\n" + "".join(f"f {k} = {k}\n" for k in range(count)) + "f _ = 0\nmain = f 7\n", code
        yield f"{of} guards", "f :: Int -> Int\nf x\n" + "".join(f"  | x == {k} = {k}\n" for k in range(count)) + "  | otherwise = 0\nmain = f 7\n", code
        yield f"{of} alternatives", "main = case 7 of\n" + "".join(f"  {k} -> {k}\n" for k in range(count)) + "  _ -> 0\n", code
    yield "many clauses with strings", "f :: String -> Int\n" + "".join(f'f "s{k}" = {k}\n' for k in range(n // 20)) + "f _ = 0\nmain = f \"s7\"\n", None
    yield "many constructors", "data T = " + " | ".join(f"C{k}" for k in range(n // 20)) + " deriving (Eq, Ord, Show)\nmain = C7 < C9\n", None
    yield "many fields", "data T = T { " + ", ".join(f"f{k} :: Int" for k in range(2000)) + " }\nmain = 1\n", None
    yield "many parameters", "f " + " ".join(f"x{k}" for k in range(2000)) + " = x0\nmain = 1\n", None
    yield "many type variables", "data T " + " ".join(f"a{k}" for k in range(1000)) + " = T a0\nmain = 1\n", None
    yield "many imports", "".join("import Data.List\n" for _ in range(n // 4)) + main, None
    yield "many names in an import", "import Data.List (" + "sort, " * (n // 4) + "sort)\n" + main, None
    yield "many statements", "main = do\n" + "  Just 1\n" * min(n // 40, 1500), None
    yield "many errors", "".join(f"x{k} = undefined{k}\n" for k in range(n // 4)) + main, "E0302"
    yield "many syntax errors", "x = = 1\n" * (n // 4) + main, "E0206"
    yield "many warnings", "".join(f"f{k} (Just x) = x\n" for k in range(2000)) + main, None
    # types
    yield "many arrows", f"f :: {'Int -> ' * (n // 10)}Int\nf = f\n" + main, "E0207"
    yield "a thousand arrows", f"f :: {'Int -> ' * 1000}Int\nf = f\n" + main, None
    doubling = "f0 x = (x, x)\n" + "".join(f"f{k} x = f{k - 1} (f{k - 1} x)\n" for k in range(1, 40))
    yield "types that double", doubling + "main = f39 1\n", "E0323"
    pairs = "main = let x0 = 1 in " + "".join(f"let x{k} = (x{k - 1}, x{k - 1}) in " for k in range(1, 100)) + "1\n"
    yield "pairs of pairs", pairs, "E0323"
    yield "functions that take functions", "g0 f = f f0\nf0 x = x\n" + "".join(f"f{k} = \\f -> f f{k - 1} f{k - 1}\n" for k in range(1, 40)) + main, "E0323"
    yield "an infinite type", "f x = x x\nmain = 1\n", "E0305"
    yield "synonyms of themselves", "".join(f"type T{k} = T{(k + 1) % 1000}\n" for k in range(1000)) + main, "E0313"
    yield "synonyms that double", "type T0 a = (a, a)\n" + "".join(f"type T{k} a = T{k - 1} (T{k - 1} a)\n" for k in range(1, 30)) + "f :: T29 Int\nf = f\nmain = 1\n", "E0323"
    yield "classes over themselves", "".join(f"class C{(k + 1) % 500} a => C{k} a\n" for k in range(500)) + main, "E0313"
    yield "polymorphic recursion", "data N a = N a (N (Array a)) | E\nmain = 1\n", "E0316"
    yield "a long chain of classes", "class C0 a where\n  m :: a -> Int\n" + "".join(f"class C{k} a => C{k + 1} a\n" for k in range(1000)) + "f :: C1000 a => a -> Int\nf = m\nmain = 1\n", None
    yield "a deep instance", "main = show " + "(Just " * 500 + "1" + ")" * 500 + "\n", None
    # running
    yield "a recursion without end", "f :: Int -> Int\nf x = 1 + f x\nmain = f 1\n", "E0803"
    if n > 20_000:  # under the sanitizers two gigabytes take minutes to be had and given back
        yield "a list without end", "f :: Int -> [Int]\nf x = x : f (x + 1)\nmain = f 1\n", "E08"
    yield "a large array", "main = build 1000000000000000 (\\i -> i)\n", "E0801"
    yield "an array larger than memory can be", "main = build 9223372036854775807 (\\i -> i)\n", "E0801"


def inputs(n):
    """(name, JSON, code) for a function of a list of numbers"""
    yield "nested", "[" * n, "E0602"
    yield "nested and closed", "[" * n + "]" * n, "E0602"
    yield "a long number", "[[" + "9" * n + "]]", "E0601"
    yield "a number of 300 digits", "[[" + "9" * 300 + "]]", None
    yield "a huge exponent", "[[1e" + "9" * n + "]]", "E0602"
    yield "truncated", "[[1, 2", "E0602"
    yield "a NUL byte", "[[1]]\0", "E0602"
    yield "not UTF-8", b"[\"\xff\"]", "E0602"
    yield "a key twice", '[{"a": 1, "a": 2}]', "E0602"
    yield "many numbers", "[[" + "1," * n + "1]]", None
    yield "a long string", '["' + "x" * n + '"]', "E0601"
    yield "text behind it", "[[1]] [[2]]", "E0602"
    yield "nothing", "", "E0602"
    yield "blanks", " " * n, "E0602"


class Tests:
    def __init__(self, cotan, folder):
        self.cotan, self.folder, self.passed, self.failed = cotan, folder, 0, 0

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return path

    def run(self, name, code, *args):
        start = time.perf_counter()
        try:
            done = subprocess.run([self.cotan, *args, "--max-memory", "2G"], capture_output=True, timeout=SECONDS, cwd=self.folder)
        except subprocess.TimeoutExpired:
            self.failed += 1
            print(f"FAIL {name}: more than {SECONDS} seconds")
            return
        seconds, err = time.perf_counter() - start, done.stderr.decode("utf-8", "replace")
        if code is None:
            sound = done.returncode == 0
        else:
            sound = done.returncode in (1, 2) and f"error[{code}" in err and len(err) < 200_000
        self.passed += sound
        self.failed += not sound
        if not sound:
            print(f"FAIL {name}: exit {done.returncode} after {seconds:.1f} s, expected {code}: {err[:600]}")
        elif seconds > 10:
            print(f"slow: {name} took {seconds:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(os.path.dirname(HERE), "build", "cotan"))
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--quick", action="store_true", help="small sizes, for builds that are slow")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    n = 1_000_000 if options.long else 20_000 if options.quick else 100_000
    with tempfile.TemporaryDirectory() as folder:
        t = Tests(os.path.abspath(options.cotan), folder)
        for name, text, code in cases(n):
            if options.words and not any(word in name for word in options.words):
                continue
            path = t.file("program.cot", text)
            has_main = (b"main =" if isinstance(text, bytes) else "main =") in text
            t.run(name, code, "run" if code is None and has_main else "run" if code and code >= "E04" else "check", path)
        program = t.file("sum.cot", "f :: [Double] -> Double\nf xs = sum xs\n")
        for name, text, code in inputs(n):
            if not options.words or any(word in name for word in options.words):
                t.run(f"JSON: {name}", code, "run", program, "f", "--args", "@" + t.file("in.json", text))
        for count in (300, 2000):  # tests inside each other: some become machine code, for more a compiler would take minutes
            guards = "".join(f"  | x < {k} = x * {k} + sin x\n" for k in range(count))
            path = t.file("guards.cot", f"f :: Double -> Double\nf x\n{guards}  | otherwise = x\n")
            if not options.words or "guards" in options.words:
                t.run(f"{count} guards, differentiated", None, "grad", path, "f", "--at", "2.5", "--engine", "native")
        for depth in (400, 600):  # modules that import each other in a chain
            for k in range(depth):
                t.file(f"M{k}.cot", f"module M{k} where\n" + (f"import M{k + 1}\n" if k + 1 < depth else "") + f"x{k} = {k}\n")
            if not options.words or "modules" in options.words:
                path = t.file("chain.cot", "import M0\nmain = x0\n")
                t.run(f"{depth} modules in a chain", None if depth < 500 else "E0207", "run", path)
    print(f"{t.passed} passed, {t.failed} failed")
    sys.exit(1 if t.failed else 0)


main()
