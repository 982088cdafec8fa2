#!/usr/bin/env python3
"""seeds.py TARGET FOLDER: the first inputs of a fuzz target, made of the other tests."""
import glob
import os
import re
import struct
import sys
import zipfile
import io

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def programs():
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/golden/**/*.cot"), recursive=True)):
        with open(path, "rb") as file:
            text = b"".join(line for line in file if not line.startswith(b"-- $"))
        yield text
        for part in re.split(rb"\n\n+", text):
            yield part


def json_values():
    values = ["[1]", "[-2.5e-3]", '["inf"]', "[[[1, 2], [3, 4]]]", "[[[[1.5]]]]", "[[]]", "[[1, 2, 3]]", "[[true, false]]",
              '[{"a": 1, "b": [1, 2], "c": [[1], true]}]', '[[1, [2, 3]]]', "[1, [2, 3]]",
              '[{"alpha": 1, "mu": [[1, 2], [3, 4]], "steps": [1], "on": [false], "part": {"Part": {"pair": [1, [2]], "colour": "Red"}}}]',
              '[{"alpha": 1, "mu": [], "steps": [], "on": [], "part": "None"}]',
              '[{"Node": ["Leaf", [{"Just": [3]}, "x"], {"Node": ["Leaf", ["Nothing", "\\u00e9"], {"Leaf": []}]}]}]',
              '[[["text\\n", [], {"Left": [1]}], ["", [], {"Right": ["Blue"]}]]]', "[9223372036854775807]", "[1e999]"]
    for value in values:
        for which in range(12):
            yield bytes([which]) + value.encode()


def npy(shape, descr, body, fortran=False, version=1):
    text = repr({"descr": descr, "fortran_order": fortran, "shape": shape})
    text += " " * (-(11 + len(text)) % 16) + "\n"
    length = struct.pack("<H", len(text)) if version == 1 else struct.pack("<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + body


def arrays():
    files = [npy((), "<f8", struct.pack("<d", 1.5)), npy((2, 1, 2), "<f8", struct.pack("<4d", 1, 2, 3, 4)),
             npy((2, 2), "<f4", struct.pack("<4f", 1, 2, 3, 4), True), npy((3,), "<i4", struct.pack("<3i", 1, 2, 3)),
             npy((2,), "|b1", b"\x00\x01"), npy((2,), "<f4", struct.pack("<2f", 1, 2), version=2),
             npy((0, 3), "<f8", b""), npy((2,), "|u1", b"\x01\x02", version=3)]
    for file in files:
        for which in range(12):
            yield bytes([which]) + file[6:]
    members = [{"a": files[0], "b": npy((2,), "<f8", struct.pack("<2d", 1, 2)), "c.0": files[3], "c.1": npy((), "|b1", b"\x01")},
               {"arr_0": files[0], "arr_1": npy((1,), "<f8", struct.pack("<d", 2))}, {"arr_0": files[1]}, {}]
    for which, member in zip((6, 7, 1, 2, 11, 11), members + [members[1], members[2]]):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w", method) as archive:
                for name, data in member.items():
                    archive.writestr(name + ".npy", data)
            yield bytes([0x80 | which]) + out.getvalue()


def main():
    target, folder = sys.argv[1:]
    for index, data in enumerate({"front": programs, "json": json_values, "npy": arrays}[target]()):
        with open(os.path.join(folder, f"seed{index:05}"), "wb") as file:
            file.write(data)


main()
