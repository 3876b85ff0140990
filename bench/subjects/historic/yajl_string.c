/* yajl: a document that is one string: an escaped code unit and what follows, 7 unknown bytes. */
#include "api/yajl_parse.h"
#include <klee/klee.h>
#include <string.h>

static int on_string(void *context, const unsigned char *text, size_t length) { return 1; }

int main(void) {
  static const yajl_callbacks callbacks = {.yajl_string = on_string};
  unsigned char unknown[7], text[11] = "\"\\u";
  klee_make_symbolic(unknown, sizeof unknown, "input");
  memcpy(text + 3, unknown, sizeof unknown);
  text[10] = '"';
  yajl_handle parser = yajl_alloc(&callbacks, 0, 0);
  yajl_parse(parser, text, sizeof text);
  yajl_complete_parse(parser);
  yajl_free(parser);
  return 0;
}
