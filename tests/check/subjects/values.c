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

// A quotient of floating-point numbers is an error where an integer is made of it.
#include <math.h>
#include <stdio.h>
#include <unistd.h>

int scaled(void) {
    float data = 0.0f;
    if (scanf("%f", &data) != 1)
        return 0;
    return (int)(100.0 / data); // REPORT: division likely
}

int guarded(void) {
    float data = 0.0f;
    if (scanf("%f", &data) != 1 || !(fabs(data) > 0.000001))
        return 0;
    return (int)(100.0 / data);
}

double infinite(void) {
    double data = 0.0;
    scanf("%lf", &data);
    return 100.0 / data;
}

// Answers of the world that come through a function are not a matter of callers.
static int coin(void) { return getpid() % 2; }

int tossed(int n) {
    (void)n;
    return 7 / coin(); // REPORT: division likely
}

// What read returns is at most the size that it was given.
int terminated(int file) {
    char buffer[16];
    long got = read(file, buffer, sizeof buffer - 1);
    if (got < 0)
        return 0;
    buffer[got] = 0;
    return buffer[0] == 'a';
}

int not_terminated(int file) {
    char buffer[16];
    long got = read(file, buffer, sizeof buffer);
    if (got < 0)
        return 0;
    buffer[got] = 0; // REPORT: bounds likely
    return buffer[0] == 'a';
}

// Only code that is not here can change the first one; the second one is changed here.
int verbose = 0;
int level = 0;

int as_configured(void) {
    int value;
    if (!verbose)
        value = 3;
    return value ? 1 : 2; // REPORT: uninitialised caller
}

int as_leveled(void) {
    int value;
    if (!level)
        value = 3;
    return value ? 1 : 2; // REPORT: uninitialised likely
}

void set_level(int n) { level = n; }

// Elements that were written are told from others by their index, which only the caller knows to be right.
int element(unsigned char kind) {
    int table[8];
    for (int i = 1; i < 8; i++)
        table[i] = i;
    if (kind != 0 && table[kind & 7] > 3) // REPORT: uninitialised possible
        return 1;
    return 0;
}

int element_never_written(void) {
    int table[8];
    table[1] = 1;
    return table[2] ? 1 : 2; // REPORT: uninitialised likely
}

// What unknown callers get counts as used.
int sign(const char *text) {
    int value;
    if (text[0] == '-')
        value = -1;
    else if (text[0] == '+')
        value = 1;
    return value * 2; // REPORT: uninitialised likely
}

static int sign_if(const char *text, int *known) {
    int value;
    *known = text[0] == '-';
    if (*known)
        value = -1;
    return value;
}

int sign_or(const char *text, int otherwise) {
    int known;
    int value = sign_if(text, &known);
    return known ? value : otherwise;
}

// One report, about the bounds.
int last_element(void) {
    int table[8], i;
    for (i = 0; i < 8; i++)
        table[i] = i;
    return table[i]; // REPORT: bounds likely
}
