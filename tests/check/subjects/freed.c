// Use after free and double free.
#include <stdlib.h>

struct box {
    int value;
};

int used(void) {
    struct box *b = malloc(sizeof *b);
    if (!b)
        return 0;
    b->value = 1;
    free(b);
    return b->value; // REPORT: freed likely
}

void twice(int n) {
    char *p = malloc(4);
    if (n > 2)
        free(p);
    free(p); // REPORT: freed likely
}

void once(int n) {
    char *p = malloc(4);
    if (n > 2) {
        free(p);
        return;
    }
    free(p);
}

static void drop(struct box *b) { free(b); }

int dropped(void) {
    struct box *b = malloc(sizeof *b);
    if (!b)
        return 0;
    b->value = 2;
    drop(b);
    return b->value; // REPORT: freed likely
}

void dropped_twice(void) {
    struct box *b = malloc(sizeof *b);
    drop(b);
    drop(b); // REPORT: freed likely
}

int renewed(void) {
    struct box *b = malloc(sizeof *b);
    free(b);
    b = malloc(sizeof *b);
    if (!b)
        return 0;
    b->value = 3;
    int v = b->value;
    free(b);
    return v;
}
