/* Oniguruma: a character class that begins with an octal escape, 3 unknown bytes. */
#include "oniguruma.h"
#include <klee/klee.h>
#include <string.h>

int main(void) {
  UChar pattern[7] = "[\\7";
  unsigned char unknown[3];
  klee_make_symbolic(unknown, sizeof unknown, "input");
  memcpy(pattern + 3, unknown, sizeof unknown);
  pattern[6] = ']';
  regex_t *regex;
  OnigErrorInfo about;
  if (onig_new(&regex, pattern, pattern + sizeof pattern, ONIG_OPTION_NONE, ONIG_ENCODING_ASCII,
               ONIG_SYNTAX_DEFAULT, &about) == ONIG_NORMAL)
    onig_free(regex);
  onig_end();
  return 0;
}
