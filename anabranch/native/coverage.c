/* Counters of a program instrumented for coverage, kept in a file while it runs.
 *
 * The instrumented module has one byte for every piece of code and side of a branch, on pages of its own. The
 * file that ANABRANCH_COVERAGE names is mapped over them before main, so that what was reached is in the file
 * however the program ends: by exit, _exit, a signal, in a child. The variable is taken away again.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern unsigned char anabranch_counters[];
extern const unsigned long anabranch_counters_size;

__attribute__((constructor(2))) static void keep_counters(void) {
  const char *name = getenv("ANABRANCH_COVERAGE");
  if (!name) return;
  int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) {
    if (!ftruncate(file, (off_t)anabranch_counters_size))
      mmap(anabranch_counters, anabranch_counters_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
  }
  unsetenv("ANABRANCH_COVERAGE");
}
