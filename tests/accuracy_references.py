"""References of tests/accuracy.py for distribution functions, their inverses, and densities of vectors and matrices, by mpmath: each returns numbers of many digits.

Incomplete gamma and beta functions are by series and continued fractions of DLMF 8.7.1, 8.9.2 and 8.17.22, other ones than where Cotan uses expansions. Points of inverses are made
from what the inverse is to find: `found` keeps it, and Newton's method starts there.
"""
import math

import mpmath as mp

mp.mp.dps = 120
log, exp, pi = mp.log, mp.exp, mp.pi
TINY = mp.mpf(10) ** -100


def lentz(b0, terms):
    """b0 + a1 / (b1 + a2 / (b2 + …)), from pairs (a, b)."""
    f, c, d = b0, b0, mp.mpf(0)
    for a, b in terms:
        d = 1 / (b + a * d)
        c = b + a / c
        f *= c * d
        if abs(c * d - 1) < TINY:
            return f


def gamma_tails(a, x):
    """Logarithms of P and Q."""
    if x <= 0:
        return mp.ninf, mp.mpf(0)
    power = a * log(x) - x - mp.loggamma(a + 1)
    if x < a + 1:
        total = term = mp.mpf(1)
        n = a + 1
        while term > TINY * total:
            term *= x / n
            total += term
            n += 1
        p = power + log(total)
        return p, mp.log1p(-exp(p))

    def terms():
        n = 1
        while True:
            yield -n * (n - a), x + 2 * n + 1 - a
            n += 1
    q = power + log(a) - log(lentz(x + 1 - a, terms()))
    return mp.log1p(-exp(q)), q


def beta_tails(a, b, x):
    """Logarithms of I and 1 − I."""
    if x * (a + b + 2) > a + 1:
        return beta_tails(b, a, 1 - x)[::-1]

    def terms():
        m = 0
        while True:
            yield -(a + m) * (a + b + m) * x / (a + 2 * m) / (a + 2 * m + 1), mp.mpf(1)
            m += 1
            yield m * (b - m) * x / (a + 2 * m - 1) / (a + 2 * m), mp.mpf(1)
    below = a * log(x) + b * mp.log1p(-x) - log(a) - (mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)) - log(lentz(mp.mpf(1), terms()))
    return below, mp.log1p(-exp(below))


def student_tails(n, m, s, x):
    """Logarithms of the probabilities of at most x and of more."""
    z = (x - m) / s
    half = beta_tails(n / 2, mp.mpf(1) / 2, n / (n + z * z))[0] - log(2) if z else -log(2)
    other = mp.log1p(-exp(half))
    return (half, other) if z <= 0 else (other, half)


def mvlgamma(k, x):
    return k * (k - 1) * log(pi) / 4 + sum(mp.loggamma(x - mp.mpf(j) / 2) for j in range(int(k)))


def matrix(entries):
    """A symmetric matrix of the elements on and below its diagonal, row by row."""
    n = int((math.sqrt(8 * len(entries) + 1) - 1) / 2)
    m = mp.matrix(n, n)
    it = iter(entries)
    for i in range(n):
        for j in range(i + 1):
            m[i, j] = m[j, i] = next(it)
    return m


def log_det(m):
    return log(mp.det(m))


def quadratic(m, v):
    return (v.T * mp.inverse(m) * v)[0]


def normal_vector(*p):
    """Two means, the three elements of the covariance, a point."""
    m, v = matrix(p[2:5]), mp.matrix([p[5] - p[0], p[6] - p[1]])
    return -log(2 * pi) - log_det(m) / 2 - quadratic(m, v) / 2


def student_vector(n, *p):
    m, v = matrix(p[2:5]), mp.matrix([p[5] - p[0], p[6] - p[1]])
    return mp.loggamma((n + 2) / 2) - mp.loggamma(n / 2) - log(n * pi) - log_det(m) / 2 - (n + 2) / 2 * mp.log1p(quadratic(m, v) / n)


def trace(m):
    return sum(m[i, i] for i in range(m.rows))


def wishart(n, *p):
    s, x = matrix(p[:3]), matrix(p[3:])
    return (n - 3) / 2 * log_det(x) - trace(mp.inverse(s) * x) / 2 - n * log(2) - n / 2 * log_det(s) - mvlgamma(2, n / 2)


def inverse_wishart(n, *p):
    s, x = matrix(p[:3]), matrix(p[3:])
    return n / 2 * log_det(s) - n * log(2) - mvlgamma(2, n / 2) - (n + 3) / 2 * log_det(x) - trace(s * mp.inverse(x)) / 2


def lkj_constant(eta, k):
    """The logarithm of what the density at K rows is divided by (Lewandowski, Kurowicka and Joe 2009)."""
    return sum((2 * eta - 2 + k - i) * (k - i) * log(2) + (k - i) * (2 * mp.loggamma(eta + mp.mpf(k - i - 1) / 2) - mp.loggamma(2 * eta + k - i - 1)) for i in range(1, k))


def lkj(eta, r, s, t):
    m = matrix([mp.mpf(1), r, mp.mpf(1), s, t, mp.mpf(1)])
    return (eta - 1) * log_det(m) - lkj_constant(eta, 3)


def multinomial(p, ks):
    n = sum(ks)
    return mp.loggamma(n + 1) - sum(mp.loggamma(k + 1) for k in ks) + sum(k * log(q) for k, q in zip(ks, p) if k)


found = {}


def remembered(x, *p):
    """Arguments of an inverse: what it will find, by them."""
    found[p] = x
    return p


def inverse(tails, *p):
    """The x at which the logarithm of a tail is that of p's last: from what is remembered, by Newton's method in the logarithm of x; the tails give (log P, log Q)."""
    *shapes, q = p
    x = log(mp.mpf(found[tuple(float(v) for v in p)]))
    goal = log(q) if q < 0.5 else mp.log1p(-q)
    side = 0 if q < 0.5 else 1
    for _ in range(80):
        f = tails(*shapes, exp(x))[side] - goal
        h = mp.mpf(10) ** -50
        slope = (tails(*shapes, exp(x + h))[side] - goal - f) / h
        step = f / slope
        x -= step
        if abs(step) < mp.mpf(10) ** -45:
            return exp(x)
    return mp.nan


def student_quantile(n, q):
    """Of the standard distribution: from what is remembered, by Newton's method."""
    x = mp.mpf(found[float(n), float(q)])
    if q == mp.mpf(1) / 2:
        return mp.mpf(0)
    side, goal = (0, log(q)) if q < 0.5 else (1, mp.log1p(-q))
    for _ in range(80):
        f = student_tails(n, 0, 1, x)[side] - goal
        h = x * mp.mpf(10) ** -50
        step = f * h / (student_tails(n, 0, 1, x + h)[side] - goal - f)
        x -= step
        if abs(step) < abs(x) * mp.mpf(10) ** -45:
            return x
    return mp.nan
