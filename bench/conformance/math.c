/* math.h and complex.h: results in hexadecimal, so that every bit counts. */
#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>

#define ONE(NAME) \
	for (int i = 0; i < count; i++) printf(#NAME " %a %a\n", values[i], NAME(values[i])); \
	for (int i = 0; i < count; i++) printf(#NAME "f %a\n", (double)NAME##f((float)values[i]))
#define TWO(NAME) \
	for (int i = 0; i < count; i++) printf(#NAME " %a %a\n", values[i], NAME(values[i], values[(i + 3) % count]))

static const double values[] = { 0.0, -0.0, 0.5, 1.0, -1.25, 2.75, 10.0, 1e-10, 1e10, -3.5 };
static const int count = sizeof values / sizeof *values;

int main(void)
{
	ONE(floor);
	ONE(ceil);
	ONE(trunc);
	ONE(round);
	ONE(rint);
	ONE(fabs);
	ONE(sqrt);
	ONE(cbrt);
	ONE(exp);
	ONE(exp2);
	ONE(expm1);
	ONE(log);
	ONE(log2);
	ONE(log10);
	ONE(log1p);
	ONE(sin);
	ONE(cos);
	ONE(tan);
	ONE(atan);
	ONE(asin);
	ONE(sinh);
	ONE(tanh);
	ONE(tgamma);
	ONE(erf);
	TWO(pow);
	TWO(atan2);
	TWO(fmod);
	TWO(hypot);
	TWO(fmax);
	TWO(fmin);
	TWO(copysign);
	TWO(nextafter);
	TWO(remainder);
	TWO(fdim);
	for (int i = 0; i < count; i++) {
		int exponent;
		double whole;
		printf("%a", frexp(values[i], &exponent));
		printf(" %d %a", exponent, modf(values[i], &whole));
		printf(" %a %a %ld %d\n", whole, ldexp(values[i], 3), lrint(values[i]), ilogb(values[i] + 1.5));
		printf("%a %a\n", fma(values[i], 3.0, 0.1), (double)fmaf((float)values[i], 3.0f, 0.1f));
		printf("%d %d %d %d\n", isnan(values[i]), isinf(values[i]), signbit(values[i]), fpclassify(values[i]));
	}
	double complex z = CMPLX(1.5, -2.25), w = CMPLX(0.5, 3);
	z = z * w / CMPLX(2, 1);
	printf("%a %a %a %a\n", creal(z), cimag(z), cabs(z), carg(z));
	z = cexp(w);
	printf("%a %a\n", creal(z), cimag(z));
	return 0;
}
