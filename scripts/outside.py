#!/usr/bin/env python3
"""outside.py OUTPUT FILE…: a table of the functions of src/rt that programs need not carry, since Cotan has them."""
import os
import re
import sys

FUNCTION = re.compile(r"^static (?:CT_COLD|CT_CALLED) [^{]*?\b(ct_\w+)\(", re.M)


def main():
    out = ["/* Made by scripts/outside.py. */", "#define CT_MATH_EXACT 1"]
    names = []
    for path in sys.argv[2:]:
        out.append(f'#include "rt/{os.path.basename(path)}"')
        with open(path, encoding="utf-8") as file:
            names += FUNCTION.findall(file.read())
    out.append('#include "run/outside.h"')
    out.append("const CtOutside ct_outside_functions[] = {")
    out.extend(f'    {{"{name}", (void (*)(void)){name}}},' for name in names)
    out.append("    {NULL, NULL},\n};")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("\n".join(out) + "\n")


main()
