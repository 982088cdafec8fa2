"""Records, tuples, lists and maps of numbers as one vector, and back: for optimisers that know vectors only."""
import dataclasses

import numpy

from ._types import Data


def _walk(value, leaf):
    """Rebuilds a value with each of its Doubles, arrays of them included, replaced by leaf(it). Integers, truth values and texts stay."""
    if isinstance(value, (float, numpy.floating)):
        return float(leaf(numpy.asarray(value, float)))
    if isinstance(value, numpy.ndarray):
        return leaf(value) if value.dtype.kind == "f" else value
    if isinstance(value, Data):
        return type(value)(*(_walk(getattr(value, field.name), leaf) for field in dataclasses.fields(value)))
    if isinstance(value, (list, tuple)):
        return type(value)(_walk(item, leaf) for item in value)
    if isinstance(value, dict):
        return {key: _walk(item, leaf) for key, item in value.items()}
    return value


def flatten(value):
    """The Doubles of a value as a vector, and a function that puts a vector's numbers in their places:

    vector, unflatten = cotan.flatten(curve)

    Gradients have the structure of the point, so flatten(gradient)[0] is the gradient in terms of the vector."""
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
