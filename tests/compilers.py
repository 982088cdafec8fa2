"""The compilers of this machine: the tests take those that are there. Setting up installs gcc alone."""
import functools
import os
import subprocess
import tempfile


@functools.cache
def works(*command):
    """Whether a compiler, with these options, makes a program that runs: sanitizers need a library of their own. If not, a line says so."""
    if makes_a_program(command):
        return True
    print(f"skipped: {' '.join(command)}, which is not here", flush=True)
    return False


def makes_a_program(command):
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "empty.c"), os.path.join(folder, "empty")
        with open(source, "w", encoding="ascii") as file:
            file.write("extern int main(void);\nint main(void) { return 0; }\n")
        try:
            made = subprocess.run([*command, source, "-o", program], capture_output=True, timeout=100).returncode == 0
            return made and subprocess.run([program], capture_output=True, timeout=100).returncode == 0
        except FileNotFoundError:
            return False
