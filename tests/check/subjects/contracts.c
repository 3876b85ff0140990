/* Contracts of the C library: realloc frees its argument when it succeeds, a search points into its argument. */
#include <stdlib.h>
#include <string.h>

int moved(int *p) {
    int *q = realloc(p, 80);
    if (!q)
        return p[0]; /* it was not freed */
    return p[0]; /* REPORT: freed likely */
}

void grown(char *p, size_t n) {
    char *q = realloc(p, n);
    if (!q) {
        free(p);
        return;
    }
    free(q);
}

void freed_twice(char *p, size_t n) {
    char *q = realloc(p, n);
    if (!q)
        return;
    free(p); /* REPORT: freed likely */
    free(q);
}

static char *resized(char *p) {
    return realloc(p, 200);
}

char through(char *p) {
    char *q = resized(p);
    if (q)
        return *p; /* REPORT: freed likely */
    return 0;
}

char of_freed(void) {
    char *s = strdup("key=value");
    if (!s)
        return 0;
    char *value = strchr(s, '=');
    free(s);
    return value ? *value : 0; /* REPORT: freed possible */
}

int written(void) {
    char name[4] = "a.c";
    char *dot = strchr(name, '.');
    if (!dot)
        return 0;
    *dot = 0;
    return 7 / (name[1] == '.'); /* REPORT: division possible */
}

int unchecked(const char *s) {
    return *strchr(s, '.'); /* REPORT: null possible */
}
