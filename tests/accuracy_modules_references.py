"""References of tests/accuracy_modules.py: definitions and closed forms by mpmath. Each takes the list of arguments and gives the list of results."""
import mpmath as mp


# ---- Fourier transforms, by their sums ----

def dft(p, sign):
    n = len(p) // 2
    xs = [mp.mpc(a, b) for a, b in zip(p[:n], p[n:])]
    ys = [sum(x * mp.expjpi(mp.mpf(2 * sign * j * k) / n) for j, x in enumerate(xs)) / (n if sign == 1 else 1) for k in range(n)]
    return [mp.re(y) for y in ys] + [mp.im(y) for y in ys]


def real_dft(p):
    n = len(p)
    ys = dft(p + [mp.mpf(0)] * n, -1)
    return ys[:n // 2 + 1] + ys[n:n + n // 2 + 1]


def real_inverse(p):
    """Of an odd number n = 2 k − 1."""
    k = len(p) // 2
    n = 2 * k - 1
    re = p[:k] + p[1:k][::-1]
    im = [mp.mpf(0)] + p[k + 1:] + [-x for x in p[k + 1:][::-1]]
    return dft(re + im, 1)[:n]


def convolution(p):
    n = len(p) // 2
    return [sum(p[j] * p[n + (k - j) % n] for j in range(n)) for k in range(n)]


# ---- curves ----

def cubic(xs, ys, ms, x):
    """Value, slope, and integral from the first abscissa, of the pieces with given slopes."""
    def piece(i):
        h = xs[i + 1] - xs[i]
        d = (ys[i + 1] - ys[i]) / h
        return [ys[i], ms[i], (3 * d - 2 * ms[i] - ms[i + 1]) / h, (ms[i] + ms[i + 1] - 2 * d) / h ** 2]

    def area(c, t):
        return sum(a * t ** (k + 1) / (k + 1) for k, a in enumerate(c))
    i = max([k for k in range(len(xs) - 1) if xs[k] <= x], default=0)
    c, t = piece(i), x - xs[i]
    return [sum(a * t ** k for k, a in enumerate(c)), sum(k * a * t ** (k - 1) for k, a in enumerate(c) if k), sum(area(piece(k), xs[k + 1] - xs[k]) for k in range(i)) + area(c, t)]


def parts(p):
    n = (len(p) - 1) // 2
    return n, p[:n], p[n:2 * n], p[-1]


def spline(p, ends):
    """By the equations that second derivatives are continuous, and 0 at the ends, or slopes given."""
    n, xs, ys, x = parts(p)
    a, b = mp.zeros(n, n), mp.zeros(n, 1)

    def second(i, end):
        """Coefficients of the slopes, and the rest, of the second derivative of piece i at its begin (0) or end (1)."""
        h = xs[i + 1] - xs[i]
        d = (ys[i + 1] - ys[i]) / h
        return ((-4 / h, -2 / h), 6 * d / h) if end == 0 else ((2 / h, 4 / h), -6 * d / h)
    for i in range(n):
        for j, end, sign in ((i - 1, 1, 1), (i, 0, -1)):
            if 0 <= j < n - 1:
                (u, v), w = second(j, end)
                a[i, j] += sign * u
                a[i, j + 1] += sign * v
                b[i] -= sign * w
    if ends is not None:
        for i, m in ((0, ends[0]), (n - 1, ends[1])):
            for j in range(n):
                a[i, j] = 1 if i == j else 0
            b[i] = m
    return cubic(xs, ys, list(mp.lu_solve(a, b)), x)


def pchip(p):
    """Fritsch and Butland's slopes, as in SLATEC's PCHIM."""
    n, xs, ys, x = parts(p)
    h = [xs[i + 1] - xs[i] for i in range(n - 1)]
    d = [(ys[i + 1] - ys[i]) / h[i] for i in range(n - 1)]

    def end(h0, h1, d0, d1):
        s = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
        return mp.mpf(0) if mp.sign(s) != mp.sign(d0) else 3 * d0 if mp.sign(d0) != mp.sign(d1) and abs(s) > 3 * abs(d0) else s
    if n == 2:
        return cubic(xs, ys, [d[0]] * 2, x)
    ms = [end(h[0], h[1], d[0], d[1])]
    for i in range(1, n - 1):
        w, v = 2 * h[i] + h[i - 1], h[i] + 2 * h[i - 1]
        ms.append((w + v) / (w / d[i - 1] + v / d[i]) if d[i - 1] * d[i] > 0 else mp.mpf(0))
    return cubic(xs, ys, ms + [end(h[-1], h[-2], d[-1], d[-2])], x)


def hermite(p, slope):
    _, xs, ys, x = parts(p)
    return cubic(xs, ys, [slope(y) for y in ys], x)


def b(i, k, ts, x):
    """Cox and de Boor's recurrence."""
    if k == 0:
        return mp.mpf(1) if ts[i] <= x < ts[i + 1] else mp.mpf(0)
    left = (x - ts[i]) / (ts[i + k] - ts[i]) * b(i, k - 1, ts, x) if ts[i + k] > ts[i] else 0
    right = (ts[i + k + 1] - x) / (ts[i + k + 1] - ts[i + 1]) * b(i + 1, k - 1, ts, x) if ts[i + k + 1] > ts[i + 1] else 0
    return left + right


def knots(p, degree=3):
    n = (len(p) - 1 - degree - 1) // 2
    return n, p[:n + degree + 1], p[n + degree + 1:-1], p[-1]


def basis(p):
    n, ts, _, x = knots(p)
    return [b(i, 3, ts, x) for i in range(n)]


def cox_de_boor(p):
    n, ts, cs, x = knots(p)
    return [sum(c * b(i, 3, ts, x) for i, c in enumerate(cs))]


def fitted(p):
    n = len(p) // 2
    ts = [mp.mpf(x) for x in (0, 0, 0, 0.5, 1, 1, 1)]
    m = mp.matrix([[b(i, 2, ts, x) for i in range(4)] for x in p[:n]])
    return list(mp.lu_solve(m.T * m, m.T * mp.matrix(p[n:])))


# ---- initial value problems ----

def linear_flow(p):
    a = mp.matrix([[p[0], p[1]], [p[2], p[3]]])
    return list(mp.expm(a * (p[7] - p[6]), method="taylor") * mp.matrix(p[4:6]))


def fall(p):
    g, y, v = p
    t = (v + mp.sqrt(v * v + 2 * g * y)) / g
    return [t, v - g * t]


def relaxation(p):
    """y′ = −λ (y − cos t)."""
    k, y = p

    def particular(t):
        return k * (k * mp.cos(t) + mp.sin(t)) / (1 + k * k)
    return [particular(mp.mpf(1)) + (y - particular(mp.mpf(0))) * mp.exp(-k)]


# ---- optimisation ----

def decay_fit(p):
    ts = [mp.mpf(x) / 2 for x in range(5)]

    def slopes(a, k):
        e = [mp.exp(k * t) for t in ts]
        r = [a * x - y for x, y in zip(e, p)]
        return [sum(x * z for x, z in zip(e, r)), sum(t * x * z for t, x, z in zip(ts, e, r))]
    return list(mp.findroot(slopes, (3, -0.7)))


def cubic_root(p):
    return [next(mp.re(x) for x in mp.polyroots([1, 0, p[0], -p[1]], maxsteps=200, extraprec=100) if abs(mp.im(x)) < mp.mpf(10) ** -20)]


def system(p):
    x = y = None
    for start in ((p[0], p[1]), (0, 0), (-p[1], p[0]), (0.5, 0.5), (1, -1)):
        try:
            x, y = mp.findroot(lambda u, v: [u ** 3 + v - p[0], v ** 3 - u - p[1]], start)
            return [x, y]
        except (ValueError, ZeroDivisionError):
            continue
    return [mp.nan, mp.nan]


def kepler(p):
    x = mp.findroot(lambda x: p[0] * mp.cos(x) + p[1] - x, p[1])
    return [x]


def slope(x):
    return 4 * x ** 3 + 2 * x


def adam(p):
    rate, xs = p[0], p[1:]
    result = []
    first, second, small = mp.mpf(0.9), mp.mpf(0.999), mp.mpf(1.0e-16)
    for x in xs:
        m = v = mp.mpf(0)
        for i in range(20):
            g = slope(x)
            m, v = first * m + mp.mpf(0.1) * g, second * v + mp.mpf(0.001) * g * g
            x -= rate * (m / (1 - first ** (i + 1))) / (mp.sqrt(v / (1 - second ** (i + 1)) + small) + mp.mpf(1.0e-8))
        result.append(x)
    return result


def momentum(p):
    rate, kept, *xs = p
    result = []
    for x in xs:
        v = mp.mpf(0)
        for _ in range(9):
            v = kept * v - rate * slope(x)
            x += v
        result.append(x)
    return result


# ---- linear systems ----

def solved(p, symmetric):
    a = mp.matrix(3, 3)
    for i in range(3):
        for j in range(3):
            a[i, j] = (p[3 * i + j] + p[3 * j + i]) / 2 if symmetric else p[3 * i + j]
    return list(mp.lu_solve(a, mp.matrix(p[9:])))


def of_places(m, n, places):
    a = mp.zeros(m, n)
    for i, j, x in places:
        a[i, j] += x
    return a


def sparse_products(p):
    a = of_places(3, 4, [(0, 1, p[0]), (2, 3, p[1]), (2, 0, p[2]), (0, 1, p[3])])
    return list(a * mp.matrix(p[4:8])) + list(a.T * mp.matrix(p[5:8]))


def sparse_square(p):
    a = of_places(3, 4, [(0, 1, p[0]), (2, 3, p[1]), (2, 1, p[2])])
    return list(a * a.T + of_places(3, 3, [(0, 0, p[3]), (1, 2, p[4]), (2, 1, p[5])]))


def sparse_solution(p):
    a = of_places(3, 3, [(0, 0, p[0]), (1, 1, p[1]), (2, 2, p[2]), (2, 0, p[3]), (0, 2, p[3])])
    return list(mp.lu_solve(a, mp.matrix(p[4:]))) + [mp.log(mp.det(a))]


def tridiagonal(p):
    a = of_places(4, 4, [(i, i - 1, p[i]) for i in range(1, 4)] + [(i, i, p[4 + i]) for i in range(4)] + [(i, i + 1, p[8 + i]) for i in range(3)])
    return list(mp.lu_solve(a, mp.matrix(p[12:])))
