/* What a generated program sees when the oracle runs it natively on all its inputs (see oracle.c). */
#ifndef BENCH_ORACLE_H
#define BENCH_ORACLE_H
#include <stddef.h>

__attribute__((noreturn)) void oracle_error(const char *kind, int line);
__attribute__((noreturn)) void oracle_exit(int code);
void oracle_line(int line);
long long oracle_index(long long index, long long count, int line);
unsigned long long oracle_nonzero(unsigned long long divisor, int line);
unsigned oracle_shift(unsigned amount, unsigned width, int line);
void *oracle_pointer(const void *p, int line);
void *oracle_element(const void *p, long long index, long long size, long long count, int line);
void *oracle_malloc(size_t size);
void oracle_free(void *p, int line);
void oracle_symbolic(void *at, size_t size);
void oracle_assume(int condition);
int oracle_putchar(int c);
int oracle_printf(const char *format, ...);
int oracle_puts(const char *text);

/* Globals stand together, so that one copy restores them all. */
#define STATE __attribute__((section("state"), used))
#define COV oracle_line(__LINE__);
#define AT(i, n) oracle_index((long long)(i), (n), __LINE__)
#define NZ(d) ((__typeof__(+(d)))oracle_nonzero((unsigned long long)(d), __LINE__))
#define SH(s, w) oracle_shift((s), (w), __LINE__)
#define PTR(p) ((__typeof__(p))oracle_pointer((p), __LINE__))
#define ELEM(p, i, n) (*(__typeof__(p))oracle_element((p), (long long)(i), sizeof *(p), (n), __LINE__))
#define FREE(p) oracle_free((p), __LINE__)

#undef klee_make_symbolic
#undef klee_assume
#undef klee_assert
#undef assert
#define klee_make_symbolic(p, n, name) oracle_symbolic((p), (n))
#define klee_assume(c) oracle_assume((c) != 0)
#define klee_assert(c) ((c) ? (void)0 : oracle_error("assert", __LINE__))
#define assert(c) ((c) ? (void)0 : oracle_error("assert", __LINE__))
#define abort() oracle_error("abort", __LINE__)
#define exit(n) oracle_exit(n)
#define malloc(n) oracle_malloc(n)
#define putchar(c) oracle_putchar(c)
#define puts(s) oracle_puts(s)
#define printf oracle_printf
#define main program_main

#endif
