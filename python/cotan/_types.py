"""Classes for the data types of a program: dataclasses for constructions, members of an Enum where no constructor has a field."""
import dataclasses
import enum
import keyword
import re

import numpy


def _same(a, b):
    if isinstance(a, numpy.ndarray) or isinstance(b, numpy.ndarray):
        return numpy.array_equal(a, b)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return a == b


def identifier(name):
    """A name of Cotan's as one of Python's: primes become underscores, and keywords get one."""
    name = name.replace("'", "_")
    return name + "_" if keyword.iskeyword(name) else name


def identifiers(names):
    """Different names of Python's for different names of Cotan's: one that needs no change keeps its own, and others give way to it by
    further underscores."""
    made = {name: name for name in names if identifier(name) == name}
    taken = set(made)
    for name in names:
        if name not in made:
            made[name] = identifier(name)
            while made[name] in taken:
                made[name] += "_"
            taken.add(made[name])
    return made


class Data:
    """A construction. Two are equal if the constructors are and the fields are, arrays by their numbers.

    What it has besides its fields has names that a program hardly gives to fields."""

    def __cotan_values__(self):
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def __eq__(self, other):
        if getattr(other, "__cotan__", None) != self.__cotan__:
            return NotImplemented
        return all(map(_same, self.__cotan_values__(), other.__cotan_values__()))

    def __hash__(self):
        return hash((self.__cotan__, self.__cotan_values__()))

    def __reduce__(self):
        return _rebuild, (self.__cotan_model__, self.__cotan_key__, self.__cotan_index__, self.__cotan_values__())


def _rebuild(model, key, index, values):
    return model._classes[key][index](*values)


class Classes:
    """The classes of a model, made when a type is first met."""

    def __init__(self, model):
        self.model = model
        self.known = {}

    def __call__(self, type_name, constructors):
        """The class, or the member of an Enum, for each of [(name, names of the fields or None, their types)]. A type at several arguments,
        as Pair Int Double and Pair Double Int, has the classes of the first."""
        head = re.match(r"[^ ]*", type_name).group()
        key = (head, *((name, *(fields if fields is not None else (len(types),))) for name, fields, types in constructors))
        if key not in self.known:
            self.known[key] = self._make(head, key, constructors)
        return self.known[key]

    def __getitem__(self, key):
        return self.known[key]

    def _make(self, type_name, key, constructors):
        plain = identifier(type_name)
        if all(not types for _, _, types in constructors):
            names = identifiers([name for name, _, _ in constructors])
            members = enum.Enum(plain, list(names.values()), module=__name__)
            members.__reduce_ex__ = _reduce_member
            members._cotan_owner = self.model, key
            return [members[names[name]] for name, _, _ in constructors]
        base = type(plain, (Data,), {"__module__": __name__, "__doc__": f"data {type_name}"})
        return [self._class(base, type_name, key, index, *one) for index, one in enumerate(constructors)]

    def _class(self, base, type_name, key, index, name, fields, types):
        names = [identifiers(fields)[field] for field in fields] if fields is not None else [f"_{i + 1}" for i in range(len(types))]
        made = dataclasses.make_dataclass(
            identifier(name), [(field, of) for field, of in zip(names, types)], bases=(base,), eq=False,
            namespace={"__cotan__": f"{type_name}.{name}", "__cotan_key__": key, "__cotan_index__": index,
                       "__cotan_model__": self.model, "__module__": __name__})
        shown = ", ".join(f"{field} :: {of}" for field, of in zip(names, types)) if fields is not None else " ".join(types)
        made.__doc__ = f"{name} {{ {shown} }}, of the type {type_name}" if fields is not None else f"{name} {shown}, of the type {type_name}"
        return made

    def constructors(self):
        """Name -> class or member; of two with the same name in Cotan the first."""
        out = {}
        for (head, *names), objects in self.known.items():
            for (name, *_), one in zip(names, objects):
                out.setdefault(name, one)
                out.setdefault(head, type(one) if isinstance(one, enum.Enum) else one.__bases__[0])
        made = identifiers(out)
        return {made[name]: one for name, one in out.items()}


def _reduce_member(self, protocol):
    model, key = type(self)._cotan_owner
    return _rebuild_member, (model, key, self.value)


def _rebuild_member(model, key, value):
    return model._classes[key][value - 1]
