"""Every type goes in and out; and errors of inputs tell which argument, what was expected, and what was found."""
import array
import collections
import ctypes
import enum
import math
import pickle

import numpy
import pytest

import cotan

SOURCE = r"""
import Data.Map (Map)
import qualified Data.Map as Map
import Data.Set (Set)
import qualified Data.Set as Set

data Tree = Leaf | Node Tree Double Tree
data Colour = Red | Green | Blue deriving (Eq, Ord)
data Layer = Layer { weights :: Array (Array Double), bias' :: Array Double }
data Pair a b = Pair a b
newtype Age = Age Double

same :: (Bool, Char, String, Int, Float, ()) -> (Bool, Char, String, Int, Float, ())
same x = x
energy :: Tree -> Double
energy Leaf = 0
energy (Node l x r) = energy l + x ^ 3 + energy r
next :: Colour -> Colour
next c = case c of { Red -> Green; Green -> Blue; Blue -> Red }
total :: Map String Double -> Maybe Double -> Double
total m bound = maybe s (min s) bound where s = Map.foldr (\x y -> x ^ 2 + y) 0 m
evens :: Set Int -> Set Int
evens s = Set.filter even s
apply :: Layer -> Array Double -> Double
apply l xs = sum (zipWith (\row b -> sum (zipWith (*) row xs) + b) (weights l) (bias' l))
swap :: Pair Int [String] -> Pair [String] Int
swap (Pair a b) = Pair b a
older :: Age -> Age
older (Age x) = Age (x + 1)
double :: Array Double -> Array Double
double xs = map (* 2) xs
table :: Array (Array Double) -> Array (Array Double)
table xs = transpose xs
counts :: Array Int -> Array Int
counts ns = map (+ 1) ns
flip' :: Array Bool -> Array Bool
flip' bs = map not bs
small :: Array Float -> Array Float
small xs = map (/ 3) xs
colours :: Array Colour -> Array Colour
colours cs = map next cs
layers :: [Layer] -> Int
layers ls = length ls
nested :: Maybe (Maybe Int) -> Maybe (Maybe Int)
nested x = x
perhaps :: Maybe Int -> Maybe String
perhaps x = case x of { Nothing -> Nothing; Just n -> Just (show n) }
reals :: [Double] -> Double
reals xs = sum xs
pairs :: Array (Double, Int) -> [(Int, Double)]
pairs ps = foldr (\(x, n) rest -> (n, x) : rest) [] ps
factorial :: Integer -> Integer
factorial n = product [1 .. n]
opposite :: Integer -> Integer
opposite n = negate n
large = 2 ^ 100
answer :: Array Double
answer = [|4, 2|]
"""


@pytest.fixture(scope="module", params=[True, False], ids=["native", "evaluator"])
def p(request):
    return cotan.source(SOURCE, "values.cot", native=request.param)


def test_scalars_and_texts(p):
    given = (True, "é", "naïve ∂", -3, 0.5, ())
    assert p.same(given) == given
    assert p.same((False, "x", "", 2**62, 0.1, ()))[4] == numpy.float32(0.1)


def test_trees_and_their_gradients(p):
    tree = p.Node(p.Node(p.Leaf(), 2.0, p.Leaf()), 3, p.Leaf())
    assert p.energy(tree) == 35
    gradient = p.energy.grad(tree)
    assert gradient == p.Node(p.Node(p.Leaf(), 12.0, p.Leaf()), 27.0, p.Leaf())
    match gradient:
        case p.Node(_, x, p.Leaf()):
            assert x == 27
    assert isinstance(gradient, p.Tree)


def test_enumerations(p):
    assert p.next(p.Red) is p.Green and p.next(p.Blue) is p.Red
    assert isinstance(p.Red, enum.Enum)
    assert p.colours([p.Red, p.Blue]) == [p.Green, p.Red]


def test_maps_sets_and_maybe(p):
    assert p.total({"b": 3.0, "a": 2.0}, None) == 13
    assert p.total({"b": 3.0, "a": 2.0}, 4.0) == 4
    assert p.total.grad({"b": 3.0, "a": 2.0}, None) == ({"a": 4.0, "b": 6.0}, None)
    assert p.total.grad({"b": 3.0}, 4.0) == ({"b": 0.0}, 1.0)
    assert p.evens({3, 4, -2}) == {4, -2}
    assert p.perhaps(7) == "7" and p.perhaps(None) is None
    assert p.nested(p.Nothing()) == p.Nothing() and p.nested(p.Just(None)) == p.Just(None) and p.nested(p.Just(3)) == p.Just(3)


def test_records(p):
    layer = p.Layer(weights=numpy.arange(6.0).reshape(2, 3), bias_=[1.0, 2.0])
    xs = numpy.array([1.0, 0.0, -1.0])
    assert p.apply(layer, xs) == -1
    gradient = p.apply.grad(layer, xs, wrt="l")
    assert numpy.array_equal(gradient.weights, [xs, xs]) and numpy.array_equal(gradient.bias_, [1, 1])
    assert p.layers([layer, layer]) == 2
    assert p.swap(p.Pair(1, ["a", "b"]))._1 == ["a", "b"]
    assert p.older(p.Age(41))._1 == 42


def test_arrays_of_all_elements(p):
    assert numpy.array_equal(p.answer, [4, 2]) and p.answer.dtype == float
    assert p.table(numpy.arange(6.0).reshape(2, 3)).shape == (3, 2)
    assert p.counts(numpy.array([1, 2], numpy.int32)).tolist() == [2, 3]
    assert p.counts(numpy.array([1, 2**63 - 2], numpy.uint64)).tolist() == [2, 2**63 - 1]
    flipped = p.flip_(numpy.array([True, False]))
    assert flipped.dtype == bool and flipped.tolist() == [False, True]
    small = p.small([1.0, 2.0])
    assert small.dtype == numpy.float32 and small[0] == numpy.float32(1) / numpy.float32(3)
    assert p.pairs([(1.5, 2), (2.5, 3)]) == [(2, 1.5), (3, 2.5)]
    assert p.double([]).shape == (0,)
    assert p.double(numpy.ma.array([1.0, 2.0])).tolist() == [2, 4]  # nothing is masked
    assert p.table([numpy.ma.array([1.0, 2.0]), [3, 4]]).tolist() == [[1, 3], [2, 4]]
    assert p.older(p.Age(numpy.ma.array(41.0)))._1 == p.older(p.Age(numpy.array(41)))._1 == p.older(p.Age(numpy.float16(41)))._1 == 42
    assert p.counts(numpy.array([1, 2**63 - 2], ">u8")).tolist() == [2, 2**63 - 1]
    assert p.table([]).shape == p.table(()).shape == (0, 0)
    assert p.counts(collections.deque([1, 2])).tolist() == [2, 3]


def test_integers_have_any_size(p):
    assert p.large == 2 ** 100
    assert p.factorial(30) == 265252859812191058636308480000000
    assert p.factorial(numpy.int32(3)) == 6
    assert p.factorial(-(1 << 80)) == 1
    assert p.factorial(1700) == math.factorial(1700)  # of more digits than Python shows
    assert p.opposite(-(10 ** 5000)) == 10 ** 5000 and p.opposite(1 << 20000) == -(1 << 20000)


def test_results_belong_to_numpy(p):
    first = p.double([1.0, 2.0])
    p.double([5.0, 6.0])
    assert first.tolist() == [2, 4] and first.base is None and first.flags.owndata


def test_arrays_are_read_where_they_lie(p):
    """What is shown through the buffer protocol and through DLPack alone is the memory itself: no method that copies is called."""

    class OnlyDlpack:
        def __init__(self, data):
            self.data = data

        def __dlpack__(self, **options):
            return self.data.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.data.__dlpack_device__()

        def __array__(self, *_, **__):
            raise AssertionError("copied")

    class OldDlpack(OnlyDlpack):
        def __dlpack__(self):
            return self.data.__dlpack__()

    data = numpy.arange(4.0)
    assert p.double(array.array("d", [1, 2])).tolist() == [2, 4]
    assert p.double((ctypes.c_double * 2)(3, 4)).tolist() == [6, 8]
    assert p.double(OnlyDlpack(data)).tolist() == [0, 2, 4, 6]
    assert p.double(OldDlpack(data)).tolist() == [0, 2, 4, 6]
    assert p.table(OnlyDlpack(numpy.eye(2))).tolist() == [[1, 0], [0, 1]]
    assert p.double(memoryview(data)).tolist() == [0, 2, 4, 6]
    assert p.double(data[::2]).tolist() == [0, 4]  # not in order: a copy of it


def test_a_large_array_is_not_copied():
    import resource

    p = cotan.source("first :: Array Double -> Double\nfirst xs = xs ! 0\n")
    xs = numpy.ones(1 << 25)  # 256 MB
    p.first(xs[:10].copy())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert p.first(xs) == 1
    assert p.first.not_native is not None or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


MASKED = numpy.ma.array([1.0, 999.0], mask=[0, 1])


class Shows:
    """What is an array to NumPy alone."""

    def __init__(self, array):
        self.array = array

    def __array__(self, *_, **__):
        return self.array


@pytest.mark.parametrize("call, message", [
    (lambda p: p.energy(3), "energy, argument `arg1`: expected Tree, found int"),
    (lambda p: p.energy(p.Node(p.Leaf(), "x", p.Leaf())), "expected Double, found str"),
    (lambda p: p.total([1.0], None), "argument `m`: expected Map [Char] Double, found list"),
    (lambda p: p.double(numpy.ones((2, 2))), "argument `xs`: expected Array Double, found an array of 2 dimensions"),
    (lambda p: p.double(["a"]), "expected Array Double, found list"),
    (lambda p: p.counts([1.5]), "expected Array Int, found list"),
    (lambda p: p.counts([2**63]), "expected Array Int, found list"),
    (lambda p: p.counts(numpy.array([1, 2**64 - 1], numpy.uint64)), "expected Array Int"),
    (lambda p: p.counts([True]), "expected Array Int, found list"),
    (lambda p: p.same((True, "xy", "", 1, 1.0, ())), "expected Char, found str"),
    (lambda p: p.same((1, "x", "", 1, 1.0, ())), "expected Bool, found int"),
    (lambda p: p.same((True, "x", "", 1 << 70, 1.0, ())), "more than 64 bits"),
    (lambda p: p.same((True, "x", "", 1, 1e39, ())), "is too large for a Float"),
    (lambda p: p.small([1.0, 1e300]), "is too large for a Float"),
    (lambda p: p.factorial(2.0), "argument `n`: expected Integer, found float"),
    (lambda p: p.same((True, "x")), "expected (Bool, Char, [Char], Int, Float, ()), found 2 elements"),
    (lambda p: p.swap(p.Pair(1, {"a", "b"})), "expected [[Char]], found set"),
    (lambda p: p.double({1.0, 2.0}), "expected Array Double, found set"),
    (lambda p: p.double(numpy.ma.array([1.0, 2.0], mask=[0, 1])), "expected Array Double, found MaskedArray"),
    (lambda p: p.double([1.0, numpy.ma.masked]), "expected Array Double, found list"),
    (lambda p: p.double(Shows(MASKED)), "expected Array Double, found Shows"),
    (lambda p: p.table([[1.0, 2.0], MASKED]), "expected Array Double, found MaskedArray"),
    (lambda p: p.table(([1.0, 2.0], Shows(MASKED))), "expected Array Double, found Shows"),
    (lambda p: p.table(collections.deque([MASKED])), "expected Array (Array Double), found deque"),
    (lambda p: p.counts([numpy.ma.array(1), numpy.ma.array(2, mask=True)]), "expected Array Int, found list"),
    (lambda p: p.counts([True, 2]), "expected Array Int, found list"),
    (lambda p: p.table([[True, 2.0]]), "expected Array Double, found list"),
    (lambda p: p.counts(numpy.array([1, 2**64 - 1], ">u8")), "expected Array Int, found ndarray"),
    (lambda p: p.reals(MASKED), "expected Double, found MaskedConstant"),
    (lambda p: p.reals(numpy.array([1, 2j])), "expected Double, found complex128"),
    (lambda p: p.older(p.Age(numpy.complex64(3 + 4j))), "expected Double, found complex64"),
    (lambda p: p.older(p.Age(numpy.ma.array(3.0, mask=True))), "expected Double, found MaskedArray"),
    (lambda p: p.older(p.Age(numpy.array("3.5"))), "expected Double, found ndarray"),
    (lambda p: p.factorial(numpy.ma.array(3, mask=True)), "expected Integer, found MaskedArray"),
    (lambda p: p.perhaps(numpy.ma.array(3, mask=True)), "expected Int, found MaskedArray"),
    (lambda p: p.perhaps(10 ** 5000), "expected Int, found an int, which has more than 64 bits"),
    (lambda p: p.table(numpy.zeros(0)), "expected Array (Array Double), found an array of 1 dimension"),
    (lambda p: p.double([[]]), "expected Array Double, found an array of 2 dimensions"),
])
def test_wrong_inputs(p, call, message):
    with pytest.raises(cotan.InputError) as raised:
        call(p)
    assert message in str(raised.value)
    assert isinstance(raised.value, TypeError) and isinstance(raised.value, ValueError)


def test_no_number_becomes_infinite(p):
    largest = numpy.array([1.0, numpy.finfo(numpy.longdouble).max])
    if largest[1] == numpy.finfo(float).max:
        pytest.skip("long doubles are doubles here")
    with pytest.raises(cotan.InputError, match="expected Array Double, found ndarray"):
        p.double(largest)
    assert p.double(numpy.array([numpy.inf], numpy.longdouble)).tolist() == [numpy.inf]


def test_a_vector_has_no_place_for_what_is_masked():
    with pytest.raises(ValueError, match="masked"):
        cotan.flatten([1.0, MASKED])
    assert cotan.flatten([1.0, numpy.ma.array([2.0, 3.0])])[0].tolist() == [1, 2, 3]


def test_fields_have_names_of_any_kind():
    """Also those that a class of the package could have for itself."""
    names = ["_index", "_key", "_model", "_values", "_fields", "y"]
    fields = ", ".join(f"{name} :: Double" for name in names)
    p = cotan.source(f"data Q = Q {{ {fields} }} | P Double deriving (Eq, Ord)\nq :: Q -> Double\nq (P x) = x\n"
                     + f"q (Q {' '.join(names)}) = {' + '.join(f'{k} * {name}' for k, name in enumerate(names))}\n")
    one = p.Q(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert p.q(one) == 0 + 2 + 6 + 12 + 20 + 30 and one._index == 1 and one._values == 4
    gradient = p.q.grad(one)
    assert gradient == p.Q(0.0, 1.0, 2.0, 3.0, 4.0, 5.0) != one and hash(gradient) == hash(p.q.grad(one))
    assert pickle.loads(pickle.dumps(gradient)) == gradient
    assert cotan.flatten({one: 1.0, p.P(0.0): 2.0})[0].tolist() == [1, 2]


def test_ragged_arrays_and_deep_values(p):
    with pytest.raises(cotan.InputError, match="at \\[1\\]: an array of arrays has elements of one shape"):
        p.table([[1.0], [1.0, 2.0]])
    with pytest.raises(cotan.InputError, match="expected Double, found str|expected Array Double, found list"):
        p.table([[1.0], ["a"]])
    deep = p.Leaf()
    for _ in range(3000):
        deep = p.Node(deep, 1.0, p.Leaf())
    with pytest.raises(RecursionError):
        p.energy(deep)
    assert p.energy(p.Leaf()) == 0
