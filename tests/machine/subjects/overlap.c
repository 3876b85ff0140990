// A copy between blocks that overlap is an error, except by memmove, and of a block to itself.
// EXPECT paths: exit 14 error 16
#include <klee/klee.h>
#include <string.h>

struct big { int a[20]; };

int main(void) {
  char text[16] = "abcdef", more[16];
  struct big s = {{0}}, *p = &s;
  unsigned char n;
  switch (klee_range(0, 16, "which")) {
  case 0: memcpy(text + 1, text, 4); return 0; /* ERROR: overlap NEAR: memcpy */
  case 1: memcpy(text, text + 3, 4); return 0; /* ERROR: overlap NEAR: memcpy */
  case 2: memcpy(text, text + 4, 4); return 0;
  case 3: memmove(text + 1, text, 4); return 0;
  case 4: memcpy(text, text, 4); *p = s; return 0;
  case 5: strcpy(text + 2, text); return 0; /* ERROR: overlap NEAR: strcpy */
  case 6: strcpy(text, text + 7); return 0;
  case 7: strcat(text, text); return 0; /* ERROR: overlap NEAR: strcat */
  case 8: strncat(text, text, 6); return 0;
  case 9: strncpy(text + 3, text, 4); return 0; /* ERROR: overlap NEAR: strncpy */
  case 10: strncpy(text, text + 4, 5); return 0; /* ERROR: overlap NEAR: strncpy */
  case 11: strcpy(more, text); memcpy(more + 8, more, 8); return 0;
  case 12:
    klee_make_symbolic(&n, 1, "n");
    if (n > 12) return 0;
    memcpy(text + 4, text, n); /* ERROR: overlap NEAR: memcpy */
    return 0;
  case 13:
    klee_make_symbolic(&n, 1, "n");
    memcpy(text + (n & 7), text, 4); /* ERROR: overlap NEAR: memcpy */
    return 0;
  case 14: strcpy(text + 10, text + 1); return 0;
  default: memcpy(text + 14, text + 12, 4); return 0; /* ERROR: out-of-bounds */
  }
}
