// Reads of different widths of the same memory of the caller agree, the narrow one first or last.
#include <assert.h>

union number {
    unsigned char bytes[4];
    unsigned short halves[2];
    unsigned word;
};

void narrow_first(union number *n) {
    if (n->bytes[1] == 1)
        assert(n->word != 0); // proved
}

void wide_first(union number *n) {
    if (n->word == 0)
        assert(n->bytes[1] != 1); // proved
}

void both_sides(union number *n) {
    if (n->bytes[3] == 1 && n->halves[0] == 0)
        assert(n->word == 0x01000000); // fails: the third byte is open
}
