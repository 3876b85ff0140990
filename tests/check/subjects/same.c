// Equal calls are one operator: nothing is opened.
#include <assert.h>
int g;
static int rd(int x) { return g + x; }
void same(int x) {
    int a = rd(x), b = rd(x);
    assert(a == b); // proved
}
