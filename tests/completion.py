#!/usr/bin/env python3
"""The man page and the shell completions know every verb and option of the command, and no others.

    tests/completion.py [--cotan PATH]

bash is asked by calling its completion function; zsh and fish where they are installed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MANUAL = os.path.join(ROOT, "share", "cotan.1")
SCRIPTS = os.path.join(ROOT, "share", "completions")
passed = failed = 0

PROGRAM = """
square :: Double -> Double
square x = x * x
squeeze x' = x'
f' x = x
a <+> b = a + b
"""


def expect(what, found, wanted):
    global passed, failed
    if found == wanted:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}: found {found}, expected {wanted}")


def output(*words, cwd=None, env=None, text=None):
    return subprocess.run(words, cwd=cwd, env=env, input=text, capture_output=True, text=True, timeout=60).stdout


# ---- what the command says of itself ----

def verbs_of(cotan):
    return re.findall(r"^  ([a-z]+)(?: .*)?$", output(cotan, "--help"), re.M)


def options_of(cotan, verb):
    return re.findall(r"^  (--[a-z-]+)", output(cotan, verb, "--help"), re.M)


# ---- the man page ----

def manual_text():
    with open(MANUAL, encoding="utf-8") as file:
        return file.read()


def check_manual(cotan, verbs, options):
    text = manual_text()
    expect("verbs of the man page", sorted(re.findall(r"^\.It Cm ([a-z]+)", text, re.M)), sorted(verbs))
    expect("options of the man page", sorted(re.findall(r"^\.It Fl -([a-z-]+)", text, re.M)),
           sorted(option[2:] for option in options))
    help_text = output(cotan, "repl", text=":help\n")
    commands = re.findall(r"^:([a-z]+)", help_text, re.M)
    expect("commands of the REPL in the man page", sorted(re.findall(r"^\.It Ic :([a-z]+)", text, re.M)), sorted(commands))
    for tool in ("groff", "mandoc"):
        if not shutil.which(tool):
            print(f"skipped: the manual by {tool}, which is not installed")
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-mdoc", "-ww", "-Tutf8", "-Kutf8", "-z", MANUAL], capture_output=True, text=True)
        expect("warnings of groff", (done.returncode, done.stderr), (0, ""))
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", MANUAL], capture_output=True, text=True)
        expect("warnings of mandoc", done.stdout, "")


def check_pages(cotan, verbs, options, folder):
    """A page for each verb, with its options, is made of the man page."""
    made = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "verb_pages.py"), cotan, MANUAL, folder], capture_output=True, text=True)
    expect("the pages of the verbs are made", (made.returncode, made.stderr), (0, ""))
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as file:
        build = file.read()
    for verb in verbs:
        page = os.path.join(folder, f"cotan-{verb}.1")
        expect(f"a page for {verb}", os.path.exists(page) and f"'{verb}'" in build, True)
        if not os.path.exists(page):
            continue
        with open(page, encoding="utf-8") as file:
            told = set(re.findall(r"^\.It Fl (-[a-z-]+)", file.read(), re.M))
        expect(f"options in the page of {verb}", sorted(told), sorted({option[1:] for option in options[verb]}))
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-mdoc", "-ww", "-Tutf8", "-Kutf8", "-z", page], capture_output=True, text=True)
            expect(f"warnings of groff of the page of {verb}", (done.returncode, done.stderr), (0, ""))


# ---- the shells: each is a function from a command line, the cursor at its end, to what is offered ----

def bash(line, folder, environment):
    script = f"""source {SCRIPTS}/cotan.bash
COMP_LINE=$1 COMP_POINT=${{#1}}
read -ra COMP_WORDS <<<"${{1//=/ = }}"
case $1 in *' '|*=) COMP_WORDS+=('') ;; esac
case $1 in *=) unset 'COMP_WORDS[-1]' ;; esac
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_cotan 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return sorted(filter(None, output("bash", "--norc", "-c", script, "bash", line, cwd=folder, env=environment).split("\n")))


def fish(line, folder, environment):
    script = f"source {SCRIPTS}/cotan.fish; complete -C $argv[1]"
    found = output("fish", "--no-config", "-c", script, line, cwd=folder, env=environment).split("\n")
    return sorted({text.split("\t")[0] for text in found if text})


def zsh(line, folder, environment):
    """The function of zsh is called with zsh's own helpers replaced by ones that print what they are given."""
    script = r"""
offered=()
offer() { local item; for item in "$@"; do [[ $item == "$PREFIX"* ]] && offered+=($item); done }
_describe() { local name=$2 item; local -a plain; for item in ${(P)name}; do plain+=(${item%%:*}); done; offer $plain }
_files() {
    local item
    for item in *(/N); do [[ $item == "$PREFIX"* ]] && offered+=($item/); done
    [[ $1 == -g ]] && offer ${~2}(N)
}
_message() { }
compset() {
    local pattern=$2
    [[ $PREFIX == ${~pattern}* ]] || return 1
    IPREFIX=${PREFIX[1,${#${(M)PREFIX#${~pattern}}}]}
    PREFIX=${PREFIX#${~pattern}}
}
words=(${=1}) service=cotan
[[ $1 == *' ' ]] && words+=('')
CURRENT=$#words PREFIX=$words[-1]
source SCRIPTS/_cotan
print -rl -- $offered
""".replace("SCRIPTS", SCRIPTS)
    found = output("zsh", "-f", "-o", "extendedglob", "-c", script, "zsh", line, cwd=folder, env=environment)
    return sorted({text for text in found.split("\n") if text})


def check_shell(shell, verbs, options, folder, environment):
    name = shell.__name__

    def offers(line, wanted):
        expect(f"{name}: {line!r}", shell(line, folder, environment), sorted(wanted))

    offers("cotan ", verbs + ["--help", "--version"])
    offers("cotan ja", ["jacobian"])
    for verb in verbs:
        if verb not in ("help", "version"):
            offers(f"cotan {verb} --", options[verb])
    offers("cotan run ", ["folder" if shell is bash else "folder/", "program.cot"])
    if "fmt" in verbs:
        offers("cotan fmt program.cot pro", ["program.cot"])
    offers("cotan run program.cot squ", ["square", "squeeze"])
    offers("cotan grad --count --method tape program.cot squa", ["square"])
    offers("cotan grad program.cot square --method tap", ["tape"])
    offers("cotan fit program.cot square --method ne", ["nelder-mead", "newton"])
    offers("cotan compare program.cot square --methods forw", ["forward"])
    offers("cotan compare program.cot square --methods forward,tap", ["tape" if shell is zsh else "forward,tape"])
    offers("cotan run program.cot --color a", ["always", "auto"])
    offers("cotan run program.cot --dump inf", ["infer"])
    offers("cotan help me", ["methods"])
    offers("cotan explain program.cot squ", ["square", "squeeze"])
    offers("cotan explain program.cot square --html pa", ["page.html"])
    offers("cotan repl pro", ["program.cot"])
    offers("cotan repl program.cot ", [])
    offers("cotan version ", [])


def check_bash_only(folder, environment):
    def offers(line, wanted):
        expect(f"bash: {line!r}", bash(line, folder, environment), sorted(wanted))

    offers("cotan grad program.cot square --method=for", ["forward"])
    offers("cotan grad program.cot square --method=tape --co", ["--color", "--count", "--count-rules"])
    offers("cotan grad --method=tape program.cot squa", ["square"])
    offers("cotan grad program.cot square --at @po", ["@point.json"])
    offers("cotan grad program.cot square --at ", [])
    offers("cotan run nosuch.cot ", [])
    offers("cotan run program.cot f", ["f\\'"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    cotan = os.path.abspath(parser.parse_args().cotan)
    verbs = verbs_of(cotan)
    options = {verb: options_of(cotan, verb) for verb in verbs}
    folder = tempfile.mkdtemp(prefix="cotan-completion-")
    environment = dict(os.environ, PATH=os.path.dirname(cotan) + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8", TERM="dumb")
    try:
        with open(os.path.join(folder, "program.cot"), "w") as file:
            file.write(PROGRAM)
        os.mkdir(os.path.join(folder, "folder"))
        for name in ("point.json", "page.html", "other.txt"):
            open(os.path.join(folder, name), "w").close()
        check_manual(cotan, verbs, sorted({option for some in options.values() for option in some}))
        pages = os.path.join(folder, "pages")
        os.mkdir(pages)
        check_pages(cotan, verbs, options, pages)
        shutil.rmtree(pages)
        for shell in (bash, zsh, fish):
            if shutil.which(shell.__name__):
                check_shell(shell, verbs, options, folder, environment)
            else:
                print(f"skipped: {shell.__name__} is not installed")
        check_bash_only(folder, environment)
    finally:
        shutil.rmtree(folder)
    print(f"manual and completion: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
