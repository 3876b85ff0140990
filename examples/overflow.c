/*
 * A heap overflow found. Decodes run-length encoded bytes, (count, byte) pairs. The size of the result is checked,
 * but by one byte too few: a text that fills the buffer exactly has its terminator written behind it.
 *
 *     anabranch run examples/overflow.c
 *     anabranch show-test anabranch-last/test*.ktest
 */
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 3
#define CAPACITY 8

static char *decode(const unsigned char *encoded, int pairs) {
    char *text = malloc(CAPACITY);
    if (text == NULL)
        return NULL;
    size_t used = 0;
    for (int i = 0; i < pairs; i++) {
        unsigned char count = encoded[2 * i];
        if (count == 0)
            break;
        if (count > CAPACITY - used) { /* leaves no room for the terminator */
            free(text);
            return NULL;
        }
        memset(text + used, encoded[2 * i + 1], count);
        used += count;
    }
    text[used] = '\0';
    return text;
}

int main(void) {
    unsigned char encoded[2 * PAIRS];
    klee_make_symbolic(encoded, sizeof encoded, "encoded");
    char *text = decode(encoded, PAIRS);
    free(text);
    return 0;
}
