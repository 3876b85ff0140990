/* Code that watches rounding modes and exceptions computes as any other; thread-local variables are variables.
 *
 * EXPECT paths: exit 2 error 0
 * EXPECT output: "4.25 -2 0.5 1 0 3 7\n"
 * EXPECT output: "4.25 -2 0.5 0 0 3 7\n"
 */
#include <klee/klee.h>
#include <stdio.h>

#pragma STDC FENV_ACCESS ON

static __thread int mine = 6;

static double sum(double a, float b) { return a * 2 + b; }
static int less(double a, double b) { return a < b; }
static float narrow(double a) { return (float)a; }
static double whole(long n) { return (double)n; }
static long back(double a) { return (long)a; }

int main(void)
{
	int x;
	klee_make_symbolic(&x, sizeof x, "x");
	mine++;
	int positive = 0;
	if (less(0, whole(x))) positive = 1;
	printf("%g %g %g %d %d %ld %d\n", sum(1.5, 1.25f), whole(-2), narrow(0.5), positive, less(2, 1), back(3.75), mine);
	return 0;
}
