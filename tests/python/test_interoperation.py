"""With the libraries that people use: each test is run against the real library, and skipped where it is not installed."""
import numpy
import pytest

import cotan


@pytest.fixture(scope="module")
def data(curve):
    times = numpy.linspace(0, 6, 40)
    true = curve.Curve(2.0, 0.3, 1.5, 1.0)
    return times, numpy.array([curve.at(true, t) for t in times]), true


def test_scipy_minimize(curve, data):
    optimize = pytest.importorskip("scipy.optimize")
    times, values, true = data
    start, unflatten = cotan.flatten(curve.Curve(1.0, 0.1, 1.4, 0.0))

    def loss(vector):
        value, gradient = curve.loss.value_and_grad(unflatten(vector), times, values, wrt="c")
        return value, cotan.flatten(gradient)[0]

    found = optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    assert numpy.allclose(found.x, cotan.flatten(true)[0], atol=1e-6)


def test_dicts_are_flattened_as_their_gradients_are():
    model = cotan.source("""
import qualified Data.Map as M
data Rate = Rate { fast :: Double, slow :: Double }
data Turned = Turned { size :: Double, angle :: Double }
data Kind = Z | A | Other (Maybe Int) deriving (Eq, Ord)
f :: M.Map String Double -> Rate -> Double
f p r = 10 * (p M.! "a") + (p M.! "b") + fast r * 3 + slow r * 5
kinds :: M.Map Kind Double -> Double
kinds m = M.foldr (\\x y -> x + 2 * y) 0 m
turned :: Turned -> Double
turned t = size t * 2 + angle t
key :: Kind -> Kind
key k = k
""")
    point = {"b": 1.0, "a": 2.0}, {"slow": 3.0, "fast": 4.0}
    vector, unflatten = cotan.flatten(point)
    assert vector.tolist() == [2, 1, 4, 3] and unflatten(vector) == point
    slopes = cotan.flatten(model.f.grad(*unflatten(vector)))[0]
    assert slopes.tolist() == [10, 1, 3, 5]
    assert [cotan.flatten(row)[0].tolist() for row in model.f.hessian(*unflatten(vector))] == [[0, 0, 0, 0]] * 4
    kinds = {model.Other(2): 1.0, model.A(): 2.0, model.Other(None): 3.0, model.Z(): 4.0}
    assert cotan.flatten(kinds)[0].tolist() == [4, 2, 3, 1]
    assert cotan.flatten(model.kinds.grad(kinds))[0].tolist() == [1, 2, 4, 8]
    record = {"size": 1.0, "angle": 2.0}
    assert model.turned(record) == 4 and cotan.flatten(model.Turned(1.0, 2.0))[0].tolist() == [1, 2]
    vector, unflatten = cotan.flatten(record)
    with pytest.raises(cotan.InputError, match="the fields of Turned are not in the order of a dict's keys"):
        model.turned.grad(unflatten(vector))


def test_scipy_least_squares(data):
    optimize = pytest.importorskip("scipy.optimize")
    times, values, true = data
    model = cotan.source("""
residuals :: Array Double -> Array Double -> Array Double -> Array Double
residuals c ts ys = zipWith (\\t y -> c ! 0 * exp (negate (c ! 1) * t) * cos (c ! 2 * t) + c ! 3 - y) ts ys
""")
    found = optimize.least_squares(
        lambda c: model.residuals(c, times, values), [1.0, 0.1, 1.4, 0.0], lambda c: model.residuals.jacobian(c, times, values, wrt="c"))
    assert numpy.allclose(found.x, cotan.flatten(true)[0])


def test_pandas_and_arrow_columns(curve, data):
    pandas, times, values = pytest.importorskip("pandas"), data[0], data[1]
    frame = pandas.DataFrame({"t": times, "y": values, "n": numpy.arange(len(times))})
    c = curve.Curve(1.0, 0.1, 1.4, 0.0)
    expected = curve.loss(c, times, values)
    assert curve.loss(c, frame["t"], frame["y"]) == expected
    assert curve.loss(c, frame["n"], frame["y"]) == curve.loss(c, frame["n"].to_numpy(float), values)
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pandas(frame)
    assert curve.loss(c, table["t"], table["y"].combine_chunks()) == expected


@pytest.mark.heavy
def test_jax(curve, data):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import cotan.jax

    model = cotan.source("""
loss :: Array Double -> Array Double -> Double
loss w xs = sum (map (\\x -> log (1 + exp (negate x))) (map (* (w ! 0)) xs)) + (w ! 1) ^ 2
""")
    loss = cotan.jax.function(model.loss, wrt="w")
    xs, w = jax.numpy.array([0.5, -1.0, 2.0]), jax.numpy.array([0.3, 0.7])

    def in_jax(w, xs):
        return jax.numpy.sum(jax.numpy.log1p(jax.numpy.exp(-w[0] * xs))) + w[1] ** 2

    assert numpy.allclose(jax.jit(loss)(w, xs), in_jax(w, xs))
    found = jax.jit(jax.grad(lambda w: 2 * loss(jax.numpy.sin(w), xs)))(w)
    assert numpy.allclose(found, jax.grad(lambda w: 2 * in_jax(jax.numpy.sin(w), xs))(w))


@pytest.mark.heavy
def test_torch():
    torch = pytest.importorskip("torch")
    import cotan.torch

    model = cotan.source("loss :: Array Double -> Array Double -> Double\nloss w xs = sum (zipWith (\\a x -> sin (a * x)) w xs)\n")
    loss = cotan.torch.function(model.loss, wrt="w")
    w = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    xs = torch.tensor([2.0, 3.0], dtype=torch.float64)
    (3 * loss(w * 2, xs)).backward()
    own = w.detach().clone().requires_grad_()
    (3 * torch.sin(own * 2 * xs).sum()).backward()
    assert torch.allclose(w.grad, own.grad)
    assert torch.autograd.gradcheck(lambda a: loss(a, xs), (w,))
