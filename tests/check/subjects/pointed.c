/* Indirect calls: each function of the type whose address is taken, under the condition that the pointer leads
   there. There is a main, so that no other can be meant. */
#include <assert.h>
#include <stdlib.h>

struct shape { int (*area)(int); int *(*find)(int); void (*set)(int *, int); };

static int square(int n) { return n * n; }
static int ten(int n) { return 10 + (n & 1); }
static int *no(int n) { return NULL; }
static int *yes(int n) { static int found; found = n; return &found; }
static void clear(int *where, int n) { *where = 0; }
static void keep(int *where, int n) { *where = n; } /* REPORT: null likely */

static const struct shape shapes[2] = {{square, no, clear}, {ten, yes, keep}};

static int use(const struct shape *s, int n) {
    int area = s->area(n);
    assert(area >= 10 || area == n * n); /* holds for both */
    assert(area >= 10); /* REPORT: assert likely */
    return area;
}

static int pick(int which) {
    int *(*find)(int) = which ? yes : no;
    int *found = find(which);
    if (which)
        return *found; /* yes never returns NULL */
    return *found; /* REPORT: null likely */
}

static int written(void (*set)(int *, int)) {
    int value = 7;
    set(&value, 3);
    assert(value == 0 || value == 3);
    return 7 / value; /* REPORT: division likely */
}

static void pass(void (*set)(int *, int), int *where) {
    set(where, 1);
}

int main(int argc, char **argv) {
    int n = argc > 3;
    use(&shapes[n], argc);
    pick(n);
    written(shapes[n].set);
    pass(argc > 1 ? clear : keep, argc > 2 ? &n : NULL);
    return 0;
}
