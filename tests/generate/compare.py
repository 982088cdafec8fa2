"""Whether two answers are the same: to the last bit, or to what the order of sums and the condition of the program allow."""
import json
import math

SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def leaves(value, out, shape):
    """The numbers of a JSON value, in order; `shape` gets all else."""
    if isinstance(value, bool) or value is None:
        shape.append(value)
    elif isinstance(value, (int, float)):
        out.append(float(value))
        shape.append("#")
    elif isinstance(value, str):
        if value in SPECIAL:
            out.append(SPECIAL[value])
            shape.append("#")
        else:
            shape.append(value)
    elif isinstance(value, list):
        shape.append(len(value))
        for v in value:
            leaves(v, out, shape)
    else:
        for k, v in value.items():
            shape.append(k)
            leaves(v, out, shape)


def flatten(text):
    out, shape = [], []
    leaves(json.loads(text), out, shape)
    return out, shape


def kind_of(x):
    return "nan" if math.isnan(x) else "inf" if math.isinf(x) else "finite"


def differ(a, b, tolerance, floor=1e-290):
    """None where the JSON texts agree, else (kind, index of the number, a's, b's). Kinds: 'shape', 'finite' (one is, the other is
    not), 'number'. A number is measured against itself, against a thousandth of the largest beside it, and against the floor."""
    if a == b:
        return None
    xs, s = flatten(a)
    ys, r = flatten(b)
    if s != r or len(xs) != len(ys):
        return ("shape", 0, 0, 0)
    size = max((abs(v) for v in xs + ys if kind_of(v) == "finite"), default=0)
    worst = None
    for k, (x, y) in enumerate(zip(xs, ys)):
        finite = (kind_of(x) == "finite") + (kind_of(y) == "finite")
        if finite == 1:
            return ("finite", k, x, y)
        if finite == 0:
            continue
        far = abs(x - y) / max(abs(x), abs(y), 1e-3 * size, floor)
        if far > tolerance and (worst is None or far > worst[0]):
            worst = (far, k, x, y)
    return worst and ("number",) + worst[1:]


def perturbed(value, seed, eps):
    """The point, a little elsewhere. Equal numbers move alike and zeros stay, so that ties stay ties."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        if value == 0 or not math.isfinite(value):
            return value
        h = hash((round(value, 12), seed)) % 2001 - 1000
        return value * (1 + eps * h / 1000)
    if isinstance(value, list):
        return [perturbed(v, seed, eps) for v in value]
    if isinstance(value, dict):
        return {k: perturbed(v, seed, eps) for k, v in value.items()}
    return value


def is_conditioned(found, base, moved):
    """Whether the difference `found` is more than what the answer `base` changes by where the point moves a little."""
    kind, k, x, y = found
    xs, s = flatten(base)
    change = 0.0
    for text in moved:
        if text is None:
            return False
        ys, r = flatten(text)
        if s != r or len(xs) != len(ys):
            return False
        if any(kind_of(a) != kind_of(b) for a, b in zip(xs, ys)):
            return False
        if k < len(xs) and kind_of(xs[k]) == "finite":
            change = max(change, abs(xs[k] - ys[k]))
    if kind != "number":
        return True
    return abs(x - y) > 10 * change
