// Correct code as it is usually written: nothing is reported.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct n { struct n *next; char *s; int v; };
void free_list(struct n *p) { while (p) { struct n *q = p->next; free(p->s); free(p); p = q; } }
char *dup2(const char *s) { char *r = malloc(strlen(s) + 1); if (!r) return NULL; strcpy(r, s); return r; }
int cleanup(const char *name) {
    FILE *f = NULL; char *b = NULL; int rc = -1;
    f = fopen(name, "r"); if (!f) goto out;
    b = malloc(100); if (!b) goto out;
    if (!fgets(b, 100, f)) goto out;
    rc = b[0];
out:
    free(b); if (f) fclose(f);
    return rc;
}
struct n *build(int k) {
    struct n *head = NULL, *tail = NULL;
    for (int i = 0; i < k; i++) {
        struct n *e = calloc(1, sizeof *e);
        if (!e) { free_list(head); return NULL; }
        if (tail) tail->next = e; else head = e;
        tail = e;
    }
    return head;
}
char *grow(size_t *cap, char *buf) { char *nb = realloc(buf, *cap * 2); if (!nb) { free(buf); return NULL; } *cap *= 2; return nb; }
int sum(struct n *l) { int s = 0; for (struct n *p = l; p != NULL; p = p->next) s += p->v; return s; }
int find(struct n *l, int v) { while (l != NULL && l->v != v) l = l->next; if (l == NULL) return -1; return l->v; }
int parse(int argc, char **argv) { char *o = NULL; for (int i = 1; i < argc; i++) if (!strcmp(argv[i], "-o") && i + 1 < argc) o = argv[++i]; if (!o) { puts("usage"); exit(1); } return o[0]; }
int state(int x) { int *p = NULL, y = 0; int has = 0; if (x > 3) { p = &y; has = 1; } if (has) return *p; return 0; }
static char *cached; const char *get(void) { if (!cached) cached = dup2("x"); if (!cached) abort(); return cached; }
int use(void) { return get()[0]; }

// A function that ends the program is part of a cycle of calls: it never comes back all the same.
#include <stdio.h>

static void *want(unsigned long size);
static int cleaned;

static void clean_up(void) {
    char *note = want(8);
    note[0] = 0;
    cleaned = note[0];
}

static void die(const char *why) {
    puts(why);
    clean_up();
    exit(1);
}

static void *want(unsigned long size) {
    void *block = malloc(size);
    if (!block)
        die("no memory");
    return block;
}

int wanted(void) {
    int *p = want(sizeof *p);
    *p = 3;
    return *p;
}

// What was found in a string is found again, as long as nobody writes the string.
static int noted;

static void note(int n) { noted = n; }

void cut(char *line) {
    if (!strchr(line, ' '))
        return;
    note(3);
    char *copy = strdup(line);
    if (!copy)
        return;
    copy[0] = 'x';
    free(copy);
    *strchr(line, ' ') = 0;
}

// What was dereferenced before it is returned, or an element behind it, is not NULL.
struct cell { long size; struct cell *link; };
static struct cell *spare;
static int numbered(int n) { return n & 7; }

static struct cell *cell_of(int n) {
    struct cell *c;
    if (numbered(n) == 3)
        c = malloc(sizeof *c * 2);
    else
        c = spare ? spare : malloc(sizeof *c * 2);
    c->size = n; // anabranch: ignore
    return c + 1;
}

void use_cell(int n) { cell_of(n)->size = 4; }

/* Which of two words in memory is the pointer: the one that is loaded as such. */
struct text { size_t used; char *data; size_t more; };
static char *line;
static size_t line_used, line_size;

static char next_character(void) {
    if (line_used >= line_size)
        return 0;
    return line[line_used];
}

char first_character(struct text *t) {
    line_used = 0;
    t->used = t->more = 0;
    return next_character();
}

static char at_end(struct text *t) {
    return t->data[t->used + t->more];
}

char ends(struct text *t) {
    t->used = t->more = 0;
    return at_end(t);
}

/* A string ends in the object that it is in. */
int words(FILE *stream) {
    char text[100];
    if (!fgets(text, sizeof text, stream))
        return 0;
    char *word = text + strspn(text, " ");
    int count = text[strlen(text)] == 0;
    while (*word) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
        count++;
    }
    return count;
}
