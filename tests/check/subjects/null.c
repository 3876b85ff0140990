// NULL dereferences. A comment says, on a line, what must be reported there; else nothing is.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    struct node *next;
};

int constant(int n) {
    int *p = NULL;
    int here = 1;
    if (n > 3)
        p = &here;
    return *p; // REPORT: null likely
}

int guarded(int n) {
    int *p = NULL;
    int here = 1;
    if (n > 3)
        p = &here;
    if (n > 5)
        return *p;
    return 0;
}

struct node *unchecked(int value) {
    struct node *n = malloc(sizeof *n);
    n->value = value; // REPORT: null likely
    n->next = NULL;
    return n;
}

struct node *checked(int value) {
    struct node *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    n->value = value;
    return n;
}

int result_unchecked(void) {
    struct node *n = checked(3);
    return n->value; // REPORT: null likely
}

int result_checked(void) {
    struct node *n = checked(3);
    return n ? n->value : 0;
}

static int value_of(struct node *n) {
    return n->value; // REPORT: null likely
}

int passes_null(int which) {
    struct node here = {4, NULL};
    return value_of(which ? &here : NULL);
}

int passes_next(void) {
    struct node last = {5, NULL}, first = {4, &last};
    return value_of(first.next);
}

int first_char(const char *name) {
    FILE *f = fopen(name, "r");
    int c = fgetc(f); // REPORT: null likely
    fclose(f);
    return c;
}

int tested_too_late(struct node *n) {
    int v = n->value; // REPORT: null possible
    if (n == NULL)
        return 0;
    return v;
}

int parameter(struct node *n) { return n->value; }

static void must(struct node *n) {
    if (n == NULL)
        exit(1);
}

int by_exit(void) {
    struct node *n = checked(1);
    must(n);
    return n->value;
}

static int get(struct node **out, int wanted) {
    if (wanted < 0) {
        *out = NULL;
        return -1;
    }
    *out = checked(wanted);
    return *out ? 0 : -1;
}

int out_checked(int wanted) {
    struct node *n;
    if (get(&n, wanted) < 0)
        return 0;
    return n->value;
}

int out_unchecked(int wanted) {
    struct node *n;
    get(&n, wanted);
    return n->value; // REPORT: null likely
}

int member_of_null(void) {
    struct node *n = NULL;
    return n->next != NULL; // REPORT: null likely
}

int member_after_loop(int n) {
    struct node *first = NULL;
    while (n > 3)
        n--;
    return first->next != NULL; // REPORT: null likely
}

int suppressed(void) {
    struct node *n = malloc(sizeof *n);
    return n->next != NULL; // anabranch: ignore[null]
}

// That there is no table yet is no rare value of a pointer.
struct section { int type, size; };
static struct section *sections;
static int allocated, used;

static void reset(void) {
    if (!sections) {
        sections = malloc(5 * sizeof *sections);
        allocated = 5;
    }
    used = 0;
}

static void make_room(void) {
    if (used >= allocated) {
        allocated += allocated / 2;
        sections = realloc(sections, allocated * sizeof *sections);
        if (!sections)
            exit(1);
    }
}

void collect(const int *types) {
    reset();
    make_room();
    sections[used].type = types[0]; // REPORT: null likely
    used++;
}
