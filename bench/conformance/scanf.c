/* Formats of scanf: results, counts and what is left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void integers(void)
{
	int a = -1, b = -1, c = -1, n = -1;
	long l = -1;
	unsigned u = 0;
	short h = 0;
	signed char hh = 0;
	printf("%d", sscanf("1 -2 +3", "%d%d%d", &a, &b, &c));
	printf(" %d %d %d\n", a, b, c);
	printf("%d", sscanf("0x1f 017 99", "%i %i %i", &a, &b, &c));
	printf(" %d %d %d\n", a, b, c);
	printf("%d", sscanf("ff 77", "%x %o", &u, (unsigned *)&a));
	printf(" %u %d\n", u, a);
	printf("%d", sscanf("123456789012", "%ld", &l));
	printf(" %ld\n", l);
	printf("%d", sscanf("70000 300", "%hd %hhd", &h, &hh));
	printf(" %d %d\n", h, hh);
	printf("%d", sscanf("12345", "%2d%1d%n", &a, &b, &n));
	printf(" %d %d %d\n", a, b, n);
	printf("%d\n", sscanf("abc", "%d", &a));
	printf("%d\n", sscanf("", "%d", &a));
	printf("%d\n", sscanf("   ", "%d", &a));
	printf("%d", sscanf("5,6", "%d,%d", &a, &b));
	printf(" %d %d\n", a, b);
	printf("%d", sscanf("5;6", "%d,%d", &a, &b));
	printf(" %d\n", a);
	printf("%d", sscanf("1 2 3", "%*d %d", &a));
	printf(" %d\n", a);
	printf("%d", sscanf("10%20", "%d%%%d", &a, &b));
	printf(" %d %d\n", a, b);
	printf("%d", sscanf("7 8", "%2$d %1$d", &a, &b));
	printf(" %d %d\n", a, b);
}

static void texts(void)
{
	char s[32] = "", t[32] = "", c = '?', pair[3] = "";
	char *made = NULL;
	printf("%d", sscanf("  two words", "%s %s", s, t));
	printf(" [%s] [%s]\n", s, t);
	printf("%d", sscanf("abcdef", "%3s%c", s, &c));
	printf(" [%s] %c\n", s, c);
	printf("%d", sscanf("xyz", "%2c", pair));
	printf(" [%s]\n", pair);
	printf("%d", sscanf("abc123", "%[a-z]%[0-9]", s, t));
	printf(" [%s] [%s]\n", s, t);
	printf("%d", sscanf("key=value;", "%[^=]=%[^;]", s, t));
	printf(" [%s] [%s]\n", s, t);
	printf("%d", sscanf("]x-y", "%[]x]%[-y]", s, t));
	printf(" [%s] [%s]\n", s, t);
	printf("%d", sscanf("allocate me", "%ms", &made));
	printf(" [%s]\n", made ? made : "");
	free(made);
	printf("%d\n", sscanf("12", "%[a-z]", s));
}

static void numbers(void)
{
	double d = 0, e = 0;
	float f = 0;
	printf("%d", sscanf("3.25 -1e3 0x1.8p1", "%lf %lf %f", &d, &e, &f));
	printf(" %g %g %g\n", d, e, (double)f);
	printf("%d", sscanf("inf nan", "%lf %f", &d, &f));
	printf(" %g %d\n", d, f != f);
	printf("%d", sscanf(".5 5. 1e", "%lf %lf", &d, &e));
	printf(" %g %g\n", d, e);
	printf("%d", sscanf("1e+", "%lf", &d));
	printf("\n");
	static const char *const texts[] = {
		"0", "1", "-1", "0.1", "1e308", "1e309", "4.9e-324", "1e-400", "123456789012345678901234567890", "1.5abc", "abc",
		"  7", "+3", "0x10", "0x1p-3", "infinity", "-inf", "nan(12)", "1e5", "1e-5", "2.2250738585072011e-308",
		"9007199254740993", "0.30000000000000004", "1.7976931348623157e308",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char *end;
		double value = strtod(texts[i], &end);
		printf("%a %td\n", value, end - texts[i]);
		printf("%a\n", (double)strtof(texts[i], &end));
	}
	printf("%g %g\n", atof("12.5e2x"), atof("x"));
}

int main(void)
{
	integers();
	texts();
	numbers();
	return 0;
}
