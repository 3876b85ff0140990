/* Formats of printf: every line is one call. */
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static void integers(void)
{
	printf("%d %i %u\n", 0, -1, 1u);
	printf("[%5d] [%-5d] [%05d] [%+d] [% d]\n", 42, 42, 42, 42, 42);
	printf("[%.3d] [%8.3d] [%-8.3d] [%08.3d] [%.0d]\n", 7, 7, 7, 7, 0);
	printf("%x %X %#x %#X %o %#o\n", 255, 255, 255, 255, 8, 8);
	printf("%hhd %hd %ld %lld %jd %zd %td\n", 300, 70000, LONG_MIN, LLONG_MAX, (intmax_t)-5, (size_t)9, (ptrdiff_t)-9);
	printf("%hhu %hu %lu %llu %ju %zu\n", 300, 70000, ULONG_MAX, ULLONG_MAX, (uintmax_t)5, (size_t)-1);
	printf("%d %d %u\n", INT_MIN, INT_MAX, UINT_MAX);
	printf("[%*d] [%-*d] [%.*d]\n", 6, 12, 6, 12, 4, 12);
	printf("[%*d]\n", -6, 12);
	printf("%2$s %1$d %2$s\n", 1, "two");
	printf("%%|%c|%3c|%-3c|\n", 'a', 'b', 'c');
	printf("[%#o] [%#x] [%#.0x]\n", 0, 0, 0);
	printf("%'d\n", 1234567);
	printf("%llx %llo\n", 0x123456789abcdefull, 01234567012345670123ull);
}

static void strings(void)
{
	char text[] = { 'a', 'b', 'c' };
	int count = 0;
	printf("[%s] [%10s] [%-10s] [%.2s] [%10.2s] [%.*s]\n", "hello", "hello", "hello", "hello", "hello", 3, "hello");
	printf("%.3s|%.0s|\n", text, text);
	printf("%s %.4s\n", (char *)0 ? "" : "(null)", "abcdef");
	printf("four%n", &count);
	printf(" %d\n", count);
	printf("%ls %lc\n", L"wide", L'w');
	printf("%5.1s|%-5.1s|\n", "xyz", "xyz");
	printf("%p %p\n", (void *)0, (void *)0x1234);
}

static void numbers(void)
{
	static const double values[] = {
		0.0, -0.0, 1.0, -1.5, 0.1, 1.0 / 3, 123456789.0, 1e10, 1e-5, 1.7976931348623157e308, 5e-324, 2.5, 3.5,
		999999.5, 0.0001, 0.00001, 1e15, 1e16, 123456.789,
	};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		printf("%f %e %g %a\n", values[i], values[i], values[i], values[i]);
		printf("[%.0f] [%.3f] [%10.2f] [%-12.4e] [%+.2g] [%#g] [%012.3f]\n", values[i], values[i], values[i],
			values[i], values[i], values[i], values[i]);
		printf("%.17g %.10g %.1e %G %E\n", values[i], values[i], values[i], values[i], values[i]);
	}
	printf("%f %e %g %F %5.1f|%-6f|%06f\n", INFINITY, -INFINITY, NAN, INFINITY, INFINITY, INFINITY, -INFINITY);
	printf("%.50f\n", 0.1);
	printf("%.0e %.0g %#.0f %#.0e\n", 15.0, 15.0, 15.0, 15.0);
	printf("%a %.2a %.0a %A\n", 1.9999999, 1.9999999, 1.9999999, 255.5);
	printf("%Lf %Lg %.3Le\n", 0.5L, 1024.0L, 3.0L);
	printf("%.1f %.1f %.1f %.1f %.2f\n", 0.25, 0.35, 0.45, 0.05, 1.005);
	printf("%.0f %.0f %.0f %.0f\n", 0.5, 1.5, 2.5, 3.5);
}

static void buffers(void)
{
	char buffer[16];
	int n = snprintf(buffer, sizeof buffer, "%s-%d", "a long enough text", 12345);
	printf("%d [%s]\n", n, buffer);
	n = snprintf(buffer, 0, "%d", 123);
	printf("%d\n", n);
	n = snprintf(NULL, 0, "%s", "measure");
	printf("%d\n", n);
	n = sprintf(buffer, "%04x", 0xbeef);
	printf("%d [%s]\n", n, buffer);
	n = snprintf(buffer, 4, "abcdef");
	printf("%d [%s]\n", n, buffer);
	wchar_t wide[16];
	n = swprintf(wide, 16, L"%d-%ls", 5, L"wide");
	printf("%d %ls\n", n, wide);
	printf("%d\n", fprintf(stdout, "%s\n", "to stdout"));
}

int main(void)
{
	integers();
	strings();
	numbers();
	buffers();
	return 0;
}
