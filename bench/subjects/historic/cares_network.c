/* c-ares: an IPv6 network that begins with zeros, then 7 unknown slashes, colons and digits below 3. */
#include "ares.h"
#include "ares_inet_net_pton.h"
#include <stdlib.h>
#include <klee/klee.h>
#include <string.h>
#include <sys/socket.h>

int main(void) {
  char text[10] = "::", unknown[7];
  klee_make_symbolic(unknown, sizeof unknown, "input");
  for (int i = 0; i < 7; i++) {
    unsigned char c = unknown[i];
    klee_assume((c >= '/') & (c <= '2') | (c == ':'));
  }
  memcpy(text + 2, unknown, sizeof unknown);
  struct ares_in6_addr *address = malloc(sizeof *address);
  ares_inet_net_pton(AF_INET6, text, address, sizeof *address);
  return 0;
}
