#!/usr/bin/env python3
"""What `make install` installs, as a user finds it: the command, the library with its soname and versions, the header, pkg-config.

    tests/install.py [--build BUILD] [--bless]

tests/abi.txt is the binary interface: the library's functions with their versions, and the layout of the structs of cotan.h. If it differs,
programs that are linked with an earlier library may break: then the soversion in meson.build goes up. --bless writes it anew.
"""
import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "generate"))
import library as through_ctypes  # noqa: E402
ABI = os.path.join(ROOT, "tests", "abi.txt")
HEADER = os.path.join(ROOT, "include", "cotan.h")
passed = failed = 0


def expect(what, holds, shown=""):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}: {shown}")


def output(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, **more)
    return done.stdout + (done.stderr if done.returncode else "")


def header():
    with open(HEADER, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def structs():
    """(name, fields) of each struct that the header defines."""
    for name, body, typedef in re.findall(r"struct (\w+) \{(.*?)\}(?: (\w+))?;", header(), re.S):
        fields = []
        for declaration in re.sub(r"struct \{.*?\} *(\w+)", r"int \1", body, flags=re.S).split(";"):
            names = re.findall(r"[*\s](\w+)(?:\[[^\]]*\])?\s*(?=,|$)", declaration.strip())
            fields += names
        yield (typedef or "struct " + name), fields


def layout(folder):
    """The size of each struct, and the offsets of its fields, as C has them."""
    lines = [f'#include "{HEADER}"', "#include <stdio.h>", "int main(void) {"]
    for name, fields in structs():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'printf("  {field} %zu\\n", offsetof({name}, {field}));' for field in fields]
    source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
    with open(source, "w") as file:
        file.write("\n".join(lines + ["return 0;", "}"]))
    print(output("cc", source, "-o", program), end="")
    return output(program)


def symbols(library):
    found = re.findall(r"^[0-9a-f]+ T (\S+)$", output("nm", "-D", "--defined-only", library), re.M)
    return sorted(name.replace("@@", " ") for name in found)


def check_abi(folder, library, bless):
    found = symbols(library)
    declared = sorted(set(re.findall(r"\b(cotan_\w+)\(", header())))
    expect("the library exports what the header declares", [name.split()[0] for name in found] == declared,
           set(declared) ^ {name.split()[0] for name in found})
    expect("every function has a version", all(" COTAN_" in name for name in found), found)
    text = "\n".join(found) + "\n\n" + layout(folder)
    if bless:
        with open(ABI, "w") as file:
            file.write(text)
    with open(ABI) as file:
        expect("the binary interface is that of tests/abi.txt", file.read() == text, "see tests/install.py")
    for name, struct in (("cotan_limits", through_ctypes.Limits), ("cotan_call", through_ctypes.Call),
                         ("cotan_result", through_ctypes.Result)):
        fields = [(field, getattr(struct, field).offset) for field, _ in struct._fields_]
        mine = f"{name} {ctypes.sizeof(struct)}\n" + "".join(f"  {field.rstrip('_')} {at}\n" for field, at in fields)
        expect(f"tests/generate/library.py has the layout of {name}", f"\n{mine}" in text, mine)


def check_programs(folder, prefix):
    """The examples in C, built as their comments say."""
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"), PKG_CONFIG_SYSROOT_DIR=folder,
                       LD_LIBRARY_PATH=os.path.join(prefix, "lib"), LC_ALL="C.UTF-8")
    flags = output("pkg-config", "--cflags", "--libs", "cotan", env=environment).split()
    expect("pkg-config", f"-I{prefix}/include" in flags and "-lcotan" in flags, flags)
    for name, words, wanted in (("gradient", (), "value 14, gradient [2,4,6]\n"),
                                ("fit", (os.path.join(ROOT, "examples", "c", "curve.cot"),), None)):
        program = os.path.join(folder, name)
        told = output("cc", os.path.join(ROOT, "examples", "c", name + ".c"), *flags, "-lm", "-o", program, env=environment)
        expect(f"{name}.c compiles without a word", told == "", told)
        shown = subprocess.run([program, *words], capture_output=True, text=True, env=environment, timeout=300)
        expect(f"{name}.c runs", shown.returncode == 0 and (wanted is None or shown.stdout == wanted), shown.stdout + shown.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--bless", action="store_true")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="cotan-install-")
    try:
        environment = dict(os.environ, DESTDIR=folder)
        told = output("meson", "install", "-C", args.build, "--no-rebuild", env=environment)
        prefix = folder + output("meson", "introspect", args.build, "--buildoptions").split('"name": "prefix", "value": "')[1].split('"')[0]
        library = os.path.join(prefix, "lib", "libcotan.so")
        if not os.path.exists(library):
            expect("the library is in PREFIX/lib", False, told)
        else:
            soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", library))
            expect("soname", soname and soname[1] == "libcotan.so.1", soname)
            check_abi(folder, library, args.bless)
            check_programs(folder, prefix)
        for path in ("bin/cotan", "include/cotan.h", "share/man/man1/cotan.1", "share/man/man1/cotan-fit.1", "lib/libcotan.a", "lib/libcotan.so.1"):
            expect(f"{path} is installed", os.path.exists(os.path.join(prefix, path)))
            if os.path.exists(os.path.join(prefix, path)):
                with open(os.path.join(prefix, path), "rb") as file:
                    expect(f"{path} does not tell where it was built", os.fsencode(ROOT) not in file.read())
        expect("the installed command runs", output(os.path.join(prefix, "bin", "cotan"), "run", os.path.join(ROOT, "examples", "logsumexp.cot"))
               .startswith("[|9.0030573"))
    finally:
        shutil.rmtree(folder)
    print(f"installed files: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
