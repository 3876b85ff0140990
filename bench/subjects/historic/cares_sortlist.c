/* c-ares: a list of addresses to sort by: 20 digits, periods and slashes. */
#include "ares_setup.h"
#include "ares.h"
#include "ares_private.h"
#include <klee/klee.h>

int main(void) {
  char text[21];
  klee_make_symbolic(text, sizeof text, "input");
  for (int i = 0; i < 20; i++) {
    klee_assume(text[i] >= '.');
    klee_assume(text[i] <= '9');
  }
  text[20] = 0;
  static struct ares_channeldata channel;
  ares_set_sortlist(&channel, text);
  return 0;
}
