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

static void drop(struct box *b) { free(b); } // REPORT: freed likely

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
    drop(b);
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

// A caller's freed memory is used by a callee, on some ways, behind a structure, or returned by it.
#include <stdio.h>

struct holder {
    struct box *inner;
};

static void show(const struct box *b, int n) {
    if (b != NULL && n > 3)
        printf("%d\n", b->value); // REPORT: freed likely
}

static void show_inner(const struct holder *h) { show(h->inner, 5); }

void shown(void) {
    struct holder h = {malloc(sizeof(struct box))};
    if (!h.inner)
        return;
    h.inner->value = 1;
    show_inner(&h);
    free(h.inner);
    show_inner(&h);
}

void not_shown(int n) {
    struct box *b = malloc(sizeof *b);
    if (!b)
        return;
    free(b);
    if (n < 2)
        show(b, n);
}

static char *gone(void) {
    char *text = malloc(8);
    if (!text)
        exit(1);
    text[0] = 0;
    free(text);
    return text;
}

void printed(void) {
    printf("%d %s\n", 3, gone()); // REPORT: freed likely
}

// What a callee reads through a pointer was never written.
static int sum(const int *pair) {
    if (pair[0] > 3) // REPORT: uninitialised likely
        return pair[0];
    return 0;
}

int summed(int n) {
    int pair[2];
    if (n)
        pair[0] = 4;
    return sum(pair);
}

/* Only if an element followed itself would memory be read that is freed. */
struct item {
    struct item *next;
    int used;
};

extern struct item *items[10];

static struct item *release_item(struct item *i) {
    struct item *next;
    if (i->used)
        return i;
    next = i->next;
    free(i);
    return next;
}

void release_all(void) {
    struct item *i, **at = &items[3];
    for (i = *at; i; i = *at) { /* REPORT: freed possible */
        *at = release_item(*at);
        if (i == *at)
            at = &i->next;
    }
}

int release_one(struct item *i) {
    struct item *next = release_item(i);
    return next == i->next; /* REPORT: freed likely */
}
