"""Cotan's C library through ctypes: as much of include/cotan.h as the oracle needs."""
import ctypes as c
import os

RUN, GRAD, VJP, JVP, JACOBIAN = range(5)


class Limits(c.Structure):
    _fields_ = [("memory", c.c_size_t), ("steps", c.c_uint64), ("depth", c.c_uint64), ("threads", c.c_uint)]


class Call(c.Structure):
    _fields_ = [
        ("mode", c.c_int), ("function", c.c_char_p), ("expression", c.c_char_p), ("point", c.c_char_p),
        ("bind", c.c_char_p), ("at", c.c_char_p), ("with_", c.c_char_p), ("at_length", c.c_size_t),
        ("with_length", c.c_size_t), ("form", c.c_int), ("method", c.c_char_p), ("native", c.c_bool),
        ("native_after", c.c_uint64), ("count", c.c_bool), ("quotes", c.c_bool), ("no_json", c.c_bool),
        ("no_text", c.c_bool), ("constructed", c.c_bool), ("wrt", c.c_char_p), ("trap", c.c_int), ("prefix", c.c_char_p),
    ]


class Result(c.Structure):
    _fields_ = [
        ("value", c.c_char_p), ("derivative", c.c_char_p), ("value_text", c.c_char_p), ("derivative_text", c.c_char_p),
        ("value_text_length", c.c_size_t), ("derivative_text_length", c.c_size_t),
        ("file", c.c_void_p), ("file_length", c.c_size_t), ("steps", c.c_uint64), ("primal_steps", c.c_uint64),
        ("trace", c.c_uint64), ("span", c.c_uint64), ("primal_span", c.c_uint64), ("has_trace", c.c_bool),
        ("performed", c.c_bool), ("checkpoints", c.c_bool), ("is_unbound", c.c_bool), ("peak_memory", c.c_size_t), ("not_native", c.c_char_p), ("by_tape", c.c_char_p),
    ]


def load(path):
    lib = c.CDLL(path)
    for name, result, arguments in [
        ("cotan_open", c.c_void_p, [c.POINTER(Limits)]),
        ("cotan_close", None, [c.c_void_p]),
        ("cotan_load", c.c_void_p, [c.c_void_p, c.c_char_p, c.c_char_p, c.c_size_t, c.POINTER(c.c_void_p)]),
        ("cotan_call_json", c.c_void_p, [c.c_void_p, c.POINTER(Call), c.POINTER(Result)]),
        ("cotan_exact_math", None, [c.c_void_p, c.c_bool]),
        ("cotan_check_passes", None, [c.c_void_p, c.c_int]),
        ("cotan_set_limits", None, [c.c_void_p, c.POINTER(Limits)]),
        ("cotan_error_code", c.c_char_p, [c.c_void_p, c.c_size_t]),
        ("cotan_error_message", c.c_char_p, [c.c_void_p, c.c_size_t]),
        ("cotan_error_line", c.c_int, [c.c_void_p, c.c_size_t]),
        ("cotan_error_column", c.c_int, [c.c_void_p, c.c_size_t]),
    ]:
        f = getattr(lib, name)
        f.restype, f.argtypes = result, arguments
    return lib


class Failure:
    """An error of the library: its code, place and message."""

    def __init__(self, lib, error):
        self.code = lib.cotan_error_code(error, 0).decode()
        self.line, self.column = lib.cotan_error_line(error, 0), lib.cotan_error_column(error, 0)
        self.message = lib.cotan_error_message(error, 0).decode()

    def key(self):
        return (self.code, self.line, self.column, self.message)

    def is_limit(self):
        return self.code.startswith("E08")

    def __str__(self):
        return f"{self.code} at {self.line}:{self.column}: {self.message}"


class Session:
    """A program that is loaded. Calls give (value, derivative, notes) or a Failure."""

    def __init__(self, lib, text, threads=1, memory=1 << 30, checks=0):
        self.lib, self.threads, self.memory = lib, threads, memory
        self.context = lib.cotan_open(c.byref(Limits(memory, 0, 0, threads)))
        lib.cotan_check_passes(self.context, checks)
        self.program = c.c_void_p()
        bytes_ = text.encode()
        error = lib.cotan_load(self.context, b"program.cot", bytes_, len(bytes_), c.byref(self.program))
        self.failure = Failure(lib, error) if error else None

    def close(self):
        self.lib.cotan_close(self.context)

    def call(self, mode, function, at, with_=None, method=None, native=False, exact=True, steps=0, threads=1):
        self.lib.cotan_exact_math(self.context, exact)
        self.lib.cotan_set_limits(self.context, c.byref(Limits(self.memory, steps, 0, threads)))
        call, result = Call(), Result()
        call.mode, call.function, call.at = mode, function.encode(), at.encode()
        if with_ is not None:
            call.with_ = with_.encode()
        if method is not None:
            call.method = method.encode()
        call.native, call.no_text = native, True
        error = self.lib.cotan_call_json(self.program, c.byref(call), c.byref(result))
        if error:
            return Failure(self.lib, error), result
        derivative = result.derivative.decode() if result.derivative else None
        return (result.value and result.value.decode(), derivative), result


def default_path():
    return os.path.join(os.path.dirname(__file__), "..", "..", "build", "libcotan.so")
