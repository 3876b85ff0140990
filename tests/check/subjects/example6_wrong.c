// Example 6 with a flip that also takes zero, and an init that returns its argument.
#include <assert.h>
#include <stdbool.h>

int global1, global2;

static bool flip(int *data) {
    if (*data <= 0) {
        *data = -(*data);
        return true;
    }
    return false;
}

static int init(int x) { return x; }

void scale(void) {
    global2 = init(global1);
    if (flip(&global2)) {
        assert(global2 != 0); // refuted
        global1 /= global2;
    }
}
