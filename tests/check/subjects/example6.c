// The motivating example of the thesis (Example 6): `init` need not be looked into.
#include <assert.h>
#include <stdbool.h>

int global1, global2;

static bool flip(int *data) {
    if (*data < 0) {
        *data = -(*data);
        return true;
    }
    return false;
}

static int init(int x) {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum = sum * 31 + (x >> i);
    return sum;
}

void scale(void) {
    global2 = init(global1);
    if (flip(&global2)) {
        assert(global2 != 0); // proved
        global1 /= global2;
    }
}
