"""Every derivative against closed forms and finite differences; with respect to some parameters; by other methods."""
import pickle

import numpy
import pytest

import cotan

SOURCE = """
-- The squares of
-- what is left over.
loss :: (Double, Array Double) -> Array Double -> Int -> Double
loss (a, b) xs n = a * sum (zipWith (\\x y -> (x - y) ^ n) xs b)

poly :: Array Double -> Array Double
poly xs = map (\\x -> x ^ 3) xs

product3 :: Double -> Double -> Double -> Double
product3 x y z = x * y * z
"""


@pytest.fixture(scope="module", params=[True, False], ids=["native", "evaluator"])
def p(request):
    return cotan.source(SOURCE, "derivatives.cot", native=request.param)


A, B, XS = 2.0, numpy.array([1.0, 2.0]), numpy.array([1.5, 4.0])


def test_gradients_of_all_and_of_some(p):
    value, gradient = p.loss.value_and_grad((A, B), XS, 2)
    assert value == 2 * (0.25 + 4)
    (da, db), dxs, n = gradient
    assert da == 4.25 and n == 2  # an Int is copied
    assert numpy.allclose(db, -2 * A * (XS - B)) and numpy.allclose(dxs, 2 * A * (XS - B))
    assert numpy.allclose(p.loss.grad((A, B), XS, 2, wrt="xs"), dxs)
    assert numpy.allclose(p.loss.grad((A, B), XS, 2, wrt=1), dxs)
    both = p.loss.grad((A, B), XS, 2, wrt=("xs", 0))
    assert numpy.allclose(both[0], dxs) and both[1][0] == 4.25
    assert p.product3.grad(2, 3, z=5, wrt=("z", "x")) == (6, 15)
    assert p.product3.grad(2, 3, 5, wrt=numpy.int64(2)) == p.product3.grad(2, 3, 5, wrt=["z"]) == 6
    for wrt, message in (("w", "no parameter 'w'"), (3, "no parameter 3"), (True, "no parameter True"), ((), "names no parameter"),
                         (("xs", 1), "names a parameter twice"), ((("xs", 0), 2), "no parameter \\('xs', 0\\)")):
        with pytest.raises(cotan.InputError, match=message):
            p.loss.grad((A, B), XS, 2, wrt=wrt)


def test_names_that_look_like_something_else():
    """Functions and parameters with names of what the package puts around them."""
    p = cotan.source("fPD :: Double -> Double -> Double\nfPD dx grad = dx * grad ^ 2\njvp x = x * 2 :: Double\nf' x' lambda = x' * lambda :: Double\n"
                     "dx' x = x ^ 3 :: Double\nx'0 a b = a * b :: Double\n")
    assert p.dx_.hvp(2.0, 1.0, wrt="x") == p.dx_.jvp(2.0, 1.0, wrt=0)[1] == 12 and p.x_0.grad(2.0, 3.0, wrt="b") == 2
    assert p.fPD.grad(2, 3, wrt="grad") == 12 and p.fPD.jvp(2, 3, tangent=1, wrt="dx") == (18, 9)
    assert p.jvp.jvp(1.0, 3.0, wrt="x") == (2, 6) and p.jvp.hvp(1.0, 1.0, wrt=0) == 0
    assert p.f_.grad(2.0, lambda_=3.0, wrt="x'") == p.f_.grad(2.0, 3.0, wrt="x_") == 3


def test_names_that_become_one():
    """A name that Python allows keeps its own; one that is changed gives way to it."""
    p = cotan.source("""
data T = A' Double | A_ Double
data E = B' | B_
data R = R { f' :: Double, f_ :: Double }
h' :: Double -> Double -> Double
h' x' x_ = x' + 10 * x_
h_ :: Double -> Double
h_ x = x * 2
t :: T -> Double
t (A' x) = x
t (A_ x) = 2 * x
e :: E -> Int
e B' = 1
e B_ = 2
r :: R -> Double
r x = f' x + 10 * f_ x
arg :: (Double, Double) -> Double -> Double
arg (a, b) arg1 = a * b * arg1
""")
    assert p.h_(1.0) == 2 and p.h__(1.0, 2.0) == 21 and sorted(name for name in dir(p) if name[:2] == "h_") == ["h_", "h__"]
    assert p.h__.parameters == ("x__", "x_") and p.h__(x_=1.0, x__=2.0) == 12
    assert p.h__.grad(1.0, 2.0, wrt="x_") == p.h__.grad(1.0, 2.0, wrt="x__") * 10 == 10 * p.h__.grad(1.0, 2.0, wrt="x'") == 10
    assert pickle.loads(pickle.dumps(p.h__))(1.0, 2.0) == 21
    assert p.t(p.A_(1.0)) == 2 and p.t(p.A__(1.0)) == 1 and p.e(p.B_) == 2 and p.e(p.B__) == 1
    assert p.r(p.R(f__=1.0, f_=2.0)) == 21
    assert p.arg.grad((1.0, 2.0), 3.0, wrt=1) == 2


def test_products(p):
    assert p.product3.jvp(2, 3, 5, tangent=(1, 0, 1)) == (30, 15 + 6)
    assert p.product3.jvp(2, 3, 5, tangent=1.0, wrt="y") == (30, 10)
    assert p.product3.vjp(2, 3, 5, 2.0) == (30, (30, 20, 12))
    value, slopes = p.poly.vjp(XS, cotangent=numpy.array([1.0, 0.0]))
    assert numpy.allclose(value, XS**3) and numpy.allclose(slopes, [3 * 1.5**2, 0])
    assert p.product3.hvp(2, 3, 5, direction=(1, 0, 0)) == (0, 5, 3)
    assert p.product3.hvp(2, 3, 5, direction=(1.0, 0.0), wrt=("x", "z")) == (0, 3)


def test_matrices(p):
    assert numpy.allclose(p.poly.jacobian(XS), numpy.diag(3 * XS**2))
    assert p.product3.hessian(2, 3, 5)[1] == (5, 0, 2)
    assert numpy.allclose(p.loss.hessian((A, B), XS, 2, wrt="xs"), 2 * A * numpy.eye(2))
    assert numpy.allclose(p.loss.jacobian((A, B), XS, 2, wrt="xs")[0], p.loss.grad((A, B), XS, 2, wrt="xs"))


def test_other_methods_agree(p):
    for method in ("tape", "forward", "chad", "delta"):
        assert numpy.allclose(p.loss.grad((A, B), XS, 2, wrt="xs", method=method), 2 * A * (XS - B))
        assert p.product3.grad(2, 3, 5, method=method) == (15, 10, 6)
    with pytest.raises(cotan.InputError, match="no method `nonsense`"):
        p.product3.grad(1, 2, 3, method="nonsense")
    assert any(name == "tape" for name, *_ in cotan.methods())


def test_against_finite_differences(curve):
    t, h = numpy.linspace(0, 5, 30), 1e-6
    y = numpy.exp(-t)
    c = curve.Curve(1.0, 0.3, 1.5, 0.9)
    vector, back = cotan.flatten(c)
    gradient = cotan.flatten(curve.loss.grad(c, t, y, wrt="c"))[0]
    for i, step in enumerate(numpy.eye(4) * h):
        slope = (curve.loss(back(vector + step), t, y) - curve.loss(back(vector - step), t, y)) / (2 * h)
        assert abs(slope - gradient[i]) < 1e-7


def test_check_and_explain(p):
    check = p.loss.check((A, B), XS, 2)
    assert check and "agree" in repr(check) and all(row[4] for row in check.rows)
    text = p.product3.explain(1.0, 2.0, 3.0, method="tape", html=False)
    assert "product3" in repr(text) and text._repr_html_() is None
    wrong = cotan.source("f :: Double -> Double\nf = withVjp (\\x -> x * x) (\\x -> (x * x, \\d -> 3 * x * d))\n")
    assert not wrong.f.check(2.0)
    with pytest.raises(cotan.CheckError):
        wrong.f.check(2.0, raises=True)


def test_flattening(curve):
    value = {"a": (1.0, [numpy.array([[2.0, 3.0]]), 4]), "b": curve.Curve(5.0, 6.0, 7.0, 8.0)}
    vector, back = cotan.flatten(value)
    assert vector.tolist() == [1, 2, 3, 5, 6, 7, 8]
    again = back(vector * 2)
    assert again["a"][1][1] == 4 and again["a"][1][0].tolist() == [[4, 6]] and again["b"].offset == 16
    with pytest.raises(ValueError):
        back(vector[1:])
