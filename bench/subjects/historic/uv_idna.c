/* libuv: a host name of 5 bytes to be encoded as ASCII. */
#include "uv.h"
#include "idna.h"
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char bytes[5], encoded[64];
  klee_make_symbolic(bytes, sizeof bytes, "input");
  char *name = malloc(sizeof bytes);
  memcpy(name, bytes, sizeof bytes);
  uv__idna_toascii(name, name + sizeof bytes, encoded, encoded + sizeof encoded);
  return 0;
}
