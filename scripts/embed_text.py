#!/usr/bin/env python3
"""embed_text.py OUTPUT FILE…: text files as C strings; folder/name.kind is called ct_name_kind."""
import os
import sys


def main():
    out = ["/* Made by scripts/embed_text.py. */"]
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            data = file.read() + b"\0"
        name = "ct_" + os.path.basename(path).replace(".", "_")
        out.append(f"extern const char {name}[];\nconst char {name}[] = {{")
        out.extend("    " + ",".join(str(byte - 256 if byte > 127 else byte) for byte in data[start:start + 24]) + "," for start in range(0, len(data), 24))
        out.append("};")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("\n".join(out) + "\n")


main()
