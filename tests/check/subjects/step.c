// The memory that a call reads is one of its operands.
#include <assert.h>
int g;
static int rd(int x) { return g + x; }
void step(int x) {
    int a = rd(x);
    g++;
    int b = rd(x);
    assert(a == b); // refuted
}
