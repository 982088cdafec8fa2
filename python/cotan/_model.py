"""Models: programs whose functions are attributes."""
import functools
import inspect
import numbers
import os
import threading
import typing
import weakref

from . import _core
from ._errors import CheckError, InputError
from ._types import Classes, identifier, identifiers

RUN, GRAD, VJP, JVP, JACOBIAN, HESSIAN, HVP = range(7)
VALUE, DERIVATIVE, BOTH = range(3)

# How each derivative is called: its mode, what it gives, the name of the second input, and what it says of itself. The expressions are those
# with respect to some of the parameters: of the function f, at the point p, with the second input entry'dx.
_KINDS = {
    "value_and_grad": (GRAD, BOTH, None, "entry'grad ({f}) {p}", "The value and the gradient"),
    "grad": (GRAD, DERIVATIVE, None, "entry'grad ({f}) {p}", "The gradient"),
    "jvp": (JVP, BOTH, "tangent", "entry'jvp ({f}) ({p}, entry'dx)", "The value and the derivative along a tangent"),
    "vjp": (VJP, BOTH, "cotangent", "entry'vjp ({f}) ({p}, entry'dx)", "The value and the product of a cotangent with the Jacobian"),
    "jacobian": (JACOBIAN, DERIVATIVE, None, "entry'jacobian ({f}) {p}", "The Jacobian: a row for each number of the result"),
    "hessian": (HESSIAN, DERIVATIVE, None, "entry'hessian ({f}) {p}", "The Hessian: a row for each number of the point"),
    "hvp": (HVP, DERIVATIVE, "direction", "entry'hvp ({f}) ({p}, entry'dx)", "The product of the Hessian and a direction"),
}


class Derivative(_core.Entry):
    """A derivative of a function: called with the function's arguments, then the tangent, cotangent or direction where there is one.

    wrt: the name of a parameter, its number, or a tuple of such: only with respect to these. method: one of cotan.methods()."""

    def __new__(cls, function, kind, wrt=None, method=None):
        model = function._model
        mode, gives, second, expression, _ = _KINDS[kind]
        names = function.parameters + ((second,) if second else ())
        text = None
        if wrt is not None:
            text, mode = _expression(function, wrt, second is not None, expression), RUN
        by_name = {}  # the derivatives with respect to one parameter: the extension looks here first
        self = super().__new__(cls, model._program, mode, function.name, text, method or model.method, model.native, gives, names, by_name)
        self._function, self._kind, self._wrt, self._method, self._by, self._by_name = function, kind, wrt, method, {}, by_name
        return self

    def __init__(self, *_, **__):
        pass

    def _variant(self, wrt, method):
        indices = parameter_indices(self._function, wrt)
        key = (indices, method)
        if key not in self._by:
            self._by[key] = Derivative(self._function, self._kind, indices, method)
            if isinstance(wrt, str) and method is None:
                self._by_name[wrt] = self._by[key]
        return self._by[key]

    @property
    def not_native(self):
        """Why the evaluator runs it; None: it is native code."""
        return self._not_native()

    @property
    def __doc__(self):
        return f"{_KINDS[self._kind][4]} of {self._function.name} :: {self._function.type}"

    @property
    def __signature__(self):
        second = _KINDS[self._kind][2]
        given = self._function._signature_parameters()
        kinds = inspect.Parameter
        extra = [kinds(second, kinds.POSITIONAL_OR_KEYWORD)] if second else []
        return inspect.Signature(given + extra + [kinds(name, kinds.KEYWORD_ONLY, default=None) for name in ("wrt", "method")])

    def __repr__(self):
        return f"<{self._function.name}.{self._kind}>"

    def __reduce__(self):
        return _derivative, (self._function, self._kind, self._wrt, self._method)


def _derivative(function, kind, wrt, method):
    found = getattr(function, kind)
    return found if wrt is None and method is None else found._variant(wrt, method)


def _parameter_index(function, wrt):
    for name, names in ((wrt, function._definition[4]), (wrt, function.parameters), (identifier(str(wrt)), function.parameters)):
        if isinstance(wrt, str) and name in names:
            return list(names).index(name)
    if isinstance(wrt, numbers.Integral) and not isinstance(wrt, bool) and 0 <= wrt < len(function.parameters):
        return int(wrt)
    raise InputError(f"{function.name} has no parameter {wrt!r}: it has {', '.join(function.parameters)}")


def parameter_indices(function, wrt):
    """wrt as a number or a tuple of numbers."""
    if wrt is None:
        return None
    if not isinstance(wrt, (tuple, list)):
        return _parameter_index(function, wrt)
    indices = tuple(_parameter_index(function, one) for one in wrt)
    if not indices or len(set(indices)) < len(indices):
        raise InputError(f"{function.name}: wrt={wrt!r} {'names a parameter twice' if indices else 'names no parameter'}")
    return indices


def _expression(function, wrt, second, text):
    """The names of its variables are hardly a program's."""
    names = [f"entry'x{i}" for i in range(len(function.parameters))]
    chosen = [names[i] for i in wrt] if isinstance(wrt, tuple) else [names[wrt]]
    point = f"({', '.join(chosen)})" if len(chosen) > 1 else chosen[0]
    inner = f"\\{point} -> {function.name} {' '.join(names)}"
    body = text.format(f=inner, p=point)
    if second:
        names.append("entry'dx")
    return f"\\{' '.join(names)} -> {body}"


class Function(_core.Entry):
    """A function of a program: called as in Python; its derivatives are attributes."""

    def __new__(cls, model, definition, method=None):
        name, type_, comment, line, parameters, types, result = definition
        given = [name or f"arg{i + 1}" for i, name in enumerate(parameters)]
        names = tuple(identifiers(given)[name] for name in given)
        names = tuple(f"{name}_{i + 1}" if name in names[:i] else name for i, name in enumerate(names))
        self = super().__new__(cls, model._program, RUN, name, None, method or model.method, model.native, VALUE, names, {})
        self._model, self._definition, self._by = model, definition, {}
        self.__name__ = self.__qualname__ = self.name = name
        self.type, self.comment, self.line, self.parameters = type_, comment, line, names
        self.parameter_types, self.result_type = tuple(types), result
        return self

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        if name not in _KINDS:
            raise AttributeError(f"a function of Cotan has no attribute {name!r}; its derivatives are {', '.join(_KINDS)}")
        made = self.__dict__[name] = Derivative(self, name)
        return made

    def __dir__(self):
        return [*super().__dir__(), *_KINDS]

    def _variant(self, wrt, method):
        if wrt is not None:
            raise InputError(f"{self.name}: wrt is for derivatives, such as {self.name}.grad")
        if method not in self._by:
            self._by[method] = Function(self._model, self._definition, method)
        return self._by[method]

    @property
    def not_native(self):
        """Why the evaluator runs it; None: it is native code."""
        return self._not_native()

    def check(self, *args, method=None, raises=False):
        """Holds the derivatives at a point against finite differences, and against each other. True when they agree: a Check."""
        agrees, rows, rules = self._model._program.check(self.name, self._json(*args), method or self._model.method)
        result = Check(self.name, agrees, rows, rules)
        if raises and not agrees:
            raise CheckError(str(result))
        return result

    def explain(self, *args, method=None, html=True):
        """How a method differentiates the function, stage by stage; with arguments, also the numbers of a run. In a notebook the page stands
        below the cell."""
        point = self._json(*args) if args else None
        text = functools.partial(self._model._program.stages, self.name, point, method or self._model.method)
        return Explanation(text, html)

    def _signature_parameters(self):
        kinds = inspect.Parameter
        return [kinds(name, kinds.POSITIONAL_OR_KEYWORD, annotation=type_ or kinds.empty)
                for name, type_ in zip(self.parameters, self.parameter_types)]

    @property
    def __signature__(self):
        return inspect.Signature(self._signature_parameters(), return_annotation=self.result_type or inspect.Signature.empty)

    @property
    def __doc__(self):
        lines = [f"{self.name} :: {self.type}", ""]
        if self.comment:
            lines += [self.comment, ""]
        width = max((len(name) for name in self.parameters), default=0)
        lines += [f"  {name:{width}}  {_shape(type_)}" for name, type_ in zip(self.parameters, self.parameter_types)]
        lines += [f"  {'->':{width}}  {_shape(self.result_type)}"]
        return "\n".join(lines)

    def __repr__(self):
        return f"<{self.name} :: {self.type}>"

    def __reduce__(self):
        return Model._member, (self._model, self._model._identifiers[self.name])


def _shape(type_):
    """A type, and for arrays of numbers what NumPy calls it."""
    element, rank = type_ or "?", 0
    while element.startswith("Array "):
        element, rank = element[6:], rank + 1
        if element.startswith("(") and element.endswith(")") and "," not in element:
            element = element[1:-1]
    dtypes = {"Double": "float64", "Float": "float32", "Int": "int64", "Bool": "bool"}
    if rank and element in dtypes:
        return f"{type_}: {dtypes[element]} of {rank} dimension{'s' * (rank > 1)}"
    return type_ or "?"


class Check:
    """What came of a check: true when all agrees. `rows` are (what, derivative, expected, difference, agrees), where they differ most; `rules`
    the places of custom derivatives, (file, line, column, is wrong)."""

    def __init__(self, name, agrees, rows, rules):
        self.name, self.agrees, self.rows, self.rules = name, agrees, rows, rules

    def __bool__(self):
        return self.agrees

    def __repr__(self):
        lines = [f"{'agrees' if agrees else 'DIFFERS'}  {what}: {derivative:.9g}, expected {expected:.9g}"
                 for what, derivative, expected, _, agrees in self.rows]
        lines += [f"{file}:{line}:{column}: this rule for a derivative is wrong" for file, line, column, wrong in self.rules if wrong]
        return "\n".join(lines + [f"the derivatives of {self.name} {'agree' if self.agrees else 'disagree'}"])


class Explanation:
    """The stages of a method. `text` as the command prints them, `html` as a page (which needs the program `dot` of Graphviz)."""

    def __init__(self, make, shows_html):
        self._make, self._shows_html = make, shows_html

    @functools.cached_property
    def text(self):
        return self._make(0)

    @functools.cached_property
    def html(self):
        return self._make(2)

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        import html

        if not self._shows_html:
            return None
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 40em; border: 1px solid #ccc"></iframe>'


_models = weakref.WeakValueDictionary()
_lock = threading.Lock()


class Model:
    """A program that is loaded: cotan.load and cotan.source make it. Functions are attributes, constants are their values, and the classes of its
    data types are attributes, too."""

    def __init__(self, text, name="<text>", *, path=(), method=None, native=True, threads=1, memory=0, steps=0, depth=0, exact_math=False):
        folders = (path,) if isinstance(path, (str, os.PathLike)) else tuple(path)
        self._options = dict(path=tuple(os.fspath(folder) for folder in folders), method=method, native=native, threads=threads, memory=memory,
                             steps=steps, depth=depth, exact_math=exact_math)
        self.name, self.text, self.method, self.native = name, text, method, native
        self._classes, self._members = Classes(self), {}
        self._program = _core.Program(name, text, self._options["path"], self._classes, memory, steps, depth, threads, exact_math)
        self.warnings = self._program.warnings()
        definitions = self._program.definitions()
        self._identifiers = identifiers([one[0] for one in definitions])
        self._definitions = {self._identifiers[one[0]]: one for one in definitions}

    def __getattr__(self, name):
        if name.startswith("__") or "_definitions" not in self.__dict__:
            raise AttributeError(name)
        made = self.__dict__[name] = self._member(name)
        return made

    def _member(self, name):
        """What the program defines under a name, also one that is an attribute of every model, such as `text`."""
        if name not in self._members:
            self._members[name] = self._make_member(name)
        return self._members[name]

    def _make_member(self, name):
        definition = self._definitions.get(name)
        if definition is None:
            found = self._classes.constructors().get(name)
            if found is None:
                raise AttributeError(f"{self.name} defines no {name!r}: it defines {', '.join(self._definitions)}")
            return found
        function = Function(self, definition)
        return function if definition[4] or "->" in definition[1] else function()

    def __dir__(self):
        return sorted({*super().__dir__(), *self._definitions, *self._classes.constructors()})

    @property
    def functions(self):
        """The functions, by their names."""
        return {name: self._member(name) for name, definition in self._definitions.items() if definition[4]}

    def __repr__(self):
        return "\n".join([f"<{self.name}>"] + [f"  {definition[0]} :: {definition[1]}" for definition in self._definitions.values()])

    def __reduce__(self):
        return _again, (self.text, self.name, tuple(self._options.items()))


def _again(text, name, options):
    """A model of the same source and settings: the one that there is, so that its values fit."""
    key = (text, name, options)
    with _lock:
        found = _models.get(key)
    return found if found is not None else _remembered(Model(text, name, **dict(options)))


def _remembered(model):
    with _lock:
        _models[(model.text, model.name, tuple(model._options.items()))] = model
    return model


def source(text, name="<text>", **options) -> typing.Any:
    """A model of a program's text. Options:

    path        folders in which imported modules are looked for
    native      False: the evaluator runs everything; no C compiler is started
    method      the method of differentiation, one of cotan.methods(); None: the best
    threads     for long loops over arrays, within one call
    memory, steps, depth    limits of a call: bytes, steps of the evaluator, waiting calls; 0: the library's own
    exact_math  the same results as libm's, to the last bit"""
    return _remembered(Model(text, name, **options))


def load(file, **options) -> typing.Any:
    """A model of a file. Modules that it imports are looked for in its folder, too. Options: see source."""
    file = os.fspath(file)
    with open(file, encoding="utf-8") as opened:
        text = opened.read()
    path = options.pop("path", ())
    folders = (path,) if isinstance(path, (str, os.PathLike)) else tuple(path)
    return source(text, file, path=(os.path.dirname(file) or ".", *folders), **options)
