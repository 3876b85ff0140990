// mem* and str* on symbolic bytes: the paths of the byte loops.
// EXPECT paths: exit 34 error 0
#include <klee/klee.h>
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char s[4], t[8];
  klee_make_symbolic(s, sizeof s, "s");
  memset(t, 0, sizeof t);
  switch (klee_range(0, 10, "which")) {
  case 0: { s[3] = 0; size_t n = strlen(s); assert(n <= 3 && s[n] == 0); return (int)n; }
  case 1: { int r = memcmp(s, "ab", 2); assert(r == 0 ? s[0] == 'a' && s[1] == 'b' : r < 0 || r > 0); return 0; }
  case 2: { int r = strcmp(s, "a"); if (r == 0) assert(s[0] == 'a' && s[1] == 0); return 0; }
  case 3: { char *p = memchr(s, 'x', 3); assert(p == NULL || *p == 'x'); return 0; }
  case 4: { s[2] = 0; strcpy(t, s); assert(!strcmp(s, t)); return 0; }
  case 5: { s[1] = 0; strcat(t, "pre"); strcat(t, s); assert(t[3] == s[0] && strlen(t) <= 4); return 0; }
  case 6: { memcpy(t, s, 4); memmove(t + 1, t, 4); assert(t[0] == s[0] && t[4] == s[3]); return 0; }
  case 7: { if (isdigit((unsigned char)s[0])) { assert(s[0] - '0' < 10); return 1; } return 0; }
  case 8: { s[1] = 0; int n = atoi(s); assert(n >= 0 && n <= 9); return 0; }
  default: { s[1] = 0; char *p = strchr("xyz", s[0]); if (p && *p) assert(s[0] >= 'x' && s[0] <= 'z'); return 0; }
  }
}
