"""Records, tuples, lists and maps of numbers as one vector, and back: for optimisers that know vectors only."""
import dataclasses
import enum

import numpy

from ._types import Data


class _InOrder(dict):
    """A dict that unflatten made. For a record whose fields stand in another order it is refused: the vector of the record's gradient is in
    the order of the fields."""

    _cotan_in_order = True


def _order(key):
    """What sorts the keys of a dict as those of a Map, whose order Python does not always know: Nothing, constructors, their fields."""
    if key is None:
        return (0,)
    if isinstance(key, enum.Enum):
        return 1, key.value
    if isinstance(key, Data):
        return 1, (key.__cotan_index__, *map(_order, key.__cotan_values__()))
    if isinstance(key, frozenset):
        return 1, tuple(sorted(map(_order, key)))
    return 1, tuple(map(_order, key)) if isinstance(key, tuple) else key


def _walk(value, leaf):
    """Rebuilds a value with each of its Doubles, arrays of them included, replaced by leaf(it). Integers, truth values and texts stay."""
    if isinstance(value, (float, numpy.floating)):
        return float(leaf(numpy.asarray(value, float)))
    if isinstance(value, numpy.ndarray):
        if numpy.ma.is_masked(value):
            raise ValueError("a masked array has numbers that are missing, of which a vector has none")
        return leaf(value) if value.dtype.kind == "f" else value
    if isinstance(value, Data):
        return type(value)(*(_walk(getattr(value, field.name), leaf) for field in dataclasses.fields(value)))
    if isinstance(value, (list, tuple)):
        return type(value)(_walk(item, leaf) for item in value)
    if isinstance(value, dict):
        return _InOrder((key, _walk(value[key], leaf)) for key in sorted(value, key=_order))
    return value


def flatten(value):
    """The Doubles of a value as a vector, and a function that puts a vector's numbers in their places:

    vector, unflatten = cotan.flatten(curve)

    Gradients have the structure of the point, so flatten(gradient)[0] is the gradient in terms of the vector. The numbers of a dict are in
    the order of its keys."""
    parts = []

    def collect(array):
        parts.append(numpy.ravel(array).astype(float))
        return array

    _walk(value, collect)

    def unflatten(vector):
        vector, at = numpy.asarray(vector, float), 0
        if vector.shape != (sum(map(len, parts)),):
            raise ValueError(f"expected a vector of {sum(map(len, parts))} numbers, found the shape {vector.shape}")

        def place(array):
            nonlocal at
            at += array.size
            return vector[at - array.size:at].reshape(array.shape).copy()

        return _walk(value, place)

    return (numpy.concatenate(parts) if parts else numpy.zeros(0)), unflatten
