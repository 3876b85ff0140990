// A value computed twice in a block is computed once, also when the block is finished by the interpreter.
// OPTIONS: --tests all
// EXPECT paths: exit 4 error 0
// EXPECT exit codes: 0 1 2 7
#include <klee/klee.h>
#include <string.h>

static int twice(unsigned char n, const char *text) {
  long wide = n;
  int found = strcmp(text, "ab"); /* forks in the middle of the block */
  long again = n;
  if (wide != again) return 9;
  if (found == 0) return 7;
  if (found < 0) return 1;
  return 2;
}

int main(void) {
  char text[3];
  unsigned char n;
  klee_make_symbolic(text, sizeof text, "text");
  klee_make_symbolic(&n, sizeof n, "n");
  text[2] = 0;
  klee_assume(text[1] == 'b' | text[0] != 'a');
  if (text[0] == 0) return 0;
  return twice(n, text);
}
