/* Words of a text, counted, with the longest of them. */
#include <klee/klee.h>
#include <string.h>

int main(void) {
  char text[SIZE];
  klee_make_symbolic(text, sizeof text, "text");
  text[SIZE - 1] = 0;
  size_t words = 0, longest = 0;
  char *p = text;
  for (;;) {
    p += strspn(p, " \t");
    if (!*p) break;
    size_t length = strcspn(p, " \t");
    words++;
    if (length > longest) longest = length;
    p += length;
  }
  return words > 2 ? 1 : longest > 3 ? 2 : 0;
}
