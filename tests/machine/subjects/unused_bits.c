/* Uninitialised bits that have no influence on an address do no harm.
 *
 * EXPECT paths: exit 1 error 0
 * EXPECT output: "5 9 0\n"
 */
#include <stdio.h>

struct pair {
	int low, high;
};

static struct pair first(void)
{
	struct pair p;
	p.low = 1;
	return p;
}

int main(void)
{
	int a[4] = { 0, 9, 0, 0 };
	unsigned long u;
	struct pair p = first();
	a[p.low + 1] = 5;
	/* Always zero, as one of two neighbours is even. */
	a[(u * (u + 1)) & 1] += 0;
	printf("%d %d %d\n", a[2], a[p.low], a[(u * (u + 1)) & 1]);
	return 0;
}
