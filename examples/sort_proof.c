/*
 * An assertion proved on all paths. Insertion sort of a few bytes, any bytes: the result is in order and holds
 * the same bytes. When the run says "complete" without an error, there is no input of this length that fails.
 *
 *     anabranch run examples/sort_proof.c
 *     anabranch run -D N=5 examples/sort_proof.c
 */
#include <assert.h>
#include <klee/klee.h>

#ifndef N
#define N 4
#endif

static void sort(unsigned char *bytes, int count) {
    for (int i = 1; i < count; i++) {
        unsigned char moving = bytes[i];
        int hole = i;
        while (hole > 0 && bytes[hole - 1] > moving) {
            bytes[hole] = bytes[hole - 1];
            hole--;
        }
        bytes[hole] = moving;
    }
}

/* How often a byte occurs, without a branch: a branch here would multiply the paths, not the knowledge. */
static int occurrences(const unsigned char *bytes, int count, unsigned char wanted) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found += bytes[i] == wanted;
    return found;
}

int main(void) {
    unsigned char before[N], after[N], any;
    klee_make_symbolic(before, sizeof before, "bytes");
    klee_make_symbolic(&any, sizeof any, "any");
    for (int i = 0; i < N; i++)
        after[i] = before[i];

    sort(after, N);

    for (int i = 1; i < N; i++)
        assert(after[i - 1] <= after[i]);
    assert(occurrences(before, N, any) == occurrences(after, N, any));
    return 0;
}
