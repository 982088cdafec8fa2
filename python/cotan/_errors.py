"""The exceptions: errors of the library, with code, place and the marked line of the source."""
import collections.abc
import html
import re

import numpy

from . import _core


class Error(Exception):
    """An error of Cotan's. `errors` lists all that came of one call, as (code, message, file, line, column); code, message, file, line and
    column are those of the first. A line is 0, and a file None, where there is no place."""

    def __init__(self, message, errors=(), text=None, coloured=None):
        super().__init__(message)
        self.errors = errors
        self.text = text if text is not None else message  # as the command prints it, with the source line marked
        self._coloured = coloured if coloured is not None else self.text
        first = errors[0] if errors else (None, message, None, 0, 0)
        self.code, self.message, self.file, self.line, self.column = first

    def __str__(self):
        return self.text.rstrip("\n")

    def __reduce__(self):
        return type(self), (self.message, self.errors, self.text, self._coloured)

    def _repr_html_(self):
        return f'<pre style="white-space: pre-wrap">{_html_of(self._coloured)}</pre>'

    def _render_traceback_(self):
        """What IPython shows in place of a traceback: the place in the Cotan program."""
        return self._coloured.rstrip("\n").split("\n")


class ProgramError(Error):
    """The program has an error, or fails when it runs."""


class InputError(Error, TypeError, ValueError):
    """An argument does not fit the type of the parameter, or a function, method or option does not exist."""


class CheckError(Error):
    """Derivatives disagree."""


class LimitError(ProgramError):
    """A limit of the model has been reached (memory, steps, depth), or the call was interrupted."""


class InternalError(Error):
    """A fault of Cotan's own."""


_KINDS = {1: ProgramError, 2: InputError, 3: CheckError, 4: InternalError}


def make_error(status, errors, text, coloured):
    limit = errors and errors[0][0].startswith("E08")
    kind = LimitError if limit else _KINDS.get(status, Error)
    return kind(errors[0][1] if errors else text, errors, text, coloured)


_COLOURS = {"31": "#c0392b", "32": "#2e7d32", "33": "#b8860b", "34": "#1565c0", "35": "#8e24aa", "36": "#00838f"}


def _html_of(text):
    """The colours of a terminal as HTML."""
    out, open_ = [], 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        if not part.startswith("\x1b["):
            out.append(html.escape(part))
            continue
        out.append("</span>" * open_)
        codes = [code for code in part[2:-1].split(";") if code not in ("", "0")]
        styles = [f"color: {_COLOURS[code]}" for code in codes if code in _COLOURS] + ["font-weight: bold"] * ("1" in codes)
        open_ = 1 if styles else 0
        if styles:
            out.append(f'<span style="{"; ".join(styles)}">')
    return "".join(out) + "</span>" * open_


def explain(code):
    """What an error code such as "E0301" means."""
    found = _core.explain(code)
    if found is None:
        raise KeyError(code)
    return f"{code}: {found[0]}\n\n{found[1]}"


def _as_array(value, dtype):
    """An array of NumPy in order, of a type: of the object's own memory where that can be. Numbers are not made Ints or Bools of
    Doubles, nor the reverse of Bools, and none is missing."""
    _look_within(value, dtype)
    array = numpy.asarray(value)
    if array.size and not numpy.can_cast(array.dtype, _LIMITS[dtype], "same_kind"):
        raise TypeError
    if array.size and dtype is not bool and array.dtype == bool:
        raise TypeError
    if array.size and dtype is numpy.int64 and array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.max() >= 2**63:  # it would wrap
        raise TypeError
    if dtype is bool:
        dtype = numpy.int64
    with numpy.errstate(over="raise"):  # a long double may be too large for a Double
        return numpy.require(array, dtype, ["C", "A"])


def _look_within(value, dtype):
    """Refuses what numpy.asarray changes without a word: it shows masked numbers, and makes numbers of Bools that stand among numbers."""
    if type(value) is numpy.ndarray:
        return
    if isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes, range)):
        kinds = set(map(type, value))
        if kinds <= _PLAIN:
            return
        if dtype is not bool and not kinds.isdisjoint((bool, numpy.bool_)):
            raise TypeError
        if not all(issubclass(kind, (int, float, numpy.generic)) for kind in kinds):
            for item in value:
                _look_within(item, dtype)
    elif hasattr(value, "__array__") and numpy.ma.is_masked(numpy.asanyarray(value)):
        raise TypeError


_PLAIN = {int, float, numpy.float64}
_LIMITS = {numpy.float64: numpy.float64, numpy.int64: numpy.int64, bool: numpy.bool_}
_core.configure(make_error, InputError, _as_array, numpy.empty, numpy.ma.MaskedArray, (numpy.float64, numpy.float64, numpy.int64, bool, numpy.bool_, numpy.float32))
