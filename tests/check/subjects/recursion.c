/* Tail recursion is a loop; what a call inside another cycle of calls returns may be NULL if the function
   returns NULL somewhere. */
#include <assert.h>
#include <stdlib.h>

struct node { struct node *next; int value; };

static struct node *find(struct node *l, int v) {
    if (!l)
        return NULL;
    if (l->value == v)
        return l;
    return find(l->next, v);
}

int get(struct node *l, int v) {
    return find(l, v)->value; /* REPORT: null possible */
}

int careful(struct node *l, int v) {
    struct node *found = find(l, v);
    return found ? found->value : 0;
}

static int counted(int n, int limit) {
    if (n >= limit)
        return n;
    return counted(n + 1, limit);
}

void exact(int n) {
    if (n < 0 || n > 100)
        return;
    assert(counted(n, 0) == n); /* holds: the first test ends it */
    assert(counted(0, n) != 1); /* REPORT: assert caller */
}

static int written;

static void mark(int n) {
    if (n <= 0) {
        written = 1;
        return;
    }
    mark(n - 1);
}

void marks(int n) {
    written = 0;
    mark(n);
    assert(written == 1);
}

static int own_objects(int n, int *where) { /* not a loop: each call has a local of its own */
    int here = n;
    if (where && *where != n + 1)
        return 0;
    if (n <= 0)
        return 1;
    return own_objects(n - 1, &here);
}

int locals(void) {
    return own_objects(3, NULL);
}

struct tree { struct tree *left, *right; int value; };

struct tree *copied(const struct tree *t) {
    if (!t)
        return NULL;
    struct tree *result = malloc(sizeof *result);
    if (!result)
        return NULL;
    result->left = copied(t->left);
    result->left->value = 1; /* REPORT: null possible */
    result->right = copied(t->right);
    if (result->right)
        result->right->value = 2;
    result->value = t->value;
    return result;
}
