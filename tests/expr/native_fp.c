/* Floating-point instructions of the processor, on bit patterns, for the tests of anabranch.expr.fpvalue. */
#include <stdint.h>

#define PUN(from, to, name) \
    static to name(from v) { union { from f; to t; } u; u.f = v; return u.t; }
PUN(uint64_t, double, d)
PUN(double, uint64_t, bd)
PUN(uint32_t, float, s)
PUN(float, uint32_t, bs)

static uint64_t binary64(int op, uint64_t x, uint64_t y, uint64_t z) {
    switch (op) {
    case 0: return bd(d(x) + d(y));
    case 1: return bd(d(x) - d(y));
    case 2: return bd(d(x) * d(y));
    case 3: return bd(d(x) / d(y));
    case 4: return bd(__builtin_sqrt(d(x)));
    case 5: return bd(__builtin_fma(d(x), d(y), d(z)));
    case 6: return bd(__builtin_trunc(d(x)));
    case 7: return bd(__builtin_ceil(d(x)));
    case 8: return bd(__builtin_floor(d(x)));
    case 9: return bd(__builtin_rint(d(x)));
    case 10: return d(x) == d(y);
    case 11: return d(x) < d(y);
    case 12: return d(x) <= d(y);
    case 13: return bs((float)d(x));
    case 14: return (uint64_t)(int64_t)d(x);
    case 15: return (uint32_t)(int32_t)d(x);
    case 16: return (uint64_t)d(x);
    case 17: return (uint32_t)d(x);
    case 18: return bd((double)(int64_t)x);
    case 19: return bd((double)x);
    case 20: return bd((double)(int32_t)x);
    }
    return 0;
}

static uint64_t binary32(int op, uint32_t x, uint32_t y, uint32_t z, uint64_t wide) {
    switch (op) {
    case 0: return bs(s(x) + s(y));
    case 1: return bs(s(x) - s(y));
    case 2: return bs(s(x) * s(y));
    case 3: return bs(s(x) / s(y));
    case 4: return bs(__builtin_sqrtf(s(x)));
    case 5: return bs(__builtin_fmaf(s(x), s(y), s(z)));
    case 6: return bs(__builtin_truncf(s(x)));
    case 7: return bs(__builtin_ceilf(s(x)));
    case 8: return bs(__builtin_floorf(s(x)));
    case 9: return bs(__builtin_rintf(s(x)));
    case 10: return s(x) == s(y);
    case 11: return s(x) < s(y);
    case 12: return s(x) <= s(y);
    case 13: return bd((double)s(x));
    case 14: return (uint64_t)(int64_t)s(x);
    case 15: return (uint32_t)(int32_t)s(x);
    case 16: return (uint64_t)s(x);
    case 17: return (uint32_t)s(x);
    case 18: return bs((float)(int64_t)wide);
    case 19: return bs((float)wide);
    case 20: return bs((float)(int32_t)wide);
    }
    return 0;
}

void run(int op, int width, int count, const uint64_t *x, const uint64_t *y, const uint64_t *z, uint64_t *out) {
    for (int i = 0; i < count; i++)
        out[i] = width == 64 ? binary64(op, x[i], y[i], z[i])
                             : binary32(op, (uint32_t)x[i], (uint32_t)y[i], (uint32_t)z[i], x[i]);
}
