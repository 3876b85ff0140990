// What the machine cannot do ends its own path only, with the reason.
// EXPECT paths: exit 1 error 0
// EXPECT loss: unsupported: inline assembly
// EXPECT loss: unsupported: external function undefined_anywhere
// EXPECT loss: unsupported: 
#include <klee/klee.h>

extern int undefined_anywhere(int);
extern int undefined_data;

int main(int argc, char **argv) {
  switch (klee_range(0, 5, "which")) {
  case 0: { int r; __asm__("movl $5, %0" : "=r"(r)); return r; }
  case 1: return undefined_anywhere(3);
  case 2: { _Float16 x = argc; return x * 2 > 1; }
  case 3: { int (*f)(int) = undefined_anywhere; return f(1); }
  default: __asm__ volatile("" ::: "memory"); return 0;
  }
}
