#!/usr/bin/env python3
"""The C that golden programs become, by itself: it compiles without a warning under gcc, and clang where that is, and runs clean under AddressSanitizer
and UBSan, with nothing left of the run, and carries no function of src/rt that it does not use; and that each of the compilers makes native code. `tests/emitted.py [WORD…]`: programs whose path holds one of the words."""
import argparse
import os
import platform
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compilers import works  # noqa: E402
from run import GOLDEN, ROOT, commands_of, is_close, programs, read, split  # noqa: E402

WARNINGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-infinite-recursion", "-c", "-o", "/dev/null"]
# Loops are parted that would be too short for that.
SANITIZED = ["-std=c11", "-O1", "-g", "-w", "-DCT_PART_WORK=16", "-DCT_PART_COST=0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
VECTORS = os.path.join("native", "vectors.cot")  # functions of libm in lanes, and in a loop that the compiler makes vectors of
HAS_LIBMVEC = platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"
# Starts the entry, which takes nothing, as the library would. What constants hold is all that may be left.
DRIVER = """
static ct_run run;
int main(void) {
    ct_word in[4096] = {{0}}, out[4096];
    run.constants = calloc((size_t)cotan_constant_words + 1, sizeof(ct_word));
    ct_run_clear(&run);
    if (setjmp(run.out) == 0) {
        cotan_entry(&run, in, out);
        puts("ended");
    } else {
        printf("E%04d\\n", run.code);
    }
    ct_run_clear(&run);
    free(run.constants);
    free(run.long_text);
    return 0;
}
"""


def entries(path):
    """The constants of a program that its commands run, and that end by themselves."""
    for command, output in zip(commands_of(path), split(read(path[:-4] + ".out"))):
        if "error[E0701]" in output:  # a function without its arguments
            continue
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            continue
        words = words[:words.index("|")] if "|" in words else words
        if words[:3] != ["cotan", "run", "FILE"] or {"--args", "--dump", "--max-steps"} & set(words):
            continue
        names = [word for word in words[3:4] if re.fullmatch(r"[a-z][\w']*", word)]
        yield names[0] if names else "main"


def deep_stack():
    """The library gives a run a stack as large as its memory; frames are larger under the sanitizers."""
    limit = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (limit, limit))


def not_used(text):
    """The functions that a program carries and does not mention."""
    count = {}
    for name in re.findall(r"\bct_\w+", text):
        count[name] = count.get(name, 0) + 1
    return [name for name in re.findall(r"^static [^\n]*?\b(ct_\w+)\(", text, re.M) if count[name] == 1]


def check(cotan, path, name, compilers, folder):
    """What is wrong; None when the program is not lowered."""
    dumped = subprocess.run([cotan, "run", os.path.basename(path), name, "--dump", "c", "--no-warnings"], cwd=os.path.dirname(path),
                            capture_output=True, timeout=100)
    if dumped.returncode != 0:
        return None
    source = os.path.join(folder, f"{abs(hash((path, name)))}.c")
    with open(source, "wb") as file:
        file.write(dumped.stdout)
    if not_used(dumped.stdout.decode()):
        return "it does not use " + " ".join(not_used(dumped.stdout.decode()))
    for compiler in compilers:
        done = subprocess.run([compiler, *WARNINGS, source], capture_output=True, timeout=300)
        if done.returncode != 0 or done.stderr:  # a note counts too
            return f"{compiler}: " + done.stderr.decode(errors="replace")[:600]
    with open(source, "ab") as file:
        file.write(DRIVER.encode())
    program = source[:-2]
    done = subprocess.run([compilers[0], *SANITIZED, "-o", program, source, "-lm"], capture_output=True, timeout=300)
    if done.returncode != 0:
        return "sanitized: " + done.stderr.decode(errors="replace")[:600]
    try:
        done = subprocess.run([program], capture_output=True, timeout=100, preexec_fn=deep_stack)
    except subprocess.TimeoutExpired:
        return "sanitized: it did not end within 100 seconds"
    os.remove(program)
    os.remove(source)
    if done.returncode != 0:
        return done.stderr.decode(errors="replace")[:1200]
    return ""


def run_natively(cotan, compiler, mathematics, folder):
    """What a program prints by native code of a compiler, and whether that code calls libmvec; fails where the evaluator has run it."""
    cache = tempfile.mkdtemp(dir=folder)
    environment = dict(os.environ, CC=compiler, COTAN_MATH=mathematics, XDG_CACHE_HOME=cache)
    done = subprocess.run([cotan, "run", os.path.join(GOLDEN, VECTORS), "--engine", "native"], env=environment, capture_output=True,
                          text=True, timeout=100)
    if done.returncode != 0 or done.stderr:
        raise ValueError(done.stderr)
    [library] = [os.path.join(top, file) for top, _, files in os.walk(cache) for file in files if file.endswith(".so")]
    with open(library, "rb") as file:
        return done.stdout, b"_ZGV" in file.read()


def check_compiler(cotan, compiler, folder):
    """Whether a compiler makes native code, to the last bit where that is asked for, and with several numbers at a time where it is not."""
    try:
        wanted = subprocess.run([cotan, "run", os.path.join(GOLDEN, VECTORS), "--engine", "eval"], capture_output=True, text=True, timeout=100)
        exact, exact_vectors = run_natively(cotan, compiler, "exact", folder)
        fast, fast_vectors = run_natively(cotan, compiler, "fast", folder)
    except ValueError as error:
        return f"no native code: {error}"
    if exact != wanted.stdout or exact_vectors:
        return f"exact mathematics gives {exact}"
    if not is_close(fast, exact):
        return f"fast mathematics gives {fast}, not {exact}"
    if HAS_LIBMVEC and not fast_vectors:
        return "fast mathematics does not use libmvec"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every N-th program")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="from the K-th on")
    options = parser.parse_args()
    cotan, passed, failed, skipped = os.path.abspath(options.cotan), 0, 0, 0
    jobs = sorted({(path, name) for path in programs(options.words) if path.endswith(".cot") for name in entries(path)})
    compilers = list(filter(works, ["gcc", "clang"]))
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            wrong = check_compiler(cotan, compiler, folder)
            print(f"FAIL {compiler}: {wrong}" if wrong else f"ok {compiler}")
            passed, failed = passed + (not wrong), failed + bool(wrong)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        chosen = jobs[options.offset::options.sample]
        for (path, name), wrong in zip(chosen, pool.map(lambda job: check(cotan, *job, compilers, folder), chosen)):
            if wrong is None:
                skipped += 1
            elif wrong:
                failed += 1
                print(f"FAIL {os.path.relpath(path, GOLDEN)} {name}: {wrong}")
            else:
                passed += 1
    print(f"emitted code: {passed} passed, {failed} failed ({skipped} are not lowered)")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
