#!/usr/bin/env python3
"""Measures the errors of densities, distribution functions and special functions over their whole domains, against mpmath.

Arguments are random, in every regime: ordinary, extreme scales, tails. The unit is an error of 2^-52 relative to |v|, or to max(|v|, 1) for what is a
logarithm, and to what rounding each argument by half a unit changes. `--table` prints the rows of the table in docs/library.md, `--golden` writes
tests/golden/library/accuracy.cot: some of the points with their references, so that tests need no mpmath.

    tests/accuracy.py [--count N] [--gradient | --second] [--table | --golden] [--seed TEXT] [WORD…]      functions whose name contains a word
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import mpmath as mp
except ImportError:
    sys.exit("tests/accuracy.py needs the Python package mpmath")
import accuracy_references as ref

ROOT = pathlib.Path(__file__).resolve().parent.parent
mp.mp.dps = 120
EPS = mp.mpf(2) ** -52
HALF = mp.mpf(1) / 2
SEED = ""  # other arguments by --seed
log, exp, pi = mp.log, mp.exp, mp.pi


# ---- arguments ----

def positive(r, wide=100):
    """A positive number: ordinary, or of any size."""
    return 10 ** (r.uniform(-2, 2) if r.random() < 0.6 else r.uniform(-wide, wide))


def real(r, wide=100):
    return r.choice([-1, 1]) * positive(r, wide)


def shape(r):
    return 10 ** (r.uniform(-1, 2.5) if r.random() < 0.6 else r.uniform(-12, 12))


def unit(r):
    k = r.random()
    return r.random() if k < 0.5 else 10 ** r.uniform(-200, 0) if k < 0.8 else 1 - 10 ** r.uniform(-15.5, 0)


def location(r):
    """Location, scale, and a point around or in a tail."""
    scale = positive(r)
    m = r.choice([0.0, r.gauss(0, 1) * scale, real(r)])
    z = r.choice([r.gauss(0, 1), r.uniform(-40, 40), real(r, 8)])
    return m, scale, m + z * scale


def count(r, wide=15):
    return int(10 ** (r.uniform(0, 2) if r.random() < 0.6 else r.uniform(0, wide)))


def near(r, m, spread):
    """A positive point within some deviations of a place, or far from it."""
    x = m + r.gauss(0, 2) * spread if r.random() < 0.6 else m * 10 ** r.uniform(-5, 2)
    return x if x > 0 else m * 10 ** r.uniform(-3, 0)


def gamma_point(r, shape=shape):
    a, b = shape(r), positive(r)
    return a, b, near(r, a / b, math.sqrt(a) / b)


def beta_point(r, shape=shape, deviations=2, often=0.5):
    a, b = shape(r), shape(r)
    m = a / (a + b)
    x = m + r.gauss(0, deviations) * math.sqrt(m * (1 - m) / (a + b + 1)) if r.random() < often else unit(r)
    return a, b, x if 0 < x < 1 else r.random()


# ---- references: the definitions, at many digits ----

def lbeta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def gamma_density(a, b, x):
    return a * log(b) - mp.loggamma(a) + (a - 1) * log(x) - b * x


def lchoose(n, k):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def term(c, x):
    """c log x, of nothing 0."""
    return c * log(x) if c else mp.mpf(0)


def student(n, m, s, x):
    return mp.loggamma((n + 1) / 2) - mp.loggamma(n / 2) - log(n * pi) / 2 - log(s) - (n + 1) / 2 * log(1 + ((x - m) / s) ** 2 / n)


def normal_cdf(m, s, x):
    return mp.erfc((m - x) / s / mp.sqrt(2)) / 2


def logistic(z):
    return 1 / (1 + exp(-z))


def dirichlet(a, b, c, x, y):
    z = 1 - x - y
    return mp.loggamma(a + b + c) - mp.loggamma(a) - mp.loggamma(b) - mp.loggamma(c) + (a - 1) * log(x) + (b - 1) * log(y) + (c - 1) * log(z)


def binary_simplex(r):
    """Two fractions of 2^-20, whose rest is exact."""
    x, y = r.randrange(1, 2 ** 19) / 2 ** 20, r.randrange(1, 2 ** 19) / 2 ** 20
    return shape(r), shape(r), shape(r), x, y


def binomial_point(r, wide=15):
    n = count(r, wide)
    p = unit(r)
    k = min(n, max(0, int(r.gauss(n * p, 2 * math.sqrt(n * p * (1 - p)) + 1)))) if r.random() < 0.7 else r.randrange(n + 1)
    return n, p, k


def poisson_point(r):
    m = shape(r) * 100
    return m, max(0, int(r.gauss(m, 2 * math.sqrt(m)))) if r.random() < 0.7 else count(r)


def moderate(r, wide=7):
    """A shape at which series of references end in time."""
    return 10 ** (r.uniform(-1, 2.5) if r.random() < 0.7 else r.uniform(-wide, wide))


def gamma_cdf_point(r):
    return gamma_point(r, moderate)


def beta_cdf_point(r):
    return beta_point(r, moderate, deviations=3, often=0.7)


def student_point(r):
    return (moderate(r), 0.0, 1.0, r.choice([r.gauss(0, 2), real(r, 8)]))


def probability_of(tails, *p):
    """A quantile's arguments: the probability of a point, rounded, and the point to find."""
    *shapes, x = p
    lower = tails(*(mp.mpf(v) for v in p))[0]
    q = float(exp(lower))
    return ref.remembered(x, *(float(v) for v in shapes), q) if 0 < q < 1 else (math.nan,)


def upper_first(a, x):
    return ref.gamma_tails(a, x)[::-1]


def scaled_tails(a, b, x):
    return ref.gamma_tails(a, b * x)


def inverse_tails(a, b, x):
    return upper_first(a, b / x)


def chi_squared_tails(n, x):
    return ref.gamma_tails(n / 2, x / 2)


def covariance(r):
    """The elements on and below the diagonal."""
    s, t, c = 10 ** r.uniform(-3, 3), 10 ** r.uniform(-3, 3), r.uniform(-0.999, 0.999)
    return s * s, c * s * t, t * t


def vector_point(r):
    a, b, c = covariance(r)
    return r.gauss(0, 1), r.gauss(0, 1), a, b, c, r.gauss(0, 3) * math.sqrt(a), r.gauss(0, 3) * math.sqrt(c)


def wishart_point(r):
    return (1 + 10 ** r.uniform(-2, 3),) + covariance(r) + covariance(r)


def correlation(r):
    while True:
        a, b, c = (r.uniform(-1, 1) for _ in range(3))
        if 1 + 2 * a * b * c - a * a - b * b - c * c > 1e-3:
            return shape(r), a, b, c


def counts_point(r):
    return (*(r.randrange(1, 2 ** 19) / 2 ** 20 for _ in range(2)), *(float(count(r) - 1) for _ in range(3)))


def symmetric2(i):
    return f"[| [|p ! {i}, p ! {i + 1}|], [|p ! {i + 1}, p ! {i + 2}|] |]"


CORRELATION = "[| [|1, p ! 1, p ! 2|], [|p ! 1, 1, p ! 3|], [|p ! 2, p ! 3, 1|] |]"

# Name, expression of Cotan over p (its integers are rounded), the reference, arguments, and whether it is a logarithm.
LOG, PLAIN = True, False
FUNCTIONS = [
    ("normalLogDensity", 3, lambda m, s, x: -((x - m) / s) ** 2 / 2 - log(s) - log(2 * pi) / 2, location, LOG),
    ("logNormalLogDensity", 3, lambda m, s, x: -((log(x) - m) / s) ** 2 / 2 - log(s) - log(2 * pi) / 2 - log(x), lambda r: (r.gauss(0, 3), positive(r, 20), positive(r)), LOG),
    ("uniformLogDensity", 3, lambda a, b, x: -log(b - a), lambda r: (lambda a, w: (a, a + w, a + w / 2))(r.gauss(0, 1), positive(r, 10) + 1), LOG),
    ("exponentialLogDensity", 2, lambda b, x: log(b) - b * x, lambda r: (lambda b: (b, positive(r, 3) / b))(positive(r)), LOG),
    ("laplaceLogDensity", 3, lambda m, s, x: -abs(x - m) / s - log(2 * s), location, LOG),
    ("cauchyLogDensity", 3, lambda m, s, x: -log(pi * s) - log(1 + ((x - m) / s) ** 2), location, LOG),
    ("logisticLogDensity", 3, lambda m, s, x: -abs(x - m) / s - log(s) - 2 * log(1 + exp(-abs(x - m) / s)), location, LOG),
    ("studentTLogDensity", 4, student, lambda r: (shape(r),) + location(r), LOG),
    ("gammaLogDensity", 3, gamma_density, gamma_point, LOG),
    ("inverseGammaLogDensity", 3, lambda a, b, x: gamma_density(a, b, 1 / x) - 2 * log(x), lambda r: (lambda a, b, x: (a, b, 1 / x))(*gamma_point(r)), LOG),
    ("chiSquaredLogDensity", 2, lambda n, x: gamma_density(n / 2, HALF, x), lambda r: (lambda a: (2 * a, near(r, 2 * a, 2 * math.sqrt(a))))(shape(r)), LOG),
    ("weibullLogDensity", 3, lambda k, s, x: log(k / s) + (k - 1) * log(x / s) - (x / s) ** k, lambda r: (lambda k, s: (k, s, s * (-math.log(r.random())) ** (1 / k)))(10 ** r.uniform(-1, 3), positive(r)), LOG),
    ("paretoLogDensity", 3, lambda m, a, x: log(a) + a * log(m) - (a + 1) * log(x), lambda r: (lambda m: (m, positive(r, 10), m * (1 + positive(r, 10))))(positive(r)), LOG),
    ("betaLogDensity", 3, lambda a, b, x: (a - 1) * log(x) + (b - 1) * log(1 - x) - lbeta(a, b), beta_point, LOG),
    ("dirichletLogDensity [|p ! 0, p ! 1, p ! 2|] [|p ! 3, p ! 4, 1 - p ! 3 - p ! 4|]", 5, dirichlet, binary_simplex, LOG),
    ("bernoulliLogMass (p ! 0) 1", 1, log, lambda r: (unit(r),), LOG),
    ("bernoulliLogMass (p ! 0) 0", 1, lambda p: mp.log1p(-p), lambda r: (unit(r),), LOG),
    ("bernoulliLogitLogMass (p ! 0) 1", 1, lambda z: -mp.log1p(exp(-z)), lambda r: (r.uniform(-800, 800) if r.random() < 0.5 else real(r, 30),), LOG),
    ("binomialLogMass (whole 0) (p ! 1) (whole 2)", 3, lambda n, p, k: lchoose(n, k) + term(k, p) + term(n - k, 1 - p), binomial_point, LOG),
    ("geometricLogMass (p ! 0) (whole 1)", 2, lambda p, k: log(p) + term(k, 1 - p), lambda r: (unit(r), count(r) - 1), LOG),
    ("negativeBinomialLogMass (p ! 0) (p ! 1) (whole 2)", 3, lambda n, p, k: mp.loggamma(n + k) - mp.loggamma(n) - mp.loggamma(k + 1) + n * log(p) + term(k, 1 - p), lambda r: (shape(r), unit(r), count(r)), LOG),
    ("poissonLogMass (p ! 0) (whole 1)", 2, lambda m, k: k * log(m) - m - mp.loggamma(k + 1), poisson_point, LOG),
    ("normalLogCdf", 3, lambda m, s, x: log(normal_cdf(m, s, x)), location, LOG),
    ("normalCdf", 3, normal_cdf, lambda r: (lambda m, s: (m, s, m + s * r.uniform(-36, 9)))(r.choice([0.0, r.gauss(0, 3)]), positive(r)), PLAIN),
    ("laplaceCdf", 3, lambda m, s, x: exp((x - m) / s) / 2 if x < m else 1 - exp((m - x) / s) / 2, lambda r: (0.0, positive(r), r.uniform(-500, 40)), PLAIN),
    ("cauchyCdf", 3, lambda m, s, x: mp.atan2(1, (m - x) / s) / pi, location, PLAIN),
    ("logisticCdf", 3, lambda m, s, x: logistic((x - m) / s), lambda r: (r.gauss(0, 1), positive(r, 2), r.uniform(-60, 60)), PLAIN),
    ("exponentialCdf", 2, lambda b, x: -mp.expm1(-b * x), lambda r: (positive(r), positive(r)), PLAIN),
    ("weibullCdf", 3, lambda k, s, x: -mp.expm1(-(x / s) ** k), lambda r: (lambda k, s: (k, s, s * (-math.log(r.random())) ** (1 / k)))(10 ** r.uniform(-1, 3), positive(r)), PLAIN),
    ("normalQuantileOf", 3, lambda m, s, p: m - s * mp.sqrt(2) * mp.erfinv(1 - 2 * p), lambda r: (0.0, positive(r), 10 ** r.uniform(-15, -0.01)), PLAIN),
    ("gamma", 1, mp.gamma, lambda r: (r.choice([r.uniform(0, 170), 10 ** r.uniform(-300, 2), r.uniform(-20, 0)]),), PLAIN),
    ("lgamma", 1, lambda x: log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x), lambda r: (r.choice([10 ** r.uniform(-300, 300), 10 ** r.uniform(-1, 3), 1 + r.gauss(0, 0.1), 2 + r.gauss(0, 0.01)]),), LOG),
    ("digamma", 1, mp.digamma, lambda r: (r.choice([10 ** r.uniform(-300, 300), 10 ** r.uniform(-1, 3)]),), LOG),
    ("polygamma 1 (p ! 0)", 1, lambda x: mp.polygamma(1, x), lambda r: (10 ** r.uniform(-3, 5),), PLAIN),
    ("polygamma 4 (p ! 0)", 1, lambda x: mp.polygamma(4, x), lambda r: (10 ** r.uniform(-3, 5),), PLAIN),
    ("lgamma1p", 1, lambda x: mp.loggamma(1 + x) if abs(x) > 1e-40 else -mp.euler * x + mp.zeta(2) / 2 * x * x, lambda r: (r.choice([10 ** r.uniform(-300, 10), r.uniform(-0.9, 3)]),), PLAIN),
    ("stirlingError", 1, lambda x: mp.loggamma(x + 1) - (x + HALF) * log(x) + x - log(2 * pi) / 2, lambda r: (10 ** r.uniform(-10, 40),), LOG),
    ("deviance", 2, lambda x, m: x * log(x / m) + m - x, lambda r: (lambda m: (near(r, m, math.sqrt(m)), m))(positive(r)), PLAIN),
    ("lbeta", 2, lbeta, lambda r: (shape(r), shape(r)), LOG),
    ("erfc", 1, mp.erfc, lambda r: (r.uniform(-6, 26),), PLAIN),
    ("erfcx", 1, lambda x: exp(x * x) * mp.erfc(x), lambda r: (r.choice([r.uniform(-26, 26), 10 ** r.uniform(-300, 50)]),), PLAIN),
    ("erfInverse", 1, mp.erfinv, lambda r: (r.choice([-1, 1]) * r.choice([r.random(), 10 ** r.uniform(-300, 0), 1 - 10 ** r.uniform(-15, 0)]),), PLAIN),
    ("normalQuantile", 1, lambda p: -mp.sqrt(2) * mp.erfinv(1 - 2 * p), lambda r: (r.choice([r.random(), 10 ** r.uniform(-60, 0)]),), PLAIN),
    ("dawson", 1, lambda x: mp.sqrt(pi) / 2 * exp(-x * x) * mp.erfi(x), lambda r: (r.choice([r.uniform(-20, 20), 10 ** r.uniform(-300, 1.3)]),), PLAIN),
    ("lambertW", 1, lambda x: mp.lambertw(x).real, lambda r: (r.choice([10 ** r.uniform(-300, 300), r.uniform(-0.367, 3)]),), PLAIN),
    ("lambertWLower", 1, lambda x: mp.lambertw(x, -1).real, lambda r: (-r.choice([10 ** r.uniform(-300, -1), r.uniform(0.01, 0.3678)]),), PLAIN),
    ("zeta", 1, mp.zeta, lambda r: (r.choice([r.uniform(1.001, 60), r.uniform(-30, 0.99)]),), LOG),
    ("hurwitzZeta", 2, mp.zeta, lambda r: (r.uniform(1.01, 30), 10 ** r.uniform(-3, 3)), PLAIN),
    ("logAddExp", 2, lambda x, y: log(exp(x) + exp(y)), lambda r: (r.uniform(-900, 900), r.uniform(-900, 900)), LOG),
    ("logDiffExp", 2, lambda x, y: log(exp(x) - exp(y)), lambda r: (lambda y: (y + 10 ** r.uniform(-8, 3), y))(r.uniform(-900, 900)), LOG),
    ("sigmoid", 1, logistic, lambda r: (r.uniform(-700, 700),), PLAIN),
    ("logSigmoid", 1, lambda z: -mp.log1p(exp(-z)), lambda r: (r.uniform(-700, 700),), PLAIN),
    ("softplus", 1, lambda z: mp.log1p(exp(z)), lambda r: (r.uniform(-700, 700),), PLAIN),
    ("logit", 1, lambda p: log(p) - log(1 - p), lambda r: (unit(r),), PLAIN),
    ("log1mexp", 1, lambda x: log(-mp.expm1(x)), lambda r: (-10 ** r.uniform(-300, 2.8),), PLAIN),
    ("gammaP", 2, lambda a, x: exp(ref.gamma_tails(a, x)[0]), lambda r: (lambda a, b, x: (a, b * x))(*gamma_cdf_point(r)), PLAIN),
    ("gammaQ", 2, lambda a, x: exp(ref.gamma_tails(a, x)[1]), lambda r: (lambda a, b, x: (a, b * x))(*gamma_cdf_point(r)), PLAIN),
    ("logGammaP", 2, lambda a, x: ref.gamma_tails(a, x)[0], lambda r: (lambda a, b, x: (a, b * x))(*gamma_cdf_point(r)), LOG),
    ("logGammaQ", 2, lambda a, x: ref.gamma_tails(a, x)[1], lambda r: (lambda a, b, x: (a, b * x))(*gamma_cdf_point(r)), LOG),
    ("betaI", 3, lambda a, b, x: exp(ref.beta_tails(a, b, x)[0]), beta_cdf_point, PLAIN),
    ("betaIComplement", 3, lambda a, b, x: exp(ref.beta_tails(a, b, x)[1]), beta_cdf_point, PLAIN),
    ("logBetaI", 3, lambda a, b, x: ref.beta_tails(a, b, x)[0], beta_cdf_point, LOG),
    ("logBetaIComplement", 3, lambda a, b, x: ref.beta_tails(a, b, x)[1], beta_cdf_point, LOG),
    ("gammaPInverse", 2, lambda *p: ref.inverse(ref.gamma_tails, *p), lambda r: probability_of(ref.gamma_tails, *(lambda a, b, x: (a, b * x))(*gamma_cdf_point(r))), PLAIN),
    ("gammaQInverse", 2, lambda *p: ref.inverse(upper_first, *p), lambda r: probability_of(upper_first, *(lambda a, b, x: (a, b * x))(*gamma_cdf_point(r))), PLAIN),
    ("betaIInverse", 3, lambda *p: ref.inverse(ref.beta_tails, *p), lambda r: probability_of(ref.beta_tails, *beta_cdf_point(r)), PLAIN),
    ("gammaCdf", 3, lambda a, b, x: exp(ref.gamma_tails(a, b * x)[0]), gamma_cdf_point, PLAIN),
    ("gammaLogCdf", 3, lambda a, b, x: ref.gamma_tails(a, b * x)[0], gamma_cdf_point, LOG),
    ("inverseGammaCdf", 3, lambda a, b, x: exp(ref.gamma_tails(a, b / x)[1]), lambda r: (lambda a, b, x: (a, b, 1 / x))(*gamma_cdf_point(r)), PLAIN),
    ("inverseGammaLogCdf", 3, lambda a, b, x: ref.gamma_tails(a, b / x)[1], lambda r: (lambda a, b, x: (a, b, 1 / x))(*gamma_cdf_point(r)), LOG),
    ("chiSquaredCdf", 2, lambda n, x: exp(ref.gamma_tails(n / 2, x / 2)[0]), lambda r: (lambda a, b, x: (2 * a, 2 * b * x))(*gamma_cdf_point(r)), PLAIN),
    ("chiSquaredLogCdf", 2, lambda n, x: ref.gamma_tails(n / 2, x / 2)[0], lambda r: (lambda a, b, x: (2 * a, 2 * b * x))(*gamma_cdf_point(r)), LOG),
    ("gammaQuantile", 3, lambda *p: ref.inverse(scaled_tails, *p), lambda r: probability_of(scaled_tails, *gamma_cdf_point(r)), PLAIN),
    ("inverseGammaQuantile", 3, lambda *p: ref.inverse(inverse_tails, *p), lambda r: probability_of(inverse_tails, *(lambda a, b, x: (a, b, 1 / x))(*gamma_cdf_point(r))), PLAIN),
    ("chiSquaredQuantile", 2, lambda *p: ref.inverse(chi_squared_tails, *p), lambda r: probability_of(chi_squared_tails, *(lambda a, b, x: (2 * a, 2 * b * x))(*gamma_cdf_point(r))), PLAIN),
    ("betaCdf", 3, lambda a, b, x: exp(ref.beta_tails(a, b, x)[0]), beta_cdf_point, PLAIN),
    ("betaLogCdf", 3, lambda a, b, x: ref.beta_tails(a, b, x)[0], beta_cdf_point, LOG),
    ("studentTCdf", 4, lambda *p: exp(ref.student_tails(*p)[0]), student_point, PLAIN),
    ("studentTLogCdf", 4, lambda *p: ref.student_tails(*p)[0], student_point, LOG),
    ("studentTQuantile", 4, lambda n, m, s, q: m + s * ref.student_quantile(n, q), lambda r: (lambda n, m, s, x: (lambda q: ref.remembered(x, n, q) and (n, m, s, q))(float(exp(ref.student_tails(mp.mpf(n), 0, 1, mp.mpf(x))[0]))))(*student_point(r)), PLAIN),
    ("logNormalCdf", 3, lambda m, s, x: normal_cdf(m, s, log(x)), lambda r: (r.gauss(0, 3), positive(r, 3), positive(r, 20)), PLAIN),
    ("logNormalLogCdf", 3, lambda m, s, x: log(normal_cdf(m, s, log(x))), lambda r: (r.gauss(0, 3), positive(r, 3), positive(r, 20)), LOG),
    ("logNormalQuantile", 3, lambda m, s, p: exp(m - s * mp.sqrt(2) * mp.erfinv(1 - 2 * p)), lambda r: (r.gauss(0, 3), positive(r, 1), 10 ** r.uniform(-15, -0.01)), PLAIN),
    ("laplaceLogCdf", 3, lambda m, s, x: log(exp((x - m) / s) / 2 if x < m else 1 - exp((m - x) / s) / 2), location, LOG),
    ("laplaceQuantile", 3, lambda m, s, p: m + (s * log(2 * p) if p < HALF else -s * log(2 * (1 - p))), lambda r: (0.0, positive(r), unit(r)), PLAIN),
    ("cauchyLogCdf", 3, lambda m, s, x: log(mp.atan2(1, (m - x) / s) / pi), location, LOG),
    ("cauchyQuantile", 3, lambda m, s, p: m - s / mp.tan(pi * p), lambda r: (0.0, positive(r), unit(r)), PLAIN),
    ("logisticLogCdf", 3, lambda m, s, x: -mp.log1p(exp(-(x - m) / s)), location, LOG),
    ("logisticQuantile", 3, lambda m, s, p: m + s * (log(p) - log(1 - p)), lambda r: (0.0, positive(r), unit(r)), PLAIN),
    ("exponentialLogCdf", 2, lambda b, x: log(-mp.expm1(-b * x)), lambda r: (positive(r, 3), positive(r)), LOG),
    ("exponentialQuantile", 2, lambda b, p: -mp.log1p(-p) / b, lambda r: (positive(r), unit(r)), PLAIN),
    ("weibullLogCdf", 3, lambda k, s, x: log(-mp.expm1(-(x / s) ** k)), lambda r: (lambda k, s: (k, s, s * (-math.log(r.random())) ** (1 / k)))(10 ** r.uniform(-1, 3), positive(r)), LOG),
    ("weibullQuantile", 3, lambda k, s, p: s * (-mp.log1p(-p)) ** (1 / k), lambda r: (10 ** r.uniform(-1, 3), positive(r, 20), unit(r)), PLAIN),
    ("paretoCdf", 3, lambda m, a, x: -mp.expm1(-a * log(x / m)), lambda r: (lambda m: (m, positive(r, 10), m * (1 + positive(r, 10))))(positive(r)), PLAIN),
    ("paretoLogCdf", 3, lambda m, a, x: log(-mp.expm1(-a * log(x / m))), lambda r: (lambda m: (m, positive(r, 10), m * (1 + positive(r, 10))))(positive(r)), LOG),
    ("paretoQuantile", 3, lambda m, a, p: m * exp(-mp.log1p(-p) / a), lambda r: (positive(r, 20), 10 ** r.uniform(-1, 5), unit(r)), PLAIN),
    ("binomialCdf (whole 0) (p ! 1) (whole 2)", 3, lambda n, p, k: exp(ref.beta_tails(k + 1, n - k, p)[1]), lambda r: (lambda n, p, k: (n, p, min(k, n - 1)))(*binomial_point(r, 7)), PLAIN),
    ("binomialLogCdf (whole 0) (p ! 1) (whole 2)", 3, lambda n, p, k: ref.beta_tails(k + 1, n - k, p)[1], lambda r: (lambda n, p, k: (n, p, min(k, n - 1)))(*binomial_point(r, 7)), LOG),
    ("geometricCdf (p ! 0) (whole 1)", 2, lambda p, k: -mp.expm1((k + 1) * mp.log1p(-p)), lambda r: (unit(r), count(r) - 1), PLAIN),
    ("geometricLogCdf (p ! 0) (whole 1)", 2, lambda p, k: log(-mp.expm1((k + 1) * mp.log1p(-p))), lambda r: (unit(r), count(r) - 1), LOG),
    ("negativeBinomialCdf (p ! 0) (p ! 1) (whole 2)", 3, lambda n, p, k: exp(ref.beta_tails(n, k + 1, p)[0]), lambda r: (moderate(r), unit(r), count(r, 7)), PLAIN),
    ("negativeBinomialLogCdf (p ! 0) (p ! 1) (whole 2)", 3, lambda n, p, k: ref.beta_tails(n, k + 1, p)[0], lambda r: (moderate(r), unit(r), count(r, 7)), LOG),
    ("poissonCdf (p ! 0) (whole 1)", 2, lambda m, k: exp(ref.gamma_tails(k + 1, m)[1]), lambda r: (lambda m: (m, max(0, int(r.gauss(m, 4 * math.sqrt(m)))) if r.random() < 0.7 else count(r, 6)))(moderate(r) * 100), PLAIN),
    ("poissonLogCdf (p ! 0) (whole 1)", 2, lambda m, k: ref.gamma_tails(k + 1, m)[1], lambda r: (lambda m: (m, max(0, int(r.gauss(m, 4 * math.sqrt(m)))) if r.random() < 0.7 else count(r, 6)))(moderate(r) * 100), LOG),
    (f"multivariateNormalLogDensity [|p ! 0, p ! 1|] {symmetric2(2)} [|p ! 5, p ! 6|]", 7, ref.normal_vector, vector_point, LOG),
    (f"multivariateStudentLogDensity (p ! 0) [|p ! 1, p ! 2|] {symmetric2(3)} [|p ! 6, p ! 7|]", 8, ref.student_vector, lambda r: (shape(r),) + vector_point(r), LOG),
    (f"wishartLogDensity (p ! 0) {symmetric2(1)} {symmetric2(4)}", 7, ref.wishart, wishart_point, LOG),
    (f"inverseWishartLogDensity (p ! 0) {symmetric2(1)} {symmetric2(4)}", 7, ref.inverse_wishart, wishart_point, LOG),
    (f"lkjLogDensity (p ! 0) {CORRELATION}", 4, ref.lkj, correlation, LOG),
    ("lkjCholeskyLogDensity (p ! 0) [| [|1, 0, 0|], [|0, p ! 1, 0|], [|0, 0, p ! 2|] |]", 3, lambda e, s, t: (2 * e - 1) * log(s) + (2 * e - 2) * log(t) - ref.lkj_constant(e, 3), lambda r: (shape(r), unit(r), unit(r)), LOG),
    ("multivariateLgamma 3 (p ! 0)", 1, lambda x: ref.mvlgamma(3, x), lambda r: (1 + 10 ** r.uniform(-8, 12),), LOG),
    ("multinomialLogMass [|p ! 0, p ! 1, 1 - p ! 0 - p ! 1|] [|whole 2, whole 3, whole 4|]", 5, lambda p, q, *ks: ref.multinomial((p, q, 1 - p - q), ks), counts_point, LOG),
    ("categoricalLogMass [|p ! 0, 1 - p ! 0|] 0", 1, log, lambda r: (unit(r),), LOG),
    ("categoricalLogitLogMass [|p ! 0, p ! 1, p ! 2|] 1", 3, lambda a, b, c: b - log(exp(a) + exp(b) + exp(c)), lambda r: [r.uniform(-800, 800) if r.random() < 0.5 else r.gauss(0, 3) for _ in range(3)], LOG),
    ("xlogx", 1, lambda x: x * log(x), lambda r: (positive(r, 300),), PLAIN),
]


def probability(r):
    return r.choice([r.random(), 10 ** r.uniform(-20, 0), 1 - 10 ** r.uniform(-12, 0)])


def binomial_cdf(n, p, k):
    return mp.mpf(1) if k >= n else exp(ref.beta_tails(k + 1, n - k, p)[1])


# Quantiles of counts, whose last argument is the probability; the distribution function; and the arguments.
COUNT_QUANTILES = [
    ("binomialQuantile (whole 0) (p ! 1) (p ! 2)", binomial_cdf, lambda r: (float(count(r, 7)), unit(r), probability(r))),
    ("poissonQuantile (p ! 0) (p ! 1)", lambda m, k: exp(ref.gamma_tails(k + 1, m)[1]), lambda r: (10 ** r.uniform(-3, 7), probability(r))),
    ("geometricQuantile (p ! 0) (p ! 1)", lambda p, k: -mp.expm1((k + 1) * mp.log1p(-p)), lambda r: (10 ** r.uniform(-6, -0.01), probability(r))),
    ("negativeBinomialQuantile (p ! 0) (p ! 1) (p ! 2)", lambda n, p, k: exp(ref.beta_tails(n, k + 1, p)[0]), lambda r: (10 ** r.uniform(-1, 4), 10 ** r.uniform(-6, -0.01), probability(r))),
]


def count_error(cdf, p, k):
    """How far the distribution function is on the wrong side of the probability, at the quantile or at the count before it."""
    *shapes, q = (mp.mpf(x) for x in p)
    short = q - cdf(*shapes, mp.mpf(k))
    over = cdf(*shapes, mp.mpf(k - 1)) - q if k > 0 else mp.mpf(-1)
    return float(max(short, over, mp.mpf(0)) / (EPS * q))


def count_quantiles(command, number, words):
    for name, cdf, arguments in COUNT_QUANTILES:
        if words and not any(word in name for word in words):
            continue
        r = random.Random(name + SEED)
        ps = [p for p in (arguments(r) for _ in range(number)) if 0 < p[-1] < 1]
        counts = evaluate(command, (f"toDouble ({name})", len(ps[0])), [(p, None, None) for p in ps])
        error, p, k = max((count_error(cdf, p, int(k)), p, int(k)) for p, k in zip(ps, counts))
        print(f"{error:10.2f}  {name.split()[0]}  at {p}: {k}", flush=True)


def expression(name, arguments):
    return name if " " in name else name + "".join(f" (p ! {i})" for i in range(arguments))


def random_points(entry):
    """Without end: random arguments, the same as numbers of mpmath, and their value, all of them finite."""
    name, _, reference, arguments, _ = entry
    r = random.Random(name + SEED)
    while True:
        p = tuple(float(x) for x in arguments(r))
        if not all(math.isfinite(x) for x in p):
            continue
        q = [mp.mpf(x) for x in p]
        v = reference(*q)
        if mp.isfinite(v):
            yield p, q, v


def points(entry, number):
    """Random arguments with their values and what rounding does to these."""
    name, _, reference, _, _ = entry
    found = []
    for p, q, v in random_points(entry):
        if len(found) == number:
            break
        if not 1e-300 < abs(v) < 1e300:
            continue
        slack = mp.mpf(0)
        for i, x in enumerate(q):
            if x == 0:
                continue
            try:
                h = x * mp.mpf(10) ** -30
                slack += abs(reference(*q[:i], x + h, *q[i + 1:]) - v) * mp.mpf(10) ** 30
            except (ValueError, ZeroDivisionError, mp.mp.NoConvergence):
                pass
        if "whole" in name:  # counts are exact
            slack = mp.mpf(0)
            for i, x in enumerate(q):
                if f"whole {i}" not in name and x:
                    slack += abs(reference(*q[:i], x * (1 + mp.mpf(10) ** -30), *q[i + 1:]) - v) * mp.mpf(10) ** 30
        found.append((p, v, slack))
    return found


HEAD = """import Bessel
import Distributions
import GammaFunctions
import IncompleteFunctions
import SpecialFunctions
import Statistics
"""


def steps_of(name, x):
    """The indices of the arguments by which there is a derivative."""
    return [i for i in range(len(x)) if f"whole {i}" not in name]


def slopes_of(reference, name, q):
    """The partial derivatives, by central differences; an argument that is 0 moves by a step of its own."""
    found = []
    for i in steps_of(name, q):
        h = (abs(q[i]) or mp.mpf(10) ** -100) * mp.mpf(10) ** -120
        found.append((reference(*q[:i], q[i] + h, *q[i + 1:]) - reference(*q[:i], q[i] - h, *q[i + 1:])) / (2 * h))
    return found


def hessian_of(reference, name, q):
    """The second partial derivatives, by central differences of those of `slopes_of`."""
    found = []
    for i in steps_of(name, q):
        h = (abs(q[i]) or mp.mpf(10) ** -100) * mp.mpf(10) ** -60
        above = slopes_of(reference, name, q[:i] + [q[i] + h] + q[i + 1:])
        below = slopes_of(reference, name, q[:i] + [q[i] - h] + q[i + 1:])
        found.append([(a - b) / (2 * h) for a, b in zip(above, below)])
    return found


def second_derivatives(command, number, words, golden):
    """Hessians: the error is relative to the element, to what rounding the arguments changes, and to rounding the first derivative divided by the argument."""
    mp.mp.dps = 700
    cases = []
    for entry in FUNCTIONS:
        name, _, reference, _, _ = entry
        if words and not any(word in name for word in words):
            continue
        ps = []
        for p, q, _ in random_points(entry):
            if len(ps) == number:
                break
            try:
                h = [[x if abs(x) > mp.mpf(10) ** -300 else mp.mpf(0) for x in row] for row in hessian_of(reference, name, q)]
                g = slopes_of(reference, name, q)
                slack = [[abs(a) * 0 for a in row] for row in h]
                for i in steps_of(name, q):
                    if q[i]:
                        moved = hessian_of(reference, name, q[:i] + [q[i] * (1 + mp.mpf(10) ** -18)] + q[i + 1:])
                        slack = [[s + abs(b - a) * mp.mpf(10) ** 18 for s, a, b in zip(x, y, z)] for x, y, z in zip(slack, h, moved)]
            except (ValueError, ZeroDivisionError, TypeError, mp.mp.NoConvergence):
                continue
            if all(mp.isfinite(x) and (x == 0 or 1e-290 < abs(x) < 1e290) for row in h for x in row) and all(abs(x) < 1e290 for x in g):
                ps.append((p, h, slack))
        cases.append((entry, ps))
        if golden:
            continue
        worst = {}
        steps = steps_of(name, ps[0][0])
        for (p, h, slack), found in zip(ps, evaluate(command, entry, ps, "hessian")):
            for a, i in enumerate(steps):
                for b, j in enumerate(steps):
                    f, v = found[i][j], h[a][b]
                    error = float(abs(mp.mpf(f) - v) / (EPS * (max(abs(v), mp.mpf(10) ** -300) + slack[a][b] / 2))) if math.isfinite(f) else math.inf
                    if error >= worst.get((i, j), (-1,))[0]:
                        worst[i, j] = (error, p, f, v)
        for (i, j), (error, p, f, v) in sorted(worst.items()):
            print(f"{error:10.2f}  {name.split(' ')[0]} by {i}, {j}  at {p}: {f!r}, not {mp.nstr(v, 20)}", flush=True)
    if golden:
        write_second(cases)


def gradient_points(entry, number):
    """Random arguments with their gradients, and what rounding the arguments by half a unit does to these."""
    name, _, reference, _, _ = entry
    found = []
    for p, q, _ in random_points(entry):
        if len(found) == number:
            break
        try:
            g = slopes_of(reference, name, q)
            slack = [mp.mpf(0)] * len(g)
            for i in steps_of(name, q):
                if q[i]:
                    moved = slopes_of(reference, name, q[:i] + [q[i] * (1 + mp.mpf(10) ** -18)] + q[i + 1:])
                    slack = [s + abs(b - a) * mp.mpf(10) ** 18 for s, a, b in zip(slack, g, moved)]
        except (ValueError, ZeroDivisionError, TypeError, mp.mp.NoConvergence):
            continue
        if all(mp.isfinite(x) and abs(x) < 1e300 for x in g + slack) and not any(0 < abs(x) < 1e-290 for x in g):
            found.append((p, g, slack))
    return found


def gradients(command, number, words, golden):
    mp.mp.dps = 700  # steps are small against other arguments, too
    cases = []
    for entry in FUNCTIONS:
        name = entry[0]
        if words and not any(word in name for word in words):
            continue
        ps = gradient_points(entry, number)
        cases.append((entry, ps))
        if golden:
            continue
        worst = {}
        for (p, g, slack), found in zip(ps, evaluate(command, entry, ps, "grad")):
            for i, v, s in zip(steps_of(name, p), g, slack):
                f = found[i]
                error = float(abs(mp.mpf(f) - v) / (EPS * (max(abs(v), mp.mpf(10) ** -300) + s / 2))) if math.isfinite(f) else math.inf
                if error >= worst.get(i, (-1,))[0]:
                    worst[i] = (error, p, f, v)
        for i, (error, p, f, v) in sorted(worst.items()):
            print(f"{error:10.2f}  {name.split(' ')[0]} by {i}  at {p}: {f!r}, not {mp.nstr(v, 20)}", flush=True)
    if golden:
        write_gradients(cases)


def literal(x):
    text = repr(float(x))
    return f"({text})" if text.startswith("-") else text


def number(x):
    return [number(y) for y in x] if isinstance(x, list) else float(x.replace("Infinity", "inf")) if isinstance(x, str) else float(x)


def evaluate(command, entry, ps, derivative=None):
    """The values of a function at points, its gradients or its Hessians, by Cotan."""
    name, arguments, *_ = entry
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "values.cot"
        file.write_text(HEAD + f"value :: Array Double -> Double\nvalue p = {expression(name, arguments)}\n"
                        + ("  where whole i = round (p ! i)\n" if "whole" in name else "") + (f"main = map ({derivative} value) :: Array (Array Double) -> Array ({'Array Double' if derivative == 'grad' else 'Array (Array Double)'})\n" if derivative else "main :: Array (Array Double) -> Array Double\nmain = map value\n"))
        (pathlib.Path(folder) / "points.json").write_text(json.dumps([[list(p) for p, _, _ in ps]]))
        run = subprocess.run([command, "run", str(file), "--args", f"@{folder}/points.json", "--out", f"{folder}/values.json"], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{name}: {run.stderr}")
        return number(json.loads((pathlib.Path(folder) / "values.json").read_text())["value"])


def unit_of(entry, v, slack):
    return EPS * ((max(abs(v), 1) if entry[4] else abs(v)) + slack / 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--command", default=str(ROOT / "build" / "cotan"))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--golden", action="store_true")
    parser.add_argument("--gradient", action="store_true", help="the partial derivatives instead of the values")
    parser.add_argument("--second", action="store_true", help="the second partial derivatives")
    parser.add_argument("--seed", default="", help="other random arguments")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    global SEED
    SEED = options.seed
    if options.gradient:
        return gradients(options.command, 4 if options.golden else options.count, options.words, options.golden)
    if options.second:
        return second_derivatives(options.command, 2 if options.golden else options.count, options.words, options.golden)
    cases = []
    for entry in FUNCTIONS:
        name = entry[0]
        if options.words and not any(word in name for word in options.words):
            continue
        ps = points(entry, options.count)
        values = evaluate(options.command, entry, ps)
        errors = [(float(abs(mp.mpf(f) - v) / unit_of(entry, v, s)) if math.isfinite(f) else math.inf, p, f, v) for f, (p, v, s) in zip(values, ps)]
        error, p, found, v = max(errors, key=lambda e: e[0])
        short = name.split(" [")[0].replace(" (p ! 0)", "").replace(" (whole 0)", "").replace(" (p ! 1)", "").replace(" (whole 1)", "").replace(" (whole 2)", "")
        if options.table:
            print(f"| `{short}` | {error:.1f} |")
        else:
            print(f"{error:10.2f}  {short}  at {p}: {found!r}, not {mp.nstr(v, 20)}", flush=True)
        cases.append((entry, ps[:8]))
    if options.golden:
        write_golden(cases)
    elif not options.table:
        count_quantiles(options.command, options.count, options.words)


def bound_of(name):
    """How many units of error docs/library.md allows."""
    return 20 if any(word in name for word in ("betaI", "BetaI", "gammaP", "gammaQ", "GammaP", "GammaQ", "Cdf", "studentTQuantile")) else 10


def rounded(body):
    for i in range(5):
        body = body.replace(f"(whole {i})", f"(round (p ! {i}))").replace(f"whole {i}", f"round (p ! {i})")
    return body


def digits(x, n):
    return mp.nstr(x, n).replace("e+", "e")


def slope_bound(name):
    """The same for gradients: where a derivative is by the value that was found, it has the error that rounding this causes."""
    return 100000 if any(word in name for word in ("Inverse", "Quantile")) else 200 if bound_of(name) == 20 else 30


def write_gradients(cases):
    rows = []
    for entry, ps in cases:
        name, arguments, *_ = entry
        table = ", ".join(
            f"([|{', '.join(repr(x) for x in p)}|], ["
            + ", ".join(f"({i}, {digits(v, 20)}, {digits(EPS * (max(abs(v), mp.mpf(10) ** -300) + s / 2), 4)})" for i, v, s in zip(steps_of(name, p), g, slack)) + "])"
            for p, g, slack in ps)
        rows.append(f'Case "{name.split(" ")[0]}" {slope_bound(name)} (\\p -> {rounded(expression(name, arguments))}) [{table}]')
    (ROOT / "tests" / "golden" / "library" / "accuracy_gradients.cot").write_text(
        "-- The partial derivatives of densities, distribution functions and special functions at random arguments of their whole domains, against differences of\n"
        "-- mpmath with 700 digits: each point has the indices of its arguments with the derivative and the unit of error there. Written by `tests/accuracy.py\n"
        "-- --gradient --golden`; a test prints what is wrong by more than the bound of the function.\n"
        "-- falls back: too many function values could be differentiated\n"
        "-- $ cotan run FILE\n" + HEAD +
        "\ndata Case = Case String Double (Array Double -> Double) [(Array Double, [(Int, Double, Double)])]\n\n"
        "main = [(name, p, i, g ! i, v) | Case name bound f points <- cases, (p, slopes) <- points, let g = grad f p, (i, v, unit) <- slopes, not (abs (g ! i - v) <= bound * unit)]\n\n"
        "cases :: [Case]\ncases =\n  [ " + "\n  , ".join(rows) + "\n  ]\n")


def write_second(cases):
    rows = []
    for entry, ps in cases:
        name, arguments, *_ = entry
        table = ", ".join(
            f"([|{', '.join(repr(x) for x in p)}|], ["
            + ", ".join(f"({i}, {j}, {digits(h[a][b], 20)}, {digits(EPS * (max(abs(h[a][b]), mp.mpf(10) ** -300) + slack[a][b] / 2), 4)})"
                        for a, i in enumerate(steps_of(name, p)) for b, j in enumerate(steps_of(name, p)) if i <= j) + "])"
            for p, h, slack in ps)
        rows.append(f'Case "{name.split(" ")[0]}" {slope_bound(name)} (\\p -> {rounded(expression(name, arguments))}) [{table}]')
    (ROOT / "tests" / "golden" / "library" / "accuracy_second.cot").write_text(
        "-- Second partial derivatives at random arguments, as accuracy_gradients.cot. Written by `tests/accuracy.py --second --golden WORD…`.\n"
        "-- Too large for native code.\n-- $ cotan run FILE --engine eval\n" + HEAD +
        "\ndata Case = Case String Double (Array Double -> Double) [(Array Double, [(Int, Int, Double, Double)])]\n\n"
        "main = [(name, p, (i, j), h ! i ! j, v) | Case name bound f points <- cases, (p, elements) <- points, let h = hessian f p, (i, j, v, unit) <- elements, not (abs (h ! i ! j - v) <= bound * unit)]\n\n"
        "cases :: [Case]\ncases =\n  [ " + "\n  , ".join(rows) + "\n  ]\n")


def write_golden(cases):
    rows = []
    for entry, ps in cases:
        name, arguments, *_ = entry
        body = rounded(expression(name, arguments))
        table = ", ".join(f"([|{', '.join(repr(x) for x in p)}|], {mp.nstr(v, 20).replace('e+', 'e')}, {mp.nstr(unit_of(entry, v, s), 4).replace('e+', 'e')})" for p, v, s in ps)
        rows.append(f'Case "{name.split(" ")[0]}" {bound_of(name)} (\\p -> {body}) [{table}]')
    (ROOT / "tests" / "golden" / "library" / "accuracy.cot").write_text(
        "-- Densities, distribution functions and special functions at random arguments of their whole domains, against numbers of mpmath: each point has the\n"
        "-- value and the unit of error there. Written by `tests/accuracy.py --golden`; a test prints what is wrong by more than the bound of docs/library.md: 10 units, 20 of what is made of incomplete functions.\n"
        "-- $ cotan run FILE\n" + HEAD +
        "\ndata Case = Case String Double (Array Double -> Double) [(Array Double, Double, Double)]\n\n"
        "main = [(name, p, f p, v) | Case name bound f points <- cases, (p, v, unit) <- points, not (abs (f p - v) <= bound * unit)]\n\n"
        "cases :: [Case]\ncases =\n  [ " + "\n  , ".join(rows) + "\n  ]\n")


if __name__ == "__main__":
    main()
