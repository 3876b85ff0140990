// Examples 1 to 5 of the thesis, and the graph of Figure 3.2 (a).
#include <assert.h>
#include <stdbool.h>

int example1(int a, int b, int y0) {
    int x = a + b, y1;
    if (x < 0)
        y1 = y0;
    else
        y1 = y0 + a + b;
    return y1;
}

int example2(int *p, bool c1, bool c3) {
    *p = 1;
    if (c1) {
        *p = 2;
    } else {
        *p = 3;
        if (c3)
            goto b6;
        goto b6;
    }
b6:
    return *p;
}

int example3(int *u, int *v, int *z, int w, bool c1, bool c2, bool c3) {
    int *x = c1 ? u : c2 ? v : c3 ? z : u;
    *x = w;
    return w;
}

void example5(int a, int b, int y0, int c) {
    int x = a + b, x1 = c, y1;
    if (x < 0) {
        y1 = y0;
        x1 = x1 - 1;
    } else {
        y1 = y0 + a + b;
        x1 = x1 * c;
    }
    (void)x1;
    assert(0 <= y1);
}

int g1, g2;

int example4(int *p0, bool c1, bool c2, bool c3, bool c6, bool c7) {
    int a0 = 0, a, *p;
    a = a0;
    if (c1)
        goto b3;
    a = *p0;
    *p0 = 7;
    p = &g1;
    if (!c2)
        goto b6;
b3:
    if (!c3)
        a = a + 1;
    goto b9;
b6:
    a = a0;
    if (c6)
        goto b8;
    p = &g2;
    if (!c7)
        goto b9;
b8:
    *p = 0;
b9:
    return a;
}

int figure32(int *p, bool c1, bool c2, bool c3, bool c4, bool c5) {
    if (c1)
        *p = 1;
    if (c2)
        *p = 2;
    if (c3)
        *p = 3;
    if (c4)
        *p = 4;
    if (c5)
        *p = 5;
    return *p;
}
