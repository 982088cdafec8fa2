#!/usr/bin/env python3
"""Writes a manual page for each verb of the command, cotan-VERB.1, from share/cotan.1 and from what the command says of the verb.

    scripts/verb_pages.py COTAN MANUAL FOLDER

The texts are those of MANUAL, share/cotan.1: the item of the verb, and those of the options that `cotan VERB --help` lists."""
import os
import re
import subprocess
import sys


def items(text, mark):
    """Name and lines of each item `.It MARK name …` of the manual's lists."""
    found = {}
    for match in re.finditer(rf"^\.It {mark} (\S+)(.*)\n((?:(?!\.It |\.El\n).*\n)*)", text, re.M):
        found.setdefault(match[1], (match[2].strip(), match[3].rstrip("\n")))
    return found


def page(verb, what, date, words, description, options):
    lines = [f".Dd {date}", f".Dt COTAN-{verb.upper()} 1", ".Os", ".Sh NAME", f".Nm cotan-{verb}", f".Nd {what}", ".Sh SYNOPSIS",
             ".Nm cotan", f".Cm {verb} {words}".rstrip(), ".Op Ar options", ".Sh DESCRIPTION", description]
    if options:
        lines += [".Sh OPTIONS", ".Bl -tag -width Ds"]
        for name, (value, text) in options:
            lines += [f".It Fl {name} {value}".rstrip(), text]
        lines += [".El"]
    return "\n".join(lines + [".Sh SEE ALSO", ".Xr cotan 1"]) + "\n"


def main():
    cotan, manual, folder = sys.argv[1:]
    with open(manual, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"^\.Nm$", ".Nm cotan", text, flags=re.M).replace("\n.Sx THE REPL .\n", "\nits section in\n.Xr cotan 1 .\n")
    date = re.search(r"^\.Dd (.*)$", text, re.M)[1]
    options = items(text, "Fl")
    for verb, (words, description) in items(text, "Cm").items():
        said = subprocess.run([cotan, verb, "--help"], capture_output=True, encoding="utf-8", check=True).stdout
        what = said.split("\n\n")[1].rstrip(".\n")
        names = [name[1:] for name in re.findall(r"^  (-[a-z-]+)", said, re.M)]
        with open(os.path.join(folder, f"cotan-{verb}.1"), "w", encoding="utf-8") as file:
            file.write(page(verb, what, date, words, description, [(name, options[name]) for name in names if name in options]))


main()
