/* Instructions of x87 on images of 80 bits, for the tests of anabranch.expr.x87. Images take 16 bytes. */
#include <stdint.h>
#include <string.h>

typedef struct { uint64_t low, high; } image;

static long double number(image i) {
    union { image i; long double f; } u;
    u.i = i;
    return u.f;
}

static image bits(long double x) {
    union { long double f; image i; } u = {0};
    u.f = x;
    u.i.high &= 0xffff;
    return u.i;
}

static image integer(uint64_t v) {
    image i = {v, 0};
    return i;
}

static image narrow(double x) {
    image i = {0, 0};
    memcpy(&i, &x, 8);
    return i;
}

static image narrower(float x) {
    image i = {0, 0};
    memcpy(&i, &x, 4);
    return i;
}

static long double rounded(long double x, unsigned mode) {
    unsigned short before, now;
    __asm__ volatile("fnstcw %0" : "=m"(before));
    now = (before & ~0xc00) | mode << 10;
    __asm__ volatile("fldcw %0" : : "m"(now));
    __asm__ volatile("frndint" : "+t"(x));
    __asm__ volatile("fldcw %0" : : "m"(before));
    return x;
}

static long double root(long double x) {
    __asm__ volatile("fsqrt" : "+t"(x));
    return x;
}

static long double remainder_of(long double x, long double y) {
    unsigned short status;
    do __asm__ volatile("fprem; fnstsw %%ax" : "+t"(x), "=a"(status) : "u"(y));
    while (status & 0x400);
    return x;
}

static image result(int op, image a, image b) {
    long double x = number(a), y = number(b);
    double d;
    float f;
    switch (op) {
    case 0: return bits(x + y);
    case 1: return bits(x - y);
    case 2: return bits(x * y);
    case 3: return bits(x / y);
    case 4: return bits(remainder_of(x, y));
    case 5: return bits(root(x));
    case 6: return bits(rounded(x, 3));
    case 7: return bits(rounded(x, 2));
    case 8: return bits(rounded(x, 1));
    case 9: return bits(rounded(x, 0));
    case 10: return integer(x == y);
    case 11: return integer(x < y);
    case 12: return integer(x <= y);
    case 13: return narrow((double)x);
    case 14: return narrower((float)x);
    case 15: return integer((uint64_t)(int64_t)x);
    case 16: return integer((uint32_t)(int32_t)x);
    case 17: return integer((uint16_t)(int16_t)x);
    case 18: return integer((uint64_t)x);
    case 19: return integer((uint32_t)x);
    case 20: return bits((long double)(int64_t)a.low);
    case 21: return bits((long double)a.low);
    case 22: memcpy(&d, &a, 8); return bits(d);
    case 23: memcpy(&f, &a, 4); return bits(f);
    case 24: return integer(x != x);
    case 25: return bits(-x);
    }
    return a;
}

void run(int op, int count, const image *x, const image *y, image *out) {
    for (int i = 0; i < count; i++) out[i] = result(op, x[i], y[i]);
}
