/* Suggestions for names that exist in Haskell or in other languages, but not here: what to write instead. */
#include "types/internal.h"

typedef struct Absent {
    const char *names; /* each between blanks */
    const char *help;
} Absent;

static const Absent values[] = {
    {" hPutStrLn hPutStr hPrint hFlush hSetBuffering stdout stderr stdin hGetLine hGetContents ",
     "the library has it: import System.IO"},
    {" exitWith exitFailure exitSuccess ", "the library has it: import System.Exit"},
    {" getArgs getProgName ", "the library has it: import System.Environment"},
    {" newIORef readIORef writeIORef modifyIORef modifyIORef' ", "the library has it: import Data.IORef"},
    {" newSTRef readSTRef writeSTRef modifySTRef modifySTRef' ", "the library has it: import Data.STRef"},
    {" runST ", "the library has it: import Control.Monad.ST"},
    {" runSTArray runSTUArray ", "the library has it: import Data.Array.ST"},
    {" newMVar newEmptyMVar takeMVar putMVar ", "the library has it: import Control.Concurrent.MVar"},
    {" throw throwIO try evaluate bracket finally handle ", "the library has it: import Control.Exception"},
    {" catchIOError tryIOError isDoesNotExistError isEOFError isUserError ioeGetErrorString ",
     "the library has it: import System.IO.Error"},
    {" unsafePerformIO ", "actions are performed by `main` alone: an expression has no effects"},
    {" foldr' ", "evaluation is strict: `foldr`"},
    {" len size count ", "`length` tells how many elements a list or an array has"},
    {" sqr square ", "`x ^ 2` or `x * x`"},
    {" ln ", "the natural logarithm is `log`"},
    {" arctan arcsin arccos ", "the inverse functions are `asin`, `acos`, `atan` and `atan2`"},
    {" average ", "the library has `mean`: import Statistics"},
    {" true false ", "the truth values are `True` and `False`"},
    {" null' nil none None undefined' ", "an empty list is `[]`, a missing value `Nothing`"},
    {" != <> ~= !== ", "two values differ: `x /= y`"},
    {" += -= *= /= ", "values do not change: a new value has a new name"},
    {" ? ", "a choice is `if c then x else y`"},
    {" lambda ", "a function without a name is written \\x -> …"},
    {" === ", "two values are equal: `x == y`"},
    {" & ", "two conditions are joined by `&&`; bits by `.&.`"},
    {" % ", "the remainder of whole numbers is `mod`: n `mod` 2"},
    {" =< ", "less or equal is `<=`"},
    {" => ", "greater or equal is `>=`"},
    {" ! !. ", "a condition is negated by `not`"},
    {" println console echo puts display ",
     "`putStrLn` writes a line and `print` a value, in an action; `cotan run` prints the value of any other `main`"},
    {" pow ", "a power is `x ^ n` for a whole n, `x ** y` for any y"},
    {" fabs ", "the absolute value is `abs`"},
    {" str toString to_string ", "`show` makes a String of a value"},
    {" float double toFloat ", "`fromIntegral` makes a Double of an Int"},
    {" int toInt' ", "`round`, `floor`, `ceiling` and `truncate` make an Int of a Double"},
    {" range ", "the numbers from 0 to n - 1 are `[0 .. n - 1]`, or the array `iota n`"},
    {" append' push push_back ", "`xs ++ [x]` is a list with one element more, `snoc a x` such an array"},
    {" map2 ", "`zipWith f xs ys` applies a function of two arguments to two lists or arrays"},
    {" map3 ", "`zipWith3 f xs ys zs` applies a function of three arguments to three lists or arrays"},
    {" reduce' fold ", "`foldl f z xs` goes through a list or an array from the left"},
    {" self this ", "there are no objects: what a function works on is one of its parameters"},
    {" elif elseif elsif ", "`else if`, as two words"},
    {" for while foreach ", "there are no loops: `map`, `foldl` and recursion do their work"},
    /* Names of NumPy, SciPy, JAX, Stan and Julia. */
    {" eigh eigvalsh eigsh eigen ", "eigenvalues of a symmetric matrix are by `eigenSymmetric`: import LinearAlgebra"},
    {" eig eigvals ", "eigenvalues of any square matrix are by `eigenvalues`: import Decompositions"},
    {" svdvals ", "singular values are by `singularValues`: import Decompositions"},
    {" det ", "the determinant of a matrix is `determinant`: import LinearAlgebra"},
    {" slogdet logdet logabsdet log_determinant ",
     "sign and logarithm of a determinant are by `logDeterminant`, the logarithm for a positive definite matrix by "
     "`logDeterminantPositive`: import LinearAlgebra"},
    {" inv ",
     "the inverse of a matrix is `inverse`; for a linear system, `solve` is more accurate: import LinearAlgebra"},
    {" lstsq polyfit ", "linear least squares are by `leastSquares`: import LinearAlgebra"},
    {" expm ", "the exponential of a matrix is `matrixExp`: import LinearAlgebra"},
    {" kron ", "the product of Kronecker is `kronecker`: import LinearAlgebra"},
    {" eye ", "the unit matrix is `identity n`: import LinearAlgebra"},
    {" diag ",
     "the diagonal of a matrix is `diagonal`, the matrix of a diagonal `diagonalMatrix`: import LinearAlgebra"},
    {" tril triu ", "the parts of a matrix are `lowerTriangle` and `upperTriangle`: import LinearAlgebra"},
    {" solve_triangular ", "triangular systems are by `solveLower` and `solveUpper`: import LinearAlgebra"},
    {" cho_factor chol ",
     "the Cholesky factor is `cholesky`, `choleskySolve` solves a system by it: import LinearAlgebra"},
    {" odeint solve_ivp solveIvp diffeqsolve ode45 ode_rk45 ode_bdf ode23s ",
     "initial value problems are by `ode`, stiff ones by `stiffOde`: import Ode"},
    {" quad quadgk integrate_1d ", "integrals are by `integrate f (low, high)`: import Quadrature"},
    {" trapz trapezium ", "the trapezoidal rule for points is `trapezoid`: import Arrays"},
    {" interp interp1d ",
     "linear interpolation is `interpolate`: import Arrays; splines are in the module Interpolate"},
    {" pchip spline ", "splines are `cubicSpline` and `monotoneCubic`: import Interpolate"},
    {" rfft ", "the transform of real numbers is `realFft`: import FFT"},
    {" irfft ", "the inverse transform to real numbers is `realIfft`: import FFT"},
    {" fftfreq rfftfreq ", "the frequencies of a transform are `frequencies`: import FFT"},
    {" brentq brent find_zero ", "the root of a function in an interval is `root f (low, high)`: import Optimise"},
    {" fsolve nlsolve ", "systems of equations are solved by `newtonSystem`: import Optimise"},
    {" curve_fit least_squares ", "nonlinear least squares are by `nonlinearLeastSquares`: import Optimise"},
    {" gammainc ", "the regularised incomplete gamma function is `gammaP`: import IncompleteFunctions"},
    {" gammaincc ", "the upper regularised incomplete gamma function is `gammaQ`: import IncompleteFunctions"},
    {" betainc ", "the regularised incomplete beta function is `betaI a b x`: import IncompleteFunctions"},
    {" gammaln loggamma ", "the logarithm of the gamma function is `lgamma`"},
    {" betaln ", "the logarithm of the beta function is `lbeta`: import Statistics"},
    {" psi ", "the derivative of `lgamma` is `digamma`"},
    {" erfinv ", "the inverse of `erf` is `erfInverse`: import SpecialFunctions"},
    {" jv yv iv kv ", "Bessel functions are `besselJ`, `besselY`, `besselI` and `besselK`: import Bessel"},
    {" ndtr Phi ", "the standard normal distribution function is `normalCdf 0 1`: import Statistics"},
    {" ndtri inv_Phi probit ", "the standard normal quantile is `normalQuantile`: import SpecialFunctions"},
    {" expit inv_logit logistic ", "the logistic function is `sigmoid`: import Statistics"},
    {" log_softmax ", "the logarithm of `softmax` is `logSoftmax`: import Statistics"},
    {" relu ", "`max 0 x` is the positive part of a number"},
    {" cumsum ", "sums of all elements up to each are `cumulativeSum`: import Arrays"},
    {" cumprod ", "products of all elements up to each are `cumulativeProduct`: import Arrays"},
    {" bincount ", "how often each Int occurs is `counts`: import Arrays"},
    {" searchsorted ", "the place of a number in a sorted array is `searchSorted`: import Arrays"},
    {" arange ", "numbers in steps are `range from to step`: import Arrays; the Ints from 0 on are `iota n`"},
    {" zeros ones full zeros_like ones_like fill ",
     "`replicate n x` is an array of n times x; `map (const 0) a` has the length of another"},
    {" ravel ", "an array of the elements of all rows is `concat`"},
    {" concatenate hstack vstack ", "arrays are joined by `append` and `concat`"},
    {" nansum nanmean ", "`filter (not . isNaN)` leaves NaN out"},
    {" std ", "the standard deviation is `standardDeviation`: import Statistics"},
    {" var ", "the variance is `variance` or, unbiased, `sampleVariance`: import Statistics"},
    {" randn ", "n standard normal numbers are `normals n generator`: import Random"},
    {" rand default_rng PRNGKey ", "random numbers come from a `generator seed`, as `uniform` does: import Random"},
    {" jacfwd jacrev ", "the Jacobian is `jacobian`"},
    {" vmap pmap ",
     "`map f xs` applies a function to every element of an array, and needs no other form of the function"},
    {" value_and_grad withgradient ", "value and gradient are `valueAndGrad f x`"},
    {" custom_vjp ", "a derivative of one's own is given by `withVjp`"},
    {" custom_jvp ", "a derivative of one's own is given by `withJvp`"},
    {" gradient ", "the gradient of a function at a point is `grad f x`"},
    {" ravel_pytree ", "the reals of any value are `toVector x`, and `fromVector x v` is back"},
};

/* What Stan and SciPy put behind the name of a distribution. */
static const Absent endings[] = {
    {"_lpdf", "logarithms of densities are named as `normalLogDensity`, with the point last: import Statistics"},
    {"_lpmf", "logarithms of masses are named as `poissonLogMass`, with the count last: import Statistics"},
    {"_lcdf",
     "logarithms of distribution functions are named as `gammaLogCdf`, with the point last: import Distributions"},
    {"_rng",
     "draws are by quantiles, as `drawBy (gammaQuantile a b)`, or named as `dirichletDraw`: import Distributions"},
    {"LogPdf", "logarithms of densities are named as `normalLogDensity`, with the point last: import Statistics"},
    {"Pdf", "densities are given by their logarithm, as `normalLogDensity`, with the point last: import Statistics"},
    {"Pmf", "masses are given by their logarithm, as `poissonLogMass`, with the count last: import Statistics"},
};

static const char *ending(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t end = strlen(endings[i].names);
        if (length > end && strcmp(name + length - end, endings[i].names) == 0) return endings[i].help;
    }
    return NULL;
}

static const Absent types_[] = {
    {" Word Word8 Word16 Word32 Word64 ", "the library has it: import Data.Word"},
    {" Int8 Int16 Int32 Int64 ", "the library has it: import Data.Int"},
    {" Natural ", "the library has it: import Numeric.Natural"},
    {" Text ", "the library has it: import Data.Text (Text)"},
    {" ByteString ", "the library has it: import Data.ByteString.Char8 (ByteString)"},
    {" IORef ", "the library has it: import Data.IORef"},
    {" ST ", "the library has it: import Control.Monad.ST"},
    {" STRef ", "the library has it: import Data.STRef"},
    {" STArray STUArray ", "the library has it: import Data.Array.ST"},
    {" MVar ", "the library has it: import Control.Concurrent.MVar"},
    {" Map Set ", "the library has it: import Data.Map (Map), import Data.Set (Set)"},
    {" UArray ", "the library has it: import Data.Array.Unboxed"},
    {" Seq ", "the library has it: import Data.Sequence (Seq)"},
    {" Vector Matrix ", "arrays are `Array a`, matrices `Array (Array a)`"},
    {" float double Real' Number ", "real numbers are Double (or Float)"},
    {" int integer ", "whole numbers are Int or Integer"},
    {" bool boolean Boolean ", "truth values are Bool"},
    {" string str Str ", "texts are String"},
    {" char ", "characters are Char"},
    {" List ", "a list of elements of a type a is `[a]`"},
};

static const Absent constructors[] = {
    {" Some ", "a value that may be missing is `Just x`"},
    {" None Null NULL Nil NaN Undefined ", "a missing value is `Nothing`, an empty list `[]`"},
    {" Ok Success ", "`Right x` is a result, `Left e` an error"},
    {" Err Error Failure ", "`Left e` is an error, `Right x` a result"},
    {" TRUE FALSE ", "the truth values are `True` and `False`"},
};

static const char *find(const Absent *rows, size_t count, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < count; i++)
        for (const char *at = rows[i].names; (at = strstr(at, name)) != NULL; at++)
            if (at[-1] == ' ' && at[length] == ' ') return rows[i].help;
    return NULL;
}

const char *ct_types_absent(CtSpace space, CtSym name) {
    switch (space) {
    case SPACE_VALUE: {
        const char *help = find(values, sizeof values / sizeof *values, name->text);
        return help ? help : ending(name->text);
    }
    case SPACE_TYPE: return find(types_, sizeof types_ / sizeof *types_, name->text);
    case SPACE_CLASS: return strcmp(name->text, "Ix") == 0 ? "the library has it: import Data.Ix" : NULL;
    case SPACE_CON: return find(constructors, sizeof constructors / sizeof *constructors, name->text);
    case SPACE_FIELD:
    case SPACE_COUNT: return NULL;
    }
    return NULL;
}
