/* Operands and results of the opcode tables.
 *
 * Native and concrete runs print every result as 16 bytes. With -DSYMBOLIC operands are symbolic but equal to their
 * value by assumption, and every result has to equal what the native run printed (expected[]): a solver's proof.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SYMBOLIC
#include "klee/klee.h"
extern const uint64_t expected[][2];
static unsigned results;

void operand(const uint64_t *value, uint64_t *to) {
  uint64_t symbol[2];
  klee_make_symbolic(symbol, sizeof symbol, "operand");
  klee_assume(symbol[0] == value[0]);
  klee_assume(symbol[1] == value[1]);
  to[0] = symbol[0];
  to[1] = symbol[1];
}
void emit(uint64_t low, uint64_t high) {
  klee_assert(low == expected[results][0]);
  klee_assert(high == expected[results][1]);
  results++;
}
#else
void operand(const uint64_t *value, uint64_t *to) { memcpy(to, value, 16); }
void emit(uint64_t low, uint64_t high) {
  for (int i = 0; i < 8; i++) putchar((int)(low >> (8 * i) & 255));
  for (int i = 0; i < 8; i++) putchar((int)(high >> (8 * i) & 255));
}
#endif
