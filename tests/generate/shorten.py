#!/usr/bin/env python3
"""Makes the text of a program shorter, whatever made it: brackets are emptied, choices are made, tokens go, as long as `holds` says
that the rest still shows the same. Most of what is tried is no program at all, which is soon found out.

  shorten.py FILE 'COMMAND'    COMMAND is run by sh with a candidate's name as $1, and succeeds where it still shows what is looked
                               for; the result is printed
"""
import os
import re
import subprocess
import sys
import tempfile
import time

TOKEN = re.compile(r"\[\||\|\]|[A-Za-z_][A-Za-z_0-9']*|\d+\.\d+(?:e-?\d+)?|\d+|`\w+`|[(){}\[\],;]|[!#$%&*+./<=>?@\\^|~:-]+|\"[^\"]*\"|\n *|.", re.S)
CLOSING = {"(": ")", "[": "]", "{": "}", "[|": "|]"}


def tokens_of(text):
    return [t for t in TOKEN.findall(text) if t.strip() or "\n" in t]


def text_of(tokens):
    out = ""
    for t in tokens:
        if "\n" in t:
            out = out.rstrip(" ") + t
        elif out and out[-1] not in " \n([\\" and t not in (")", "]", ",", ";", "|]") and not out.endswith("[|"):
            out += " " + t
        else:
            out += t
    return re.sub(r"\n\s*\n", "\n", out).strip("\n") + "\n"


def partners(tokens):
    """Where each bracket is closed."""
    found, stack = {}, []
    for k, t in enumerate(tokens):
        if t in CLOSING:
            stack.append(k)
        elif t in CLOSING.values() and stack:
            found[stack.pop()] = k
    return found


def is_kept(tokens, pairs):
    """Whether a change is allowed: a function and the rule for its derivative stay together as they are, or go."""
    spans = []
    for k, t in enumerate(tokens):
        if t in ("withVjp", "withJvp"):
            j, groups = k + 1, 0
            while j < len(tokens) and groups < 2 and j in pairs:
                j, groups = pairs[j] + 1, groups + 1
            spans.append((k, j))
    return lambda a, b: all(b <= s or a >= e or (a <= s and b >= e) for s, e in spans)


def choices(tokens, pairs):
    """(from, to, instead): candidates, those that take most away first."""
    out = []
    depth_end = dict(pairs)
    for a, b in pairs.items():
        inner = [(c, d) for c, d in pairs.items() if a < c and d < b and tokens[c] == "("]
        if b - a > 1 and tokens[a] == "(":
            for instead in (["0.0"], ["0"], ["True"], ["[]"], ["1.0"]):
                if tokens[a + 1:b] != instead:
                    out.append((a, b + 1, instead))
            for c, d in inner[:12]:
                out.append((a, b + 1, tokens[c:d + 1]))
            out.append((a, b + 1, []))
        if tokens[a] in ("{", "(", "[", "[|"):  # items between commas or semicolons
            k, start, cuts = a + 1, a + 1, []
            while k <= b:
                if k in depth_end and k != a:
                    k = depth_end[k]
                elif tokens[k] in (",", ";") or k == b:
                    cuts.append((start, k))
                    start = k + 1
                k += 1
            if len(cuts) > 1:
                for s, e in cuts:
                    out.append((s, e + 1, []) if e < b else (s - 1, e, []))
    for k, t in enumerate(tokens):  # if … then … else …
        if t == "if":
            parts, j, nested = [k], k + 1, 0
            while j < len(tokens) and len(parts) < 4:
                if j in depth_end:
                    j = depth_end[j]
                elif tokens[j] in CLOSING.values() or tokens[j] in (";", ",") or "\n" in tokens[j]:
                    parts.append(j)
                    break
                elif tokens[j] == "if":
                    nested += 1
                elif tokens[j] in ("then", "else") and nested == 0:
                    parts.append(j)
                elif tokens[j] == "else":
                    nested -= 1
                j += 1
            if len(parts) == 4:
                out.append((parts[0], parts[3], tokens[parts[1] + 1:parts[2]]))
                out.append((parts[0], parts[3], tokens[parts[2] + 1:parts[3]]))
        if t == "let" and k + 1 in depth_end and depth_end[k + 1] + 1 < len(tokens) and tokens[depth_end[k + 1] + 1] == "in":
            out.append((k, depth_end[k + 1] + 2, []))
    out.sort(key=lambda c: (c[1] - c[0]) - len(c[2]), reverse=True)
    return [c for c in out if (c[1] - c[0]) > len(c[2])]


def windows(tokens, pairs):
    ends = {b: a for a, b in pairs.items()}
    for size in (12, 8, 6, 5, 4, 3, 2, 1):
        for a in range(len(tokens) - size, -1, -1):
            inside = range(a, a + size)
            if all((k not in pairs or pairs[k] in inside) and (k not in ends or ends[k] in inside) for k in inside):
                yield a, a + size, []


def shorten(text, holds, seconds):
    """(the shorter text, how many were tried)"""
    until, tried, seen = time.time() + seconds, 0, set()
    tokens = tokens_of(text)
    if not holds(text_of(tokens)):
        return text, 1
    again = True
    while again and time.time() < until:
        again = False
        for source in (choices, windows):
            moved = True
            while moved and time.time() < until:
                moved = False
                pairs = partners(tokens)
                allowed = is_kept(tokens, pairs)
                for a, b, instead in list(source(tokens, pairs)):
                    if not allowed(a, b):
                        continue
                    candidate = tokens[:a] + instead + tokens[b:]
                    new = text_of(candidate)
                    if new in seen or time.time() > until:
                        continue
                    seen.add(new)
                    tried += 1
                    if holds(new):
                        tokens = candidate
                        moved = again = True
                        break
    return text_of(tokens), tried


def main():
    source, command = sys.argv[1:3]
    with open(source) as f:
        text = "".join(line for line in f if not line.startswith("--"))
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "candidate.cot")

        def holds(candidate):
            with open(name, "w") as f:
                f.write(candidate)
            return subprocess.run(["sh", "-c", command, "sh", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

        shorter, tried = shorten(text, holds, 3600)
    print(shorter, end="")
    return 0 if tried > 1 else 1


if __name__ == "__main__":
    sys.exit(main())
