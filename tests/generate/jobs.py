"""Processes in which programs are asked, so that what crashes or does not end is an answer too."""
import ctypes
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time


# Seconds that the evaluator has for a plain value. Its steps are limited, so that what takes longer is a text without end.
PLAIN = 3


def behave(folder, verbose):
    """What a process sets for itself."""
    os.setpgid(0, 0)
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    if not verbose:
        os.dup2(devnull, 2)
    os.environ["XDG_CACHE_HOME"] = os.environ["TMPDIR"] = folder
    # What one program has freed stays with the process for the next one: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of glibc's malloc.
    for setting in (-1, -3):
        ctypes.CDLL(None).mallopt(setting, 1 << 29)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))


def allow(seconds):
    """The process ends when it has used so much more time of the processor, however busy that is. Compilers have as much each."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, most))


class Job:
    """A process that does some works, one after the other: `works` are pairs of a key and a function, which is given the library and a
    function to tell what it is about to ask, and gives something for JSON."""

    def __init__(self, lib, works, timeout, cache, cpu=20):
        self.began = self.started = time.time()  # `started`: the work that runs
        self.timeout, self.last, self.buffer = timeout, None, b""
        self.waiting, self.results = [key for key, _ in works], {}
        self.folder = tempfile.mkdtemp(prefix="run.", dir=cache)
        reader, writer = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(reader)
                behave(self.folder, "COTAN_FUZZ_VERBOSE" in os.environ)

                def send(kind, what):
                    line = (json.dumps([kind, what]) + "\n").encode()
                    while line:
                        line = line[os.write(writer, line):]

                def tell(question):
                    key = question.key() if question else ""
                    allow(min(cpu, PLAIN) if key == "value" else cpu)
                    send("asked", key)

                for _, work in works:
                    allow(cpu)
                    send("ok", work(lib, tell))
            except BaseException as e:  # told to the parent: this is a fault of the oracle
                import traceback

                send("fault", traceback.format_exc())
                os._exit(1)
            os._exit(0)
        os.close(writer)
        self.reader = reader

    def is_late(self):
        return time.time() > self.started + self.timeout

    def read(self):
        """Takes what has arrived; True at the end."""
        data = os.read(self.reader, 1 << 20)
        self.buffer += data
        while b"\n" in self.buffer:
            line, self.buffer = self.buffer.split(b"\n", 1)
            kind, what = json.loads(line)
            if kind == "asked":
                self.last = what
            else:
                self.results[self.waiting.pop(0)] = (kind, what)
                self.started, self.last = time.time(), None
        return not data

    def is_compiling(self):
        """Whether a compiler runs: then it is not the program that takes long."""
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat") as f:
                        fields = f.read().rsplit(")", 1)
                    if int(fields[1].split()[2]) == self.pid and ("(cc1" in fields[0] or "(clang" in fields[0] or "(ld" in fields[0] or "(as" in fields[0]):
                        return True
                except (OSError, IndexError, ValueError):
                    pass
        return False

    def end(self, timed_out=False):
        """The results by their keys: of each work that was done, and of the one in which the process ended. What is still in `waiting`
        was not begun."""
        compiles = timed_out and self.is_compiling()
        for kill, whom in ((os.killpg, self.pid), (os.kill, self.pid)):
            try:
                kill(whom, signal.SIGKILL)
            except OSError:
                pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.reader)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.waiting and not any(kind == "fault" for kind, _ in self.results.values()):
            out_of_time = timed_out or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
            end = "compiles long" if compiles else "does not end" if out_of_time else "crashes"
            self.results[self.waiting.pop(0)] = (end, self.last)
        return self.results


def run(lib, work, timeout, cache, cpu=20):
    """One work, waited for: its result."""
    job = Job(lib, [(None, work)], timeout, cache, cpu)
    while True:
        left = job.started + timeout - time.time()
        if left <= 0:
            return job.end(True)[None]
        ready, _, _ = select.select([job.reader], [], [], left)
        if ready and job.read():
            return job.end()[None]
