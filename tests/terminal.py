#!/usr/bin/env python3
"""cotan repl on a terminal: history, completion, Ctrl-C, Ctrl-D; other verbs: progress. Each test talks to a session through a pty.

    tests/terminal.py [--cotan PATH] [--quick] [WORD…]
"""
import argparse
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROMPT = "cotan> "
MORE = " … > "
UP, CTRL_C, CTRL_D, TAB, ENTER = "\x1b[A", "\x03", "\x04", "\t", "\r"

PROGRAM = """
import Debug.Trace

gaussian :: Double -> Double
gaussian x = exp (negate (x * x))

gadget :: Int
gadget = 3

slow :: Int -> Int
slow n = go 0 n
  where go s k = if k == 0 then s else go (s + k) (k - 1)

slowly :: Int -> Int
slowly n = progress 0.5 $ slow n

forever :: Int -> Int
forever n = if n < 0 then n else forever (n + 1)
"""


class Screen:
    """What a terminal without an edge would show: enough of its control sequences for a line editor."""

    TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z@])|\x1b[=>]|\x1b[()].|([\r\n\b\x07])|([^\x1b])", re.S)

    def __init__(self):
        self.lines, self.row, self.column, self.rest = [[]], 0, 0, ""

    def feed(self, text):
        text = self.rest + text
        at = 0
        while at < len(text):
            match = self.TOKEN.match(text, at)
            if not match:
                break  # half a sequence
            at = match.end()
            parameter, final, control, character = match.groups()
            if character:
                self.put(character)
            elif control:
                self.control(control)
            elif final:
                self.sequence(int(parameter) if parameter and parameter.isdigit() else 1, parameter, final)
        self.rest = text[at:]

    def put(self, character):
        line = self.lines[self.row]
        line.extend(" " * (self.column - len(line)))
        line[self.column:self.column + 1] = [character]
        self.column += 1

    def control(self, control):
        if control == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append([])
        elif control == "\r":
            self.column = 0
        elif control == "\b":
            self.column = max(0, self.column - 1)

    def sequence(self, count, parameter, final):
        line = self.lines[self.row]
        if final == "C":
            self.column += count
        elif final == "D":
            self.column = max(0, self.column - count)
        elif final == "A":
            self.row = max(0, self.row - count)
        elif final == "G":
            self.column = count - 1
        elif final in "KJ" and parameter in ("", "0"):
            del line[self.column:]
        elif final == "P":
            del line[self.column:self.column + count]
        elif final == "@":
            line[self.column:self.column] = [" "] * count

    def text(self):
        return "\n".join("".join(line).rstrip(" ") for line in self.lines[:-1]) + "\n" + "".join(self.lines[-1])


class Session:
    """One `cotan repl` behind a pty, and the screen that it writes on."""

    def __init__(self, cotan, folder, *words, env=None, verb="repl"):
        environment = dict(os.environ, TERM="xterm", XDG_STATE_HOME=os.path.join(folder, "state"), NO_COLOR="1",
                           LC_ALL="C.UTF-8", HOME=folder)
        environment.update(env or {})
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(cotan, [cotan, verb, *words], environment)
        self.screen, self.mark = Screen(), 0

    def send(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.screen.feed(data.decode("utf-8", "replace"))
        return bool(data)

    def expect(self, wanted, seconds=30):
        """Waits until a text stands on the screen behind what was waited for last."""
        end = time.monotonic() + seconds
        while True:
            text = self.screen.text()
            at = text.find(wanted, min(self.mark, len(text)))
            if at >= 0:
                self.mark = at + len(wanted)
                return
            left = end - time.monotonic()
            if not self.read(max(0, min(left, 1))) and (left <= 0 or not alive(self.pid)):
                raise AssertionError(f"{wanted!r} did not come; there was {text[self.mark:]!r}")

    def enter(self, text, answer):
        """A line at the prompt, and a line of its answer."""
        self.send(text + ENTER)
        self.expect("\n" + answer + "\n")
        self.expect(PROMPT)

    def end(self):
        """The exit status, after all output."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if not self.read(0.2):
                done, status = os.waitpid(self.pid, os.WNOHANG)
                if done:
                    os.close(self.fd)
                    return os.waitstatus_to_exitcode(status)
        raise AssertionError("the session did not end")

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)
        except OSError:
            pass


def alive(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"


# ---- the tests: each is given a function that opens a session, and the folder in which it runs ----

def answers_and_leaves_with_ctrl_d(start, folder):
    s = start()
    s.expect(PROMPT)
    s.enter("1 + 2", "3")
    s.enter("it * 2", "6")
    s.send(CTRL_D)
    assert s.end() == 0


def errors_do_not_end_it_nor_show_in_the_status(start, folder):
    s = start()
    s.expect(PROMPT)
    s.send("nosuch" + ENTER)
    s.expect("error[E0302]")
    s.expect(PROMPT)
    s.enter("gadget", "3")
    s.send(":quit" + ENTER)
    assert s.end() == 0


def up_arrow_recalls_the_last_line(start, folder):
    s = start()
    s.expect(PROMPT)
    s.enter("20 + 22", "42")
    s.send(UP)
    s.expect("20 + 22")
    s.enter("", "42")


def history_outlives_the_session_and_is_private(start, folder):
    s = start()
    s.expect(PROMPT)
    s.enter("100 + 11", "111")
    s.send(CTRL_D)
    assert s.end() == 0
    path = os.path.join(folder, "state", "cotan", "history")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, oct(os.stat(path).st_mode)
    s = start()
    s.expect(PROMPT)
    s.send(UP)
    s.expect("100 + 11")
    s.enter("", "111")


def tab_completes_a_name(start, folder):
    s = start()
    s.expect(PROMPT)
    s.send("gau" + TAB)
    s.expect("gaussian")
    s.enter(" 0", "1.0")


def tab_lists_where_there_are_several(start, folder):
    s = start()
    s.expect(PROMPT)
    s.send("ga" + TAB)
    s.expect("gadget")
    s.expect("gaussian")
    s.expect("ga")
    s.enter("dget", "3")


def tab_knows_what_was_defined_at_the_prompt(start, folder):
    s = start()
    s.expect(PROMPT)
    s.send("let zebrafish = 17" + ENTER)
    s.expect(PROMPT)
    s.send("zeb" + TAB)
    s.expect("zebrafish")
    s.enter("", "17")


def tab_completes_commands_files_and_modules(start, folder):
    s = start()
    s.expect(PROMPT)
    s.send(":relo" + TAB)
    s.expect(":reload")
    s.send(CTRL_C)
    s.expect(PROMPT)
    s.send(":load prog" + TAB)
    s.expect("program.cot")
    s.send(ENTER)
    s.expect("program.cot is loaded")
    s.expect(PROMPT)
    s.send("import Mine.Sh" + TAB)
    s.expect("Mine.Shapes")
    s.send(ENTER)
    s.expect(PROMPT)
    s.enter("corners", "4")


def ctrl_c_ends_an_evaluation_and_nothing_else(start, folder):
    s = start()
    s.expect(PROMPT)
    s.send("let kept = 5" + ENTER)
    s.expect(PROMPT)
    s.send("forever 0" + ENTER)
    time.sleep(1)
    s.send(CTRL_C)
    s.expect("interrupted")
    s.expect(PROMPT)
    s.enter("kept + 1", "6")
    s.send("forever 1" + ENTER)  # and a second time
    time.sleep(1)
    s.send(CTRL_C)
    s.expect("interrupted")
    s.expect(PROMPT)
    s.enter("kept", "5")
    s.send(CTRL_D)
    assert s.end() == 0


def ctrl_c_at_the_prompt_drops_the_line(start, folder):
    s = start()
    s.expect(PROMPT)
    s.send("this is nothing")
    s.expect("nothing")
    s.send(CTRL_C)
    s.expect(PROMPT)
    s.enter("2 + 2", "4")


def inputs_of_several_lines(start, folder):
    s = start()
    s.expect(PROMPT)
    s.send("(1," + ENTER)
    s.expect(MORE)
    s.send("2)" + ENTER)
    s.expect("\n(1,2)\n")
    s.expect(PROMPT)
    s.send("(1," + ENTER)
    s.expect(MORE)
    s.send(CTRL_C)
    s.expect(PROMPT)
    s.enter("7", "7")


def a_file_with_a_mistake_leaves_an_empty_program(start, folder):
    with open(os.path.join(folder, "bad.cot"), "w") as file:
        file.write("f = nosuch\n")
    s = start("bad.cot")
    s.expect("error[E0302]")
    s.expect(PROMPT)
    s.enter("1", "1")
    with open(os.path.join(folder, "bad.cot"), "w") as file:
        file.write("f = 8\n")
    s.send(":reload" + ENTER)
    s.expect(PROMPT)
    s.enter("f", "8")


def a_terminal_that_can_do_nothing(start, folder):
    s = start("program.cot", env={"TERM": "dumb"})
    s.expect(PROMPT)
    s.send("gadget" + ENTER)
    s.expect("3")
    s.expect(PROMPT)
    s.send(CTRL_D)
    assert s.end() == 0


def a_long_run_shows_time_and_steps_until_it_ends(start, folder):
    session = start("program.cot", "slow", "--args", LONG, "--engine", "eval", verb="run")
    session.expect(" million steps, ")
    session.expect(" MB of memory")
    while alive(session.pid):
        session.read(0.2)
    while session.read(0.2):
        pass
    text = session.screen.text()
    assert text == ANSWER, text  # the line is gone
    assert session.end() == 0


def a_program_that_tells_how_far_it_is_has_no_other_line(start, folder):
    session = start("program.cot", "slowly", "--args", LONG, "--engine", "eval", verb="run")
    session.expect(" 50 %")
    while alive(session.pid):
        session.read(0.2)
        assert "MB" not in session.screen.text(), session.screen.text()


def ctrl_c_ends_a_long_run_below_its_line(start, folder):
    session = start("program.cot", "forever", "--args", "[0]", "--engine", "eval", verb="run")
    session.expect(" MB of memory")
    session.mark = 0  # the line goes
    session.send(CTRL_C)
    session.expect("E0804")
    assert session.end() == 1
    assert "steps" not in session.screen.text(), session.screen.text()


def nothing_is_shown_of_a_long_run_in_a_pipe(start, folder):
    done = subprocess.run([COTAN, "run", os.path.join(folder, "program.cot"), "slow", "--args", LONG, "--engine", "eval"],
                          capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (ANSWER, ""), done


TESTS = [test for name, test in sorted(globals().items())
         if callable(test) and getattr(test, "__code__", None) and test.__code__.co_varnames[:2] == ("start", "folder")]


def run(test, cotan):
    folder = tempfile.mkdtemp(prefix="cotan-terminal-")
    sessions = []

    def start(*words, env=None, verb="repl"):
        sessions.append(Session(cotan, folder, *(words or ("program.cot",)), env=env, verb=verb))
        return sessions[-1]

    try:
        with open(os.path.join(folder, "program.cot"), "w") as file:
            file.write(PROGRAM)
        os.mkdir(os.path.join(folder, "Mine"))
        with open(os.path.join(folder, "Mine", "Shapes.cot"), "w") as file:
            file.write("module Mine.Shapes where\ncorners :: Int\ncorners = 4\n")
        test(start, folder)
        return True
    except AssertionError as error:
        print(f"FAIL {test.__name__}: {error}")
        return False
    finally:
        for session in sessions:
            session.kill()
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("words", nargs="*")
    parser.add_argument("--quick", action="store_true", help="long runs take a tenth of the steps: for a build that is as much slower")
    options = parser.parse_args()
    global COTAN, LONG, ANSWER
    steps = 100_000_000 if options.quick else 1_000_000_000
    LONG, ANSWER = f"[{steps}]", f"{steps * (steps + 1) // 2}\n"
    COTAN = cotan = os.path.abspath(options.cotan)
    results = [run(test, cotan) for test in TESTS if not options.words or any(w in test.__name__ for w in options.words)]
    print(f"the terminal: {sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if results and all(results) else 1)


main()
