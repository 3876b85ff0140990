/* Products and quotients of complex numbers, which compilers leave to their own run-time library. Infinities and
 * NaNs are those of C's Annex G: a result that is NaN in both parts is computed again if an operand is infinite. */
#include <math.h>

#define PAIR(real, imaginary) __builtin_complex((real), (imaginary))

#define UNIT(x, COPYSIGN) COPYSIGN(isinf(x) ? 1 : 0, x)
#define ZERO(x, COPYSIGN) (isnan(x) ? COPYSIGN(0, x) : (x))

#define MULTIPLY(NAME, T, COPYSIGN) \
T _Complex NAME(T a, T b, T c, T d) \
{ \
	T ac = a * c, bd = b * d, ad = a * d, bc = b * c; \
	T x = ac - bd, y = ad + bc; \
	if (!isnan(x) || !isnan(y)) return PAIR(x, y); \
	int again = 0; \
	if (isinf(a) || isinf(b)) { \
		a = UNIT(a, COPYSIGN), b = UNIT(b, COPYSIGN); \
		c = ZERO(c, COPYSIGN), d = ZERO(d, COPYSIGN); \
		again = 1; \
	} \
	if (isinf(c) || isinf(d)) { \
		c = UNIT(c, COPYSIGN), d = UNIT(d, COPYSIGN); \
		a = ZERO(a, COPYSIGN), b = ZERO(b, COPYSIGN); \
		again = 1; \
	} \
	if (!again && (isinf(ac) || isinf(bd) || isinf(ad) || isinf(bc))) { \
		a = ZERO(a, COPYSIGN), b = ZERO(b, COPYSIGN); \
		c = ZERO(c, COPYSIGN), d = ZERO(d, COPYSIGN); \
		again = 1; \
	} \
	if (!again) return PAIR(x, y); \
	return PAIR((T)INFINITY * (a * c - b * d), (T)INFINITY * (a * d + b * c)); \
}

#define DIVIDE(NAME, T, COPYSIGN, LOGB, SCALBN, MAXIMUM, ABSOLUTE) \
T _Complex NAME(T a, T b, T c, T d) \
{ \
	int scale = 0; \
	T size = LOGB(MAXIMUM(ABSOLUTE(c), ABSOLUTE(d))); \
	if (isfinite(size)) { \
		scale = (int)size; \
		c = SCALBN(c, -scale), d = SCALBN(d, -scale); \
	} \
	T whole = c * c + d * d; \
	T x = SCALBN((a * c + b * d) / whole, -scale), y = SCALBN((b * c - a * d) / whole, -scale); \
	if (!isnan(x) || !isnan(y)) return PAIR(x, y); \
	if (whole == 0 && (!isnan(a) || !isnan(b))) \
		return PAIR(COPYSIGN((T)INFINITY, c) * a, COPYSIGN((T)INFINITY, c) * b); \
	if ((isinf(a) || isinf(b)) && isfinite(c) && isfinite(d)) { \
		a = UNIT(a, COPYSIGN), b = UNIT(b, COPYSIGN); \
		return PAIR((T)INFINITY * (a * c + b * d), (T)INFINITY * (b * c - a * d)); \
	} \
	if (isinf(size) && size > 0 && isfinite(a) && isfinite(b)) { \
		c = UNIT(c, COPYSIGN), d = UNIT(d, COPYSIGN); \
		return PAIR(0 * (a * c + b * d), 0 * (b * c - a * d)); \
	} \
	return PAIR(x, y); \
}

MULTIPLY(__muldc3, double, copysign)
MULTIPLY(__mulsc3, float, copysignf)
DIVIDE(__divdc3, double, copysign, logb, scalbn, fmax, fabs)
DIVIDE(__divsc3, float, copysignf, logbf, scalbnf, fmaxf, fabsf)
MULTIPLY(__mulxc3, long double, copysignl)
DIVIDE(__divxc3, long double, copysignl, logbl, scalbnl, fmaxl, fabsl)
