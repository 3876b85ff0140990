/* What was reported is assumed to have gone well afterwards: what follows from it is not reported again. */
#include <stdio.h>
#include <stdlib.h>

static int *get(int n) {
    return n > 3 ? NULL : calloc(1, 4); /* the first report has two origins */
}

int chosen(int n) {
    int *a = get(n);
    if (n <= 3 && !a)
        return 0;
    int x = *a; /* REPORT: null likely */
    int *b = n > 3 ? NULL : a; /* with such an n it never comes here */
    return x + *b;
}

static int part(int n) {
    return 100 / n; /* REPORT: division likely */
}

static int other(int n) {
    return 10 / (2 * n); /* REPORT: division likely */
}

int sides(int argc) {
    int n = argc & 7;
    if (argc & 8)
        return other(n); /* not behind the other call */
    return part(n) + 50 % n; /* REPORT: division likely */
}

int main(int argc, char **argv) {
    return chosen(argc) + sides(argc) + part(argc & 7);
}

struct limits { short low, high; };
static const struct limits all_limits[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};

static int width_of(int which) {
    int low = all_limits[which].low; // REPORT: bounds likely
    return all_limits[which].high - low;
}

int last_width(void) { return width_of(getchar() == 'x' ? 4 : 3); }

int two_widths(int which) {
    int a[4] = {1, 2, 3, 4};
    int first = a[which]; // REPORT: bounds caller
    return first + a[which - 1]; // REPORT: bounds caller
}
