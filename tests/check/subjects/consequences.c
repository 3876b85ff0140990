/* What was reported is assumed to have gone well afterwards: what follows from it is not reported again. */
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
