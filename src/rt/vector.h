/* Functions of libm. Of many, glibc's libmvec has vector versions, accurate to 4 ulp: their declarations let gcc
 * vectorise loops that call them; simd.h calls them by name. With CT_MATH_EXACT libm itself is called, and nothing
 * else: results are then libm's, to the last bit. */
#ifndef CT_RT_VECTOR_H
#define CT_RT_VECTOR_H

/* gcc 11 and 12 contract x·y ± z where pairs of lanes differ in the sign, whatever -ffp-contract says: then the
 * processor may have no instruction for it. Complex products are written so. */
#if defined(CT_MATH_EXACT) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#pragma GCC target("no-fma,no-fma4,no-avx512f")
#endif

#include <math.h>

/* Version of libmvec: none, the original functions, all functions. */
#if defined(CT_MATH_EXACT) || !defined(__GNUC__) || !defined(__x86_64__) || !defined(__GLIBC__)
#define CT_LIBMVEC 0
#elif __GLIBC_PREREQ(2, 35)
#define CT_LIBMVEC 2
#else
#define CT_LIBMVEC 1
#endif

/* gcc is told what libmvec has, so that it may use it in loops; simd.h calls it by its names. */
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

/* Compilers compute sin (atan x) as a quotient, x to the power of 2.0 as a product, and what has a constant argument
 * themselves, and the last bit may be another than libm's. So libm's functions are called by names of which compilers
 * know nothing: gcc by another name for the same symbol; clang, which goes by the symbol, through a variable. */
#if defined(CT_MATH_EXACT) && defined(__GNUC__)
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#define CT_LIBM(attributes, name, parameters)                                                                          \
    static double(*const volatile ct_libm_##name) parameters __attribute__((unused)) = name;
#else
#define CT_SYMBOL(prefix, name)  CT_SYMBOL_(prefix, name)
#define CT_SYMBOL_(prefix, name) #prefix #name
#define CT_LIBM(attributes, name, parameters)                                                                          \
    attributes double ct_libm_##name parameters __asm__(CT_SYMBOL(__USER_LABEL_PREFIX__, name));
#endif
#define CT_LIBM_1(name) CT_LIBM(__attribute__((const)), name, (double))
#define CT_LIBM_2(name) CT_LIBM(__attribute__((const)), name, (double, double))
CT_LIBM_1(cbrt)
CT_LIBM_2(hypot)
CT_LIBM_2(pow)
CT_LIBM_1(exp)
CT_LIBM_1(expm1)
CT_LIBM_1(log)
CT_LIBM_1(log1p)
CT_LIBM_1(log2)
CT_LIBM_1(log10)
CT_LIBM_1(sin)
CT_LIBM_1(cos)
CT_LIBM_1(tan)
CT_LIBM_1(asin)
CT_LIBM_1(acos)
CT_LIBM_1(atan)
CT_LIBM_2(atan2)
CT_LIBM_1(sinh)
CT_LIBM_1(cosh)
CT_LIBM_1(tanh)
CT_LIBM_1(asinh)
CT_LIBM_1(acosh)
CT_LIBM_1(atanh)
CT_LIBM_1(erf)
CT_LIBM_1(erfc)
CT_LIBM(, lgamma_r, (double, int *))
#define cbrt(x)           ct_libm_cbrt(x)
#define hypot(x, y)       ct_libm_hypot(x, y)
#define pow(x, y)         ct_libm_pow(x, y)
#define exp(x)            ct_libm_exp(x)
#define expm1(x)          ct_libm_expm1(x)
#define log(x)            ct_libm_log(x)
#define log1p(x)          ct_libm_log1p(x)
#define log2(x)           ct_libm_log2(x)
#define log10(x)          ct_libm_log10(x)
#define sin(x)            ct_libm_sin(x)
#define cos(x)            ct_libm_cos(x)
#define tan(x)            ct_libm_tan(x)
#define asin(x)           ct_libm_asin(x)
#define acos(x)           ct_libm_acos(x)
#define atan(x)           ct_libm_atan(x)
#define atan2(x, y)       ct_libm_atan2(x, y)
#define sinh(x)           ct_libm_sinh(x)
#define cosh(x)           ct_libm_cosh(x)
#define tanh(x)           ct_libm_tanh(x)
#define asinh(x)          ct_libm_asinh(x)
#define acosh(x)          ct_libm_acosh(x)
#define atanh(x)          ct_libm_atanh(x)
#define erf(x)            ct_libm_erf(x)
#define erfc(x)           ct_libm_erfc(x)
#define lgamma_r(x, sign) ct_libm_lgamma_r(x, sign)
#endif

#endif
