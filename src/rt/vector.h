/* Functions of libm of which glibc's libmvec has vector versions, accurate to 4 ulp. Their declarations let gcc
 * vectorise loops that call them; simd.h calls them by name. With CT_MATH_EXACT they are not used: results are then
 * libm's, to the last bit. */
#ifndef CT_RT_VECTOR_H
#define CT_RT_VECTOR_H

#include <math.h>

/* Version of libmvec: none, the original functions, all functions. */
#if defined(CT_MATH_EXACT) || !defined(__GNUC__) || !defined(__x86_64__) || !defined(__GLIBC__)
#define CT_LIBMVEC 0
#elif __GLIBC_PREREQ(2, 35)
#define CT_LIBMVEC 2
#else
#define CT_LIBMVEC 1
#endif

#if CT_LIBMVEC > 0 && !defined(__clang__)
#define CT_VARIANTS(...) __attribute__((const, simd("notinbranch"))) double __VA_ARGS__
CT_VARIANTS(exp(double));
CT_VARIANTS(log(double));
CT_VARIANTS(sin(double));
CT_VARIANTS(cos(double));
CT_VARIANTS(pow(double, double));
#if CT_LIBMVEC > 1
CT_VARIANTS(expm1(double));
CT_VARIANTS(log1p(double));
CT_VARIANTS(log2(double));
CT_VARIANTS(log10(double));
CT_VARIANTS(tan(double));
CT_VARIANTS(asin(double));
CT_VARIANTS(acos(double));
CT_VARIANTS(atan(double));
CT_VARIANTS(atan2(double, double));
CT_VARIANTS(sinh(double));
CT_VARIANTS(cosh(double));
CT_VARIANTS(tanh(double));
CT_VARIANTS(asinh(double));
CT_VARIANTS(acosh(double));
CT_VARIANTS(atanh(double));
CT_VARIANTS(hypot(double, double));
CT_VARIANTS(cbrt(double));
CT_VARIANTS(erf(double));
CT_VARIANTS(erfc(double));
#endif
#undef CT_VARIANTS
#endif

#endif
