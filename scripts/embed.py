#!/usr/bin/env python3
"""embed.py OUTPUT FILE…: the library's sources as a C array of struct CtEmbedded; messages call them lib/… ."""
import re
import sys


def literal(data):
    """Lines of a C byte array: string literals have a length limit that a prelude exceeds."""
    for start in range(0, len(data), 24):
        yield "    " + ",".join(str(byte) for byte in data[start:start + 24]) + ","


def exports(text):
    """The names in the module's export list, each between blanks: " map filter ! ". None of a module that it exports whole."""
    header = re.search(r"^module \S+\s*\((.*?)\)\s*where$", text, re.M | re.S)
    items = re.sub(r"module [\w.]+|\(\.\.\)", "", header.group(1)) if header else ""
    names = re.findall(r"[\w']+|[^\w\s(),']+", items)
    return (" " + " ".join(names) + " ").replace("\\", "\\\\").replace('"', '\\"') if names else " "


def main():
    out, rows = [], []
    out.append("/* Made by scripts/embed.py. */\n#include \"driver/embedded.h\"\n")
    for index, path in enumerate(sys.argv[2:]):
        name = "lib/" + path.replace("\\", "/").split("/lib/")[-1].removeprefix("lib/")
        with open(path, "rb") as file:
            data = file.read()
        out.append(f"static const unsigned char text_{index}[] = {{")
        out.extend(literal(data + b"\0"))
        out.append("};\n")
        module = name.removeprefix("lib/").removesuffix(".cot").replace("/", ".")
        if module.startswith(("ad.", "report.")):
            module = re.search(rb"^module (\S+)", data, re.M).group(1).decode()
        module = f'"{module}"' if module[0].isupper() else "NULL"
        rows.append(f'    {{"{name}", (const char *)text_{index}, {module}, {len(data)}, "{exports(data.decode())}"}},')
    out.append("const struct CtEmbedded ct_embedded[] = {")
    out.extend(rows)
    out.append("};\nconst unsigned ct_embedded_count = sizeof ct_embedded / sizeof *ct_embedded;\n")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("\n".join(out))


main()
