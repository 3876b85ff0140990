/* Prints a digest of its input: which digits are printed is a hard question to the solver, all else is easy. */
#include <klee/klee.h>
#include <stdint.h>
#include <stdio.h>

#ifndef SIZE
#define SIZE 16
#endif

static uint32_t digest(const unsigned char *text, int length) {
  uint32_t mixed = 2166136261u;
  for (int i = 0; i < length; i++) {
    mixed = (mixed ^ text[i]) * 16777619u;
    mixed ^= mixed >> 13;
  }
  return mixed;
}

int main(void) {
  unsigned char text[SIZE];
  klee_make_symbolic(text, sizeof text, "text");
  int upper = 0;
  for (int i = 0; i < SIZE / 2; i++)
    if (text[i] >= 'A' && text[i] <= 'Z') upper++;
  if (upper > SIZE / 4) printf("%u\n", digest(text, SIZE));
  return upper;
}
