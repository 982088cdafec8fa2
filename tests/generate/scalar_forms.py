"""Expressions of the types Double, Int, Bool and Float."""
from expressions import BINARY, DIVISIONS, SMOOTH, makes
from tree import E

RISKY = ["sqrt $0", "log $0", "recip $0", "exp $0", "asin $0", "$0 ** 2.5", "expm1 $0", "signum $0", "floorReal $0",
         "lgamma (1.0 + abs $0)", "$0 ^ 3", "$0 ^^ (-2)", "log2 (abs $0)", "digamma (1.5 + abs $0)", "tan $0", "acosh $0",
         "$0 ^ 2", "roundReal $0", "erfc $0", "cosh (tanh $0)", "sinh (sin $0)", "truncateReal $0", "log10 (2.0 + abs $0)"]
RISKY_BINARY = ["$0 / $1", "$0 ** $1", "atan2 $0 $1", "fmod $0 $1", "hypot $0 $1", "logBase (2.0 + abs $0) (1.5 + abs $1)"]
INT_BINARY = ["$0 + $1", "$0 - $1", "$0 * $1", "min $0 $1", "max $0 $1", "$0 .&. $1", "$0 .|. $1", "$0 `xor` $1"]
FLOATS = ["$0 + $1", "$0 * $1", "$0 - $1", "max $0 $1", "$0 / (2 + abs $1)"]
FLOAT_UNARY = ["sin $0", "sqrt (1 + abs $0)", "tanh $0", "negate $0", "exp (tanh $0)", "abs $0", "0.1 * $0"]


class ScalarForms:
    @makes("D", 2.5)
    def unary(self, t, env, n):
        form = self.pick(RISKY) if self.chance(self.risk) else self.pick(SMOOTH)
        return E("D", form, [self.e("D", env, n - 1)])

    @makes("D", 3.0)
    def binary(self, t, env, n):
        a, b = self.split(n, 2)
        form = self.pick(RISKY_BINARY) if self.chance(self.risk) else self.pick(BINARY)
        return E("D", form, [self.e("D", env, a), self.e("D", env, b)])

    @makes("D", 1.0)
    def factor(self, t, env, n):
        """Products with numbers that no real decides: signs, and weights by an index."""
        a, b, c = self.split(n, 3)
        x, y = self.e("D", env, a), self.e("D", env, b)
        if self.chance(0.5):
            form = self.pick(["$0 * $1 * (if $2 then 1.0 else -1.0)", "(if $2 then 0.5 else 2.0) * $0 * $1", "($0 - $1) / (if $2 then 2.0 else -4.0)",
                              "$0 * (if $2 then 0.0 else 1.0) + $1 * (if $2 then 1.0 else 0.0)"])
            return E("D", form, [x, y, self.e("B", env, min(c, 3))])
        sign = self.name("g")
        body = self.pick(["if even k then 1.0 else -1.0", "if k > 2 then 0.5 * fromIntegral (k `mod` 9) else 1.5", "fromIntegral (k `mod` 5) - 2.0"])
        form = self.pick([f"$0 * $1 * {sign} $2", f"{sign} $2 * $0 - {sign} ($2 + 1) * $1"])
        return E("D", f"let {{ {sign} :: Int -> Double; {sign} k = {body} }} in {form}", [x, y, self.e("I", env, min(c, 3))])

    @makes("D", 2.5)
    def reduction(self, t, env, n):
        d = self.dim(env, nonempty=True)
        form = self.pick(["sum $0", "sum $0", "sum $0", "sum $0", "maximum $0", "minimum $0", "product (map (\\z -> 1.0 + 0.3 * sin z) $0)",
                          "reduce (+) 0.0 $0", "reduce max (-5.0) $0", "last $0", "head $0", "foldl1 max $0",
                          "foldr (\\z a -> z - 0.5 * a) 0.0 $0", "foldl (+) 0.0 $0", "sum (map (\\z -> z * z) $0)", "sum (toList $0)",
                          "product (take 3 $0)"])
        return E("D", form, [self.e(("A", "D", d), env, n - 1)])

    @makes("D", 0.8)
    def reduction2(self, t, env, n):
        d, d2 = self.dim(env, nonempty=True), self.dim(env, nonempty=True)
        u = ("A", ("A", "D", d2), d)
        if not self.affordable(d, env.bind(times=self.times(d2))):
            return None
        form = self.pick(["sum (map sum $0)", "sum (concat $0)", "sum (map maximum $0)", "maximum (map sum $0)", "sum (map (\\r -> sin (sum r)) $0)",
                          "sum (map sum (transpose $0))"])
        return E("D", form, [self.e(u, env, n - 1)])

    @makes("D", 0.5)
    def dynamic(self, t, env, n):
        form = self.pick(["sum $0", "foldl (\\a z -> 0.5 * a + z) 0.1 $0", "fromIntegral (length $0)", "sum (map sin $0)"])
        return E("D", form, [self.e(("A", "D", None), env, n - 1)])

    @makes("D", 0.4)
    def from_int(self, t, env, n):
        return E("D", self.pick(["fromIntegral ($0 `mod` 17)", "0.1 * fromIntegral ($0 `rem` 32)", "fromIntegral ($0 .&. 7)"]), [self.e("I", env, min(3, n - 1))])

    @makes("D", 0.25)
    def from_float(self, t, env, n):
        return E("D", "realToFrac $0", [self.e("F", env, min(4, n - 1))])

    @makes("D", 0.6)
    def of_list(self, t, env, n):
        return E("D", self.pick(["sum $0", "foldr (\\z a -> 0.5 * a + z) 0.0 $0", "sum (map (\\z -> z * z) $0)", "maximum (0.0 : $0)",
                                 "case $0 of { z : _ -> z; [] -> 0.5 }", "sum (zipWith (*) $0 [0.5, 0.25, 2.0])", "sum (filter (> 0.0) $0)",
                                 "let { go [] a = a; go (z : zs) a = go zs (sin (a + z)) } in go $0 0.5",
                                 "let { go [] = 0.0; go (z : zs) = z - 0.5 * go zs } in go $0"]), [self.e(("L", "D"), env, n - 1)])

    @makes("D", 0.5)
    def zipped(self, t, env, n):
        d = self.dim(env)
        a, b = self.split(n, 2)
        if not self.affordable(d, env):
            return None
        return E("D", self.pick(["sum (zipWith (*) $0 $1)", "sum (zipWith (\\a b -> (a - b) * (a - b)) $0 $1)", "sum (map (\\(a, b) -> a * sin b) (zip $0 $1))"]),
                 [self.e(("A", "D", d), env, a), self.e(("A", "D", d), env, b)])

    # -- Int, Bool, Float --

    @makes("I", 2.0)
    def int_binary(self, t, env, n):
        a, b = self.split(min(n, 5), 2)
        return E("I", self.pick(INT_BINARY), [self.e("I", env, a), self.e("I", env, b)])

    @makes("I", 0.8)
    def division(self, t, env, n):
        k = E("I", self.pick(["2", "3", "-2", "-3", "7", "5"])) if self.chance(0.8) else E("I", "1 + abs ($0 `rem` 5)", [self.e("I", env, 0)])
        return E("I", self.pick(DIVISIONS), [self.e("I", env, min(n, 4) - 1), k])

    @makes("I", 0.6)
    def odd_int(self, t, env, n):
        return E("I", self.pick(["shiftL $0 3", "shiftR $0 1", "shiftL $0 62", "popCount $0", "complement $0", "negate $0", "abs $0", "signum $0",
                                 "$0 + 9223372036854775807", "$0 * 4611686018427387905", "$0 - maxBound", "bit ($0 .&. 63)", "gcd $0 12",
                                 "$0 ^ 2", "fromEnum ($0 > 2)", "shiftR (negate $0) 2"]), [self.e("I", env, min(n, 4) - 1)])

    @makes("I", 0.7)
    def from_real(self, t, env, n):
        return E("I", self.pick(["floor (5.0 * sin $0)", "round (3.0 * tanh $0)", "truncate (4.0 * cos $0)", "ceiling (2.5 * sin $0)",
                                 "if $0 > 0.25 then 1 else 2"]), [self.e("D", env, min(n, 5) - 1)])

    @makes("I", 0.5)
    def of_array(self, t, env, n):
        d = self.dim(env, nonempty=True)
        if self.chance(0.5):
            return E("I", self.pick(["argmax $0", "argmin $0", "length (filter (> 0.0) $0)"]), [self.e(("A", "D", d), env, n - 1)])
        return E("I", self.pick(["sum $0", "maximum $0", "foldl (\\a k -> a * 3 + k) 1 $0", "product (map (+ 1) $0)"]), [self.e(("A", "I", d), env, n - 1)])

    @makes("B", 2.5)
    def compare(self, t, env, n):
        u = self.pick("DI") if not env.indices or self.chance(0.5) else "I"
        a, b = self.split(min(n, 4), 2)
        return E("B", self.pick(["$0 < $1", "$0 <= $1", "$0 > $1", "$0 >= $1", "$0 == $1", "$0 /= $1"]), [self.e(u, env, a), self.e(u, env, b)])

    @makes("B", 0.8)
    def logic(self, t, env, n):
        a, b = self.split(min(n, 4), 2)
        return E("B", self.pick(["$0 && $1", "$0 || $1", "not $0", "$0 == $1"]), [self.e("B", env, a), self.e("B", env, b)])

    @makes("B", 1.0)
    def parity(self, t, env, n):
        return E("B", self.pick(["even $0", "odd $0", "$0 `mod` 3 == 1", "testBit $0 1", "$0 `rem` 4 < 2"]), [self.e("I", env, min(n, 3) - 1)])

    @makes("B", 0.4)
    def asked(self, t, env, n):
        d = self.dim(env)
        return E("B", self.pick(["any (> 0.5) $0", "all (< 1.5) $0", "elem 1.0 $0", "isNaN (sum $0)", "null $0"]), [self.e(("A", "D", d), env, n - 1)])

    @makes("F", 2.0)
    def float_binary(self, t, env, n):
        a, b = self.split(n, 2)
        return E("F", self.pick(FLOATS), [self.e("F", env, a), self.e("F", env, b)])

    @makes("F", 1.0)
    def float_unary(self, t, env, n):
        return E("F", self.pick(FLOAT_UNARY), [self.e("F", env, n - 1)])

    @makes("F", 1.0)
    def to_float(self, t, env, n):
        return E("F", self.pick(["realToFrac $0"]), [self.e("D", env, n - 1)])

    @makes("F", 0.5)
    def float_sum(self, t, env, n):
        return E("F", self.pick(["sum $0", "foldl (\\a z -> a * 0.5 + z) 0 $0"]), [self.e(("A", "F", self.dim(env)), env, n - 1)])
