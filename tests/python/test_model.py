"""Models: help, errors, threads, interrupts, pickles, notebooks; and what a call costs."""
import gc
import inspect
import os
import pickle
import pydoc
import signal
import subprocess
import sys
import threading
import time
import weakref
from functools import partial

import numpy
import pytest

import cotan

SLOW = "spin :: Double -> Double\nspin n = go n where\n  go k = if k < 0.5 then k else go (k - 1)\nf :: Double -> Double\nf x = x * x\n"


def test_help_and_signatures(curve):
    text = pydoc.render_doc(curve.loss, renderer=pydoc.plaintext)
    assert "loss :: Curve -> Array Double -> Array Double -> Double" in text
    assert "values  Array Double: float64 of 1 dimension" in text
    assert str(inspect.signature(curve.loss)) == "(c: 'Curve', times: 'Array Double', values: 'Array Double') -> 'Double'"
    assert "wrt" in inspect.signature(curve.loss.grad).parameters
    commented = cotan.source("-- | Twice\n-- a number.\ntwice :: Double -> Double\ntwice x = 2 * x\n")
    assert "Twice\n    a number." in pydoc.render_doc(commented.twice, renderer=pydoc.plaintext)
    assert "loss" in dir(curve) and "Curve" in dir(curve) and "loss ::" in repr(curve)
    with pytest.raises(AttributeError, match="defines no 'lost': it defines at, loss"):
        curve.lost


def test_calls_like_pythons(curve):
    c, t = curve.Curve(1, 2, 3, 4), [0.0]
    assert curve.loss(c, t, values=[5.0]) == curve.loss(values=[5.0], times=t, c=c) == 0
    assert curve.loss({"amplitude": 1, "damping": 2, "frequency": 3, "offset": 4}, t, [5.0]) == 0
    for wrong in (lambda: curve.loss(c, t), lambda: curve.loss(c, t, t, t), lambda: curve.loss(c, t, y=t), lambda: curve.loss(c, t, c=c)):
        with pytest.raises(TypeError):
            wrong()


def test_models_are_freed():
    """Also those whose functions, derivatives and classes were used."""

    def used(i):
        model = cotan.source(f"data T = T Double\nf :: T -> Double -> Double\nf (T a) x = a * x + {i}\n", native=False)
        model.f.grad(model.T(1.0), 2.0, wrt="x")
        return weakref.ref(model)

    alive = [used(i) for i in range(5)]
    gc.collect()
    assert not any(one() for one in alive)
    kept = cotan.source("data T = T Double\nf :: T -> T\nf t = t\n").f
    gc.collect()
    assert pickle.loads(pickle.dumps(kept))(pickle.loads(pickle.dumps(kept._model.T(2.0))))._1 == 2


def test_errors_tell_their_place():
    with pytest.raises(cotan.ProgramError) as raised:
        cotan.source("f x = x +\n  lenght [x]\n", "wrong.cot")
    error = raised.value
    assert (error.code, error.file, error.line, error.column) == ("E0302", "wrong.cot", 2, 3)
    assert "lenght [x]" in str(error) and "^" in str(error)
    html = error._repr_html_()
    assert "<span" in html and "lenght" in html and "\x1b" not in html
    assert "E0302" in cotan.explain(error.code)
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, str(again)) == (error.code, str(error))
    failing = cotan.source("f :: Array Double -> Int -> Double\nf xs i = xs ! i\n")
    with pytest.raises(cotan.ProgramError) as raised:
        failing.f([1.0], 3)
    assert raised.value.code == "E0501" and raised.value.line == 2
    assert failing.f([1.0], 0) == 1
    with pytest.raises(cotan.ProgramError):
        failing.f.grad([1.0], 3, wrt="xs")


def test_limits():
    limited = cotan.source("f :: Int -> Int\nf n = if n < 0 then 0 else 1 + f (n + 1)\n", steps=10000)
    with pytest.raises(cotan.LimitError) as raised:
        limited.f(1)
    assert raised.value.code == "E0802" and limited.f(-1) == 0


def test_modules_in_folders(tmp_path):
    (tmp_path / "Half.cot").write_text("module Half where\nhalf :: Double -> Double\nhalf x = x / 2\n")
    (tmp_path / "main.cot").write_text("import Half\nf :: Double -> Double\nf x = half (x * x)\n")
    assert cotan.load(tmp_path / "main.cot").f.grad(3.0) == 3


def test_threads_run_side_by_side(curve):
    t = numpy.linspace(0, 1, 50)
    wrong = []

    def work(k):
        c = curve.Curve(float(k), 0.5, 1.0, 0.0)
        expected = curve.loss.value_and_grad(c, t, t, wrt="c")
        wrong.extend(k for _ in range(100) if curve.loss.value_and_grad(c, t, t, wrt="c") != expected)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_interpreter_runs_on_meanwhile():
    """The lock of the interpreter is released: a thread of Python goes on while a call runs."""
    model = cotan.source(SLOW, native=False)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    model.spin(10_000_000)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(begin < tick < end for tick in ticks) >= 3


@pytest.mark.parametrize("native", [True, False])
def test_interrupts(native):
    """Ctrl-C ends a run, also behind a handler that the program has set itself, and the model stays usable."""
    code = f"""
import cotan, os, signal, threading, time
model = cotan.source({SLOW!r}, native={native})
model.f(1.0); model.spin(10)
for own in (False, True):
    if own:
        time.sleep(0.02)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.perf_counter()
    try:
        model.spin(1e15)
    except KeyboardInterrupt:
        assert time.perf_counter() - begin < 5
        print("interrupted", model.f(3.0), model.f.grad(3.0))
"""
    # Where the tests run in the background of a shell, SIGINT is ignored, which processes inherit.
    restore = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, preexec_fn=restore)
    assert done.stdout == "interrupted 9.0 6.0\n" * 2, done.stderr


def test_pickles(curve):
    c, t = curve.Curve(1.0, 0.5, 2.0, 0.0), numpy.linspace(0, 1, 5)
    loss, gradient = pickle.loads(pickle.dumps((curve.loss, curve.loss.grad)))
    again = pickle.loads(pickle.dumps(c))
    assert again == c and loss(again, t, t) == curve.loss(c, t, t)
    assert gradient(c, t, t, wrt="c") == curve.loss.grad(c, t, t, wrt="c")
    colours = cotan.source("data Colour = Red | Green\nf :: Colour -> Int\nf Red = 0\nf Green = 1\n")
    assert pickle.loads(pickle.dumps(colours.Green)) is colours.Green


def test_names_that_every_model_has():
    model = cotan.source("text :: Double -> Double\ntext x = x * x\n", "named.cot")
    assert model.text.startswith("text ::")
    square = model.functions["text"]
    assert square(3.0) == 9.0 and model.functions["text"] is square and pickle.loads(pickle.dumps(square)) is square
    assert pickle.loads(pickle.dumps(square.grad))(3.0) == 6.0


def work(job):
    model, c, t = job
    return model.loss.grad(c, t, t, wrt="c")


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes(curve, start):
    import multiprocessing

    c, t = curve.Curve(1.0, 0.5, 2.0, 0.0), numpy.linspace(0, 1, 5)
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map(work, [(curve, c, t)] * 4) == [work((curve, c, t))] * 4


def test_nothing_leaks():
    model = cotan.source("f :: [Double] -> Array Double -> Double\nf xs ys = sum xs + sum ys\n", native=False)
    ys = numpy.ones(10)
    before = sys.getrefcount(ys)

    def many():
        for _ in range(2000):
            model.f.value_and_grad([1.0, 2.0], ys)
            try:
                model.f([1.0, "x"], ys)
            except cotan.InputError:
                pass

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    many()
    start = resident()
    for _ in range(5):
        many()
    assert sys.getrefcount(ys) == before
    assert resident() - start < 2_000_000
