// Ways on which a NULL, or a zero, comes to its place; functions with "good" in their names are right.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int five = 5;
static int zero(void) { return 0; }
typedef struct { int a, b; } two;
static void sink(two *d) { printf("%d\n", d->a); } // REPORT: null likely
void bad1(void) { two *d; if (five == 5) d = NULL; printf("%d", d->a); } // REPORT: null likely
void good1(void) { two t = {1, 2}; two *d; if (five != 5) d = NULL; else d = &t; printf("%d", d->a); }
void bad2(void) { two *p[5]; p[2] = NULL; sink(p[2]); }
void bad3(int n) { two *d = NULL; while (1) { break; } printf("%d", d->b); } // REPORT: null likely
void bad4(void) { two *d = NULL; for (int i = 0; i < 1; i++) { printf("%d", d->b); } } // REPORT: null likely
static two *src(two *d) { d = NULL; return d; }
void bad5(void) { two t; two *d = &t; d = src(d); printf("%d", d->b); } // REPORT: null likely
static two *gd; static void gsink(void) { printf("%d", gd->a); } // REPORT: null likely
void bad6(void) { gd = NULL; gsink(); }
void bad7(void) { two *d = NULL; void (*f)(two *) = sink; f(d); }
void bad8(void) { int n = zero(); printf("%d", 100 / n); } // REPORT: division likely
void bad9(void) { two *d; switch (6) { case 6: d = NULL; break; default: d = 0; } printf("%d", d->b); } // REPORT: null likely
void bad10(void) { char *e = getenv("X"); printf("%zu", strlen(e)); } // REPORT: null likely
void bad11(void) { two *d = NULL; if ((d != NULL) & (d->a == 5)) puts("x"); } // REPORT: null likely
void good2(void) { two *d = NULL; if ((d != NULL) && (d->a == 5)) puts("x"); }
typedef union { two *a; two *b; } un;
void bad12(void) { un u; u.a = NULL; two *d = u.b; printf("%d", d->b); } // REPORT: null likely
void bad13(void) { two **pp; two *d = NULL; pp = &d; { two *e = *pp; printf("%d", e->a); } } // REPORT: null likely
struct holder { two *p; }; static void hsink(struct holder h) { printf("%d", h.p->a); } // REPORT: null likely
void bad14(void) { struct holder h; h.p = NULL; hsink(h); }
void bad15(void) { two *d = NULL; two arr[1]; two *list[3]; memset(list, 0, sizeof list); printf("%d", list[1]->a); (void)d; (void)arr; } // REPORT: null likely

// A search of an input may fail; what the program itself has put into a string is not followed.
#include <stdio.h>
#include <string.h>
#include <time.h>

void split_input(void) {
    char line[80];
    if (fgets(line, sizeof line, stdin))
        *strchr(line, '=') = 0; // REPORT: null likely
}

void split_own(int n) {
    char line[80];
    snprintf(line, sizeof line, "%d", n);
    strcat(line, "=");
    *strchr(line, '=') = 0; // REPORT: null possible
}

int this_year(void) {
    time_t now = time(NULL);
    return localtime(&now)->tm_year; // REPORT: null possible
}

// The end of a list that is searched.
struct link {
    int key;
    struct link *next;
};

static struct link *search(struct link *list, int key) {
    while (list && list->key != key)
        list = list->next;
    return list;
}

int searched(struct link *list) {
    return search(list, 3)->key; // REPORT: null possible
}

int searched_well(struct link *list) {
    struct link *found = search(list, 3);
    return found ? found->key : 0;
}

// A function that answers NULL to a senseless argument, which an invariant excludes.
static void *block_of(unsigned long size) {
    if (size == 0)
        return NULL;
    void *block = malloc(size);
    if (!block)
        exit(1);
    return block;
}

static unsigned rows;

void set_rows(unsigned n) { rows = n; }

void make_rows(void) {
    int *table = block_of((rows + 1) * sizeof *table);
    table[0] = 1; // REPORT: null possible
}

void copy_text(const char *text) {
    char *copy = block_of((int)strlen(text) + 1);
    strcpy(copy, text);
    free(copy);
}
