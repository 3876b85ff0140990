// Output is captured; symbolic arguments print the value of the test.
// EXPECT paths: exit 8 error 0
// EXPECT output: "plain\n"
// EXPECT output: "42 -7 ff 0x1f A str     3.50 100% 1099511627776\n"
// EXPECT output: "5 = 5\n"
// EXPECT output: "large\n"
// EXPECT output: "abc"
// EXPECT output: "[  7|7  |007]\n"
// EXPECT output: "err only"
#include <klee/klee.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  int x = klee_int("x");
  switch (klee_range(0, 6, "which")) {
  case 0: puts("plain"); return 0;
  case 1: printf("%d %i %x %#x %c %s %8.2f 100%% %lld\n", 42, -7, 255, 31, 'A', "str", 3.5, 1ll << 40); return 0;
  case 2:
    if (x == 5) { printf("%d = %u\n", x, (unsigned)x); return 0; }
    if (x > 5) { puts("large"); return 0; }
    klee_silent_exit(0);
  case 3: putchar('a'); putchar('b'); fputs("c", stdout); fprintf(stderr, "not here"); return 0;
  case 4: printf("[%*d|%-3d|%03d]\n", 3, 7, 7, 7); return 0;
  default: {
    char buffer[16];
    int n = snprintf(buffer, 4, "%s", "too long");
    assert(n == 8 && !strcmp(buffer, "too"));
    n = sprintf(buffer, "%d", x & 1 ? 10 : 7);
    assert(n == 1 ? !strcmp(buffer, "7") : !strcmp(buffer, "10"));
    printf("err only");
    return 0;
  }
  }
}
