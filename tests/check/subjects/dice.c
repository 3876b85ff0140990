// What is not deterministic is never merged.
#include <assert.h>
#include <stdlib.h>
static int rd(int x) { return rand() + x; }
void dice(int x) {
    int a = rd(x), b = rd(x);
    assert(a == b); // refuted
}
