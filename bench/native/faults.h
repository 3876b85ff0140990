/* What a program with faults sees when the oracle runs it natively on all its inputs (see faults.c).
 *
 * Objects declared by LOCAL, GLOBAL and HEAP are known to the run-time: where they are, whether they live, and which
 * of their bytes were written. RD, WR, USE, COPY and the MEM macros check an access against that before it is made.
 * For the engine all of these are nothing: `LOCAL(u16[3], a)` is `u16 a[3]`, `RD(V(a)[i])` is `a[i]`.
 */
#ifndef BENCH_FAULTS_H
#define BENCH_FAULTS_H
#include "oracle.h"

void *faults_local(size_t size);
void *faults_global(size_t size, const void *content, int readonly);
void *faults_heap(size_t size);
void *faults_zeroed(size_t count, size_t size);
void *faults_resized(void *p, size_t size, int line);
size_t faults_length(const char *p, int line);
void faults_end(void *pointer);
void faults_release(void *p, int line);
void faults_fill(void *p, const void *content, size_t size);
void *faults_read(const void *p, size_t size, int line);
void *faults_write(void *p, size_t size, int line);
void *faults_use(const void *p, size_t size, int line);
void faults_copy(void *to, const void *from, size_t size, int line);
void faults_move(void *to, const void *from, size_t size, int line);
void faults_set(void *to, int value, size_t size, int line);
long long faults_index(long long index, long long count, int line);

/* Natively an object stands in memory of the run-time, where no other object ever is: the name is a pointer to it. */
#define LOCAL(T, name) __typeof__(T) *name __attribute__((cleanup(faults_end))) = faults_local(sizeof(T))
#define LOCAL_IS(T, name, ...) \
  LOCAL(T, name); faults_fill(name, &(__typeof__(T)){__VA_ARGS__}, sizeof(T))
#define GLOBAL(T, name, ...) \
  static const __typeof__(T) name##_content = {__VA_ARGS__}; STATE static __typeof__(T) *name
#define CONSTANT(T, name, ...) GLOBAL(T, name, __VA_ARGS__)
#define BEGIN(name) name = faults_global(sizeof *name, &name##_content, 0)
#define BEGIN_CONSTANT(name) name = faults_global(sizeof *name, &name##_content, 1)
#define LOCAL_OF(T, name, n) T *name __attribute__((cleanup(faults_end))) = faults_local((n) * sizeof(T))
#define HEAP(n) faults_heap(n)
#define ZEROED(count, size) faults_zeroed((count), (size))
#define RESIZED(p, n) faults_resized((p), (n), __LINE__)
#define LENGTH(p) faults_length((const char *)(p), __LINE__)
#define RELEASE(p) faults_release((p), __LINE__)
#define V(name) (*name)

#define RD(x) (*(__typeof__(x) *)faults_read(&(x), sizeof(x), __LINE__))
#define WR(x) (*(__typeof__(x) *)faults_write((void *)&(x), sizeof(x), __LINE__))
#define USE(x) (*(__typeof__(x) *)faults_use(&(x), sizeof(x), __LINE__))
#define COPY(to, from) faults_move(&(to), &(from), sizeof(to), __LINE__)
#define MEMSET(p, c, n) faults_set((p), (c), (n), __LINE__)
#define MEMCPY(p, q, n) faults_copy((p), (q), (n), __LINE__)
#define MEMMOVE(p, q, n) faults_move((p), (q), (n), __LINE__)
#ifdef BOUNDS
#define IDX(i, n) faults_index((long long)(i), (n), __LINE__)
#else
#define IDX(i, n) (i)
#endif

#endif
