/* json-c: a buffer that grows has what was appended to it. */
#include "driver.h"
#include <printbuf.h>

int main(void) {
  size_t n;
  char *data = any_block(&n);
  struct printbuf *buffer = printbuf_new();
  printbuf_memappend(buffer, "<", 1);
  printbuf_memappend(buffer, data, (int)n);
  printbuf_memset(buffer, -1, '>', (int)n);
  assert((size_t)printbuf_length(buffer) == 2 * n + 1);
  assert(buffer->buf[0] == '<' && memcmp(buffer->buf + 1, data, n) == 0);
  if (n)
    assert(buffer->buf[2 * n] == '>' && buffer->buf[n + 1] == '>');
  printbuf_free(buffer);
  return 0;
}
