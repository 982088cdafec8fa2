"""Cotan from Python: programs in a strict Haskell whose functions are differentiated.

    import cotan
    model = cotan.load("curve.cot")
    model.loss(curve, times, values)
    model.loss.value_and_grad(curve, times, values, wrt="c")

See docs/python.md of the repository.
"""
from . import _core
from ._errors import CheckError, Error, InputError, InternalError, LimitError, ProgramError, explain
from ._flatten import flatten
from ._model import Derivative, Function, Model, load, source

__version__ = _core.version
__all__ = [
    "CheckError", "Derivative", "Error", "Function", "InputError", "InternalError", "LimitError", "Model", "ProgramError", "explain",
    "flatten", "load", "methods", "source",
]


def methods():
    """The methods of differentiation: (name, what it is, figure of its paper, whether it is reverse)."""
    return _core.methods()


def load_ipython_extension(ipython):
    """%load_ext cotan: the magic %%cotan."""
    from . import _notebook

    _notebook.register(ipython)
