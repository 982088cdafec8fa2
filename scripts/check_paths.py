#!/usr/bin/env python3
"""Files that pages and comments name exist: paths in the prose of README.md, CONTRIBUTING.md, docs/, bench/ and tests/, and names of files in
the comments of src/ and include/. Prints a line for each that does not, then how many pages and files are right."""
import fnmatch
import os
import re
import subprocess
import sys

import layers

# What stands in backquotes and begins with a folder of the repository. `*` matches, and a folder may end in a slash.
PATH = re.compile(r"`((?:src|docs|tests|lib|scripts|share|bench|examples|include|python)/[\w./*+-]*)(?::\d+)?`")
FENCE = re.compile(r"^ *```")
# What a comment calls a file: NAME.c, FOLDER/NAME.h. Emitted and user files have these endings, too.
FILE = re.compile(r"(?<![\w/.*{-])((?:[\w-]+/)*[\w-]+\.(?:c|h|def|md|py|cot|sh))(?!\w|\.[a-z])")
COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')

# The examples of a first change in CONTRIBUTING.md are files that their reader makes.
EXAMPLES = {"halves.c", "halves.cot", "sparse.c", "sparse.cot", "exp2.cot"}
# Files in comments that are the C library's, or a user's.
OTHERS = {"math.h", "tgmath.h", "model.cot"}
# What stands for a name: STEM.c, FOLDER/A/B.cot, test_NAME.c.
STANDS = re.compile(r"(?:^|[/_])(?!README|CONTRIBUTING)[A-Z]+(?:[/._]|$)")


def tracked():
    listed = subprocess.run(["git", "ls-files"], cwd=layers.ROOT, capture_output=True, text=True, check=False).stdout.split("\n")
    if len(listed) > 1:
        return [path for path in listed if path and os.path.exists(os.path.join(layers.ROOT, path))]
    found = []  # outside of a repository
    for folder, _, names in os.walk(layers.ROOT):
        found += [os.path.relpath(os.path.join(folder, name), layers.ROOT) for name in names]
    return found


def page_faults(page, known):
    fenced = False
    with open(os.path.join(layers.ROOT, page), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if FENCE.match(line):
                fenced = not fenced
            if fenced:
                continue
            for path in PATH.findall(line):
                if os.path.basename(path) in EXAMPLES or STANDS.search(path):
                    continue
                if not any(fnmatch.fnmatch(name, path.rstrip("/")) for name in known):
                    yield number, path


def ends(path, known):
    """Whether a file is called so, whatever folders come first."""
    return path in known or any(name.endswith("/" + path) for name in known)


def comment_faults(source, known, names):
    with open(os.path.join(layers.ROOT, source), encoding="utf-8") as file:
        text = file.read()
    code = STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text) if not source.endswith(".def") else text
    for comment in COMMENT.finditer(code):
        for match in FILE.finditer(comment[0]):
            path = match[1]
            if path in OTHERS or STANDS.search(path) or (path in names if "/" not in path else ends(path, known)):
                continue
            yield text.count("\n", 0, comment.start() + match.start()) + 1, path


def main():
    files = tracked()
    known = {*files, *(os.path.dirname(path) for path in files)}
    known |= {os.path.dirname(path) for path in known}
    names = {os.path.basename(path) for path in files}
    pages = [path for path in files
             if path.endswith(".md") and (os.path.dirname(path) in ("", "bench", "tests") or layers.within(os.path.dirname(path), "docs"))]
    sources = [path for path in files if path.startswith(("src/", "include/")) and path.endswith((".c", ".h", ".def"))]
    passed, failed = 0, 0
    for path in pages + sources:
        faults = list(page_faults(path, known) if path.endswith(".md") else comment_faults(path, known, names))
        for number, name in faults:
            print(f"{path}:{number}: there is no {name}")
        failed += len(faults) > 0
        passed += len(faults) == 0
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
