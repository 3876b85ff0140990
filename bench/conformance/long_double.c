/* The 80-bit long double of x86-64: its limits, text in both directions, and the mathematics, to the last bit. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static const long double values[] = {
	0, -0.0L, 1, -1.5L, 2.5L, 0.1L, 123456.789L, 1e-5L, 9.999995L, 1e15L, 123456789012345678.9L, LDBL_MIN, LDBL_EPSILON,
	LDBL_TRUE_MIN, 1e50L, -1e-50L, 0.5L, 1 / 3.0L,
};
static const char *formats[] = {
	"%Lf", "%.0Lf", "%.20Lf", "%Le", "%.25Le", "%.0Le", "%Lg", "%.21Lg", "%#Lg", "%La", "%.0La", "%.10La", "%LA",
	"%+030.3Lf", "%-30.3Le|", "%.3LG",
};
static const char *numbers[] = {
	"0.1", "3.14159265358979323846264338327950288", "1e4000", "1e-4940", "1e5000", "1e-5000", "-0x1.8p-16400",
	"0x1.fffffffffffffffep+3", "inf", "-nan", "18446744073709551617", "0x1.00000000000000018p0", "  12x",
};

static void exact(const char *name, long double x) { printf("%s %La\n", name, x); }

int main(void)
{
	printf("%d %d %d %d %d\n", LDBL_MANT_DIG, LDBL_DIG, LDBL_MAX_EXP, LDBL_MIN_EXP, DECIMAL_DIG);
	printf("%d %d %d\n", LDBL_MAX_10_EXP, LDBL_MIN_10_EXP, (int)sizeof(long double));
	printf("%La %La %La %La\n", LDBL_MAX, LDBL_MIN, LDBL_EPSILON, LDBL_TRUE_MIN);
	for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
		for (unsigned k = 0; k < sizeof formats / sizeof *formats; k++) {
			printf(formats[k], values[i]);
			putchar('\n');
		}
	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		char *end;
		long double x = strtold(numbers[i], &end), y = -7;
		printf("%s: %La %s\n", numbers[i], x, end);
		int n = sscanf(numbers[i], "%Lf", &y);
		printf("%d %La\n", n, y);
	}
	wchar_t wide[] = L"2.5e10";
	exact("wcstold", wcstold(wide, 0));
	int e;
	long double part;
	for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
		long double x = values[i];
		exact("floor", floorl(x)), exact("ceil", ceill(x)), exact("round", roundl(x)), exact("rint", rintl(x));
		exact("trunc", truncl(x)), exact("frexp", frexpl(x, &e)), printf("%d\n", e), exact("modf", modfl(x, &part));
		exact("whole", part), exact("ldexp", ldexpl(x, 7)), exact("logb", logbl(x)), exact("sqrt", sqrtl(fabsl(x)));
		exact("next", nextafterl(x, 2)), exact("fmod", fmodl(x, 0.3L)), exact("remainder", remainderl(x, 0.3L));
		exact("fma", fmal(x, x, -1)), exact("fdim", fdiml(x, 1)), exact("max", fmaxl(x, 0.25L));
		printf("%d %d %d %d\n", fpclassify(x), signbit(x) != 0, ilogbl(x), (int)lrintl(fmodl(x, 1000)));
		exact("cbrt", cbrtl(x)), exact("hypot", hypotl(x, 3));
	}
	for (long double x = 0.25L; x < 8; x += 1.125L) {
		exact("exp", expl(x)), exact("exp2", exp2l(x)), exact("expm1", expm1l(x)), exact("log", logl(x));
		exact("log2", log2l(x)), exact("log10", log10l(x)), exact("log1p", log1pl(x)), exact("sin", sinl(x));
		exact("cos", cosl(x)), exact("tan", tanl(x)), exact("asin", asinl(x / 8)), exact("acos", acosl(x / 8));
		exact("atan", atanl(x)), exact("atan2", atan2l(x, -2)), exact("sinh", sinhl(x)), exact("tanh", tanhl(x));
		exact("acosh", acoshl(x + 1)), exact("asinh", asinhl(x)), exact("pow", powl(x, 1.5L)), exact("erf", erfl(x));
		exact("gamma", tgammal(x)), exact("lgamma", lgammal(x));
	}
	long double complex z = (1 + 2.5L * I) * (3 - 0.1L * I) / (0.3L + I);
	exact("real", creall(z)), exact("imaginary", cimagl(z)), exact("abs", cabsl(z));
	exact("csqrt", creall(csqrtl(z)));
	z = z * (INFINITY * I);
	exact("real", creall(z)), exact("imaginary", cimagl(z));
	return 0;
}
