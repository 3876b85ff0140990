/* Concrete: the calls and returns of a doubly recursive function. */
#ifndef ITER
#define ITER 27
#endif
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { return fib(ITER) & 0x7f; }
