/* stdlib.h, search.h, getopt, environment. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_value(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static int by_argument(const void *a, const void *b, void *factor)
{
	return *(int *)factor * by_value(a, b);
}

static void numbers(void)
{
	static const char *const texts[] = {
		"0", "42", "-42", "+7", "  12abc", "0x1F", "017", "z", "", "-", "0x", "2147483648", "9223372036854775807",
		"9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char *end;
		errno = 0;
		long l = strtol(texts[i], &end, 10);
		printf("%ld %td %d", l, end - texts[i], errno);
		errno = 0;
		unsigned long u = strtoul(texts[i], &end, 0);
		printf(" %lu %td %d", u, end - texts[i], errno);
		printf(" %ld\n", strtol(texts[i], NULL, 36));
	}
	printf("%d %ld %lld\n", atoi("-12x"), atol("99"), atoll("123456789012345"));
	printf("%" PRIdMAX " %" PRIuMAX "\n", strtoimax("-77", NULL, 8), strtoumax("77", NULL, 8));
	printf("%d %ld %lld\n", abs(-5), labs(-5L), llabs(-5LL));
	div_t d = div(-7, 2);
	ldiv_t l = ldiv(7, -2);
	lldiv_t ll = lldiv(-7, -2);
	printf("%d %d %ld %ld %lld %lld\n", d.quot, d.rem, l.quot, l.rem, ll.quot, ll.rem);
	srand(1);
	printf("%d %d %d\n", rand(), rand(), rand());
	srandom(7);
	printf("%ld %ld\n", random(), random());
	srand48(3);
	printf("%ld %g\n", lrand48(), drand48());
	unsigned seed = 5;
	printf("%d %d\n", rand_r(&seed), rand_r(&seed));
	printf("%s %ld\n", l64a(123456), a64l("6m."));
	printf("%s %s\n", ecvt(12.345, 4, &d.quot, &d.rem), gcvt(0.001234, 3, (char[32]){ 0 }));
}

static void sorting(void)
{
	int values[] = { 5, 3, 9, -1, 0, 7, 7, 2, 100, -50, 8, 6 }, key = 7, minus = -1;
	size_t count = sizeof values / sizeof *values;
	qsort(values, count, sizeof *values, by_value);
	for (size_t i = 0; i < count; i++) printf("%d ", values[i]);
	printf("\n");
	int *found = bsearch(&key, values, count, sizeof *values, by_value);
	printf("%d\n", found != NULL);
	qsort_r(values, count, sizeof *values, by_argument, &minus);
	for (size_t i = 0; i < count; i++) printf("%d ", values[i]);
	printf("\n");
	size_t n = count;
	key = 55;
	printf("%d\n", lfind(&key, values, &n, sizeof *values, by_value) != NULL);
}

static int seen;
static void visit(const void *node, VISIT when, int depth)
{
	if (when == postorder || when == leaf) printf("%d@%d ", **(int *const *)node, depth), seen++;
}

static void tables(void)
{
	static int keys[] = { 4, 2, 6, 1, 3, 5, 7 };
	void *root = NULL;
	for (int i = 0; i < 7; i++) tsearch(&keys[i], &root, by_value);
	twalk(root, visit);
	printf("%d\n", seen);
	tdelete(&keys[0], &root, by_value);
	printf("%d\n", tfind(&keys[0], &root, by_value) == NULL);
	hcreate(10);
	for (int i = 0; i < 3; i++) {
		static char names[3][4] = { "one", "two", "six" };
		hsearch((ENTRY){ names[i], &keys[i] }, ENTER);
	}
	ENTRY *entry = hsearch((ENTRY){ "two", NULL }, FIND);
	printf("%d %d\n", entry ? *(int *)entry->data : -1, hsearch((ENTRY){ "ten", NULL }, FIND) == NULL);
	hdestroy();
}

static void environment(void)
{
	printf("%d\n", setenv("CONFORM", "one", 1));
	printf("%s\n", getenv("CONFORM"));
	setenv("CONFORM", "two", 0);
	printf("%s\n", getenv("CONFORM"));
	putenv((char[]){ "CONFORM=three" });
	printf("%s\n", getenv("CONFORM"));
	unsetenv("CONFORM");
	printf("%d\n", getenv("CONFORM") == NULL);
	char a[] = "/usr/lib/x.c", b[] = "/usr/lib/x.c", c[] = "/", d[] = "name";
	printf("%s %s %s %s\n", basename(a), dirname(b), basename(c), dirname(d));
}

static void arguments(void)
{
	char *argv[] = { "prog", "-a", "-bvalue", "--long", "--with=arg", "rest", "-c", "--", "-d", NULL };
	static const struct option longs[] = { { "long", 0, NULL, 'L' }, { "with", 1, NULL, 'W' }, { 0 } };
	int option;
	opterr = 0;
	while ((option = getopt_long(9, argv, "ab:c", longs, NULL)) != -1)
		printf("%c:%s ", option, optarg ? optarg : "");
	printf("%d", optind);
	for (int i = optind; i < 9; i++) printf(" %s", argv[i]);
	printf("\n");
	char subs[] = "size=5,flag,bad", *sub = subs, *value;
	char *const names[] = { "size", "flag", NULL };
	while (*sub) {
		int which = getsubopt(&sub, names, &value);
		printf("%d:%s ", which, value ? value : "");
	}
	printf("\n");
}

static void memory(void)
{
	char *p = malloc(10);
	strcpy(p, "kept");
	p = realloc(p, 10000);
	printf("%s\n", p);
	free(p);
	int *z = calloc(100, sizeof *z), sum = 0;
	for (int i = 0; i < 100; i++) sum += z[i];
	printf("%d\n", sum);
	free(z);
	void *aligned = NULL;
	printf("%d", posix_memalign(&aligned, 64, 100));
	printf(" %d\n", (int)((uintptr_t)aligned % 64));
	free(aligned);
	errno = 0;
	p = malloc(SIZE_MAX / 2 + 5);
	printf("%d %d\n", p == NULL, errno);
}

static void first(void) { printf("first registered, last run\n"); }
static void second(void) { printf("second registered\n"); }

int main(void)
{
	numbers();
	sorting();
	tables();
	environment();
	arguments();
	memory();
	atexit(first);
	atexit(second);
	exit(17);
}
