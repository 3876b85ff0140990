/* Where a program was when it ended: whether the last access, call or division of its own code was at the line in
 * question. An instrumented program tells before each; the file that ANABRANCH_LAST_LINE names keeps the last word,
 * however the program ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned char none, *seen = &none;

void anabranch_at(unsigned char there) { *seen = there; }

/* By system calls: a harness may define `open` and its like itself. */
__attribute__((constructor(2))) static void start_last_line(void) {
  const char *name = getenv("ANABRANCH_LAST_LINE");
  long file = name ? syscall(SYS_open, name, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0) {
    long at = syscall(SYS_mmap, 0, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != -1) seen = (unsigned char *)at;
    syscall(SYS_close, file);
  }
  unsetenv("ANABRANCH_LAST_LINE");
}
