// Divisions, assertions, uninitialised values, bounds.
#include <assert.h>
#include <stdlib.h>

int divide_by_zero(int n) {
    int d = 4;
    if (n == 7)
        d = d - 4;
    return 100 / d; // REPORT: division caller
}

int divide_guarded(int n) {
    if (n == 0)
        return 0;
    return 100 / n;
}

static int ratio(int a, int b) { return a / b; } // REPORT: division likely

int always_zero(void) { return ratio(3, 0); }

int assertion_holds(int n) {
    int m = n & 7;
    assert(m < 8);
    return m;
}

int assertion_fails(int n) {
    int m = n & 15;
    assert(m < 8); // REPORT: assert caller
    return m;
}

int uninitialised(int n) {
    int x;
    if (n > 0)
        x = n;
    if (x) // REPORT: uninitialised likely
        return 1;
    return 0;
}

int initialised(int n) {
    int x;
    if (n > 0)
        x = n;
    else
        x = -n;
    if (x)
        return 1;
    return 0;
}

int beyond(void) {
    int a[4] = {1, 2, 3, 4};
    int *p = a;
    return p[4]; // REPORT: bounds likely
}

int within(int i) {
    int a[4] = {1, 2, 3, 4};
    return a[i & 3];
}

int beyond_by_one(void) {
    char a[4] = {0};
    return a[rand() % 5 + 0]; // REPORT: bounds likely
}
