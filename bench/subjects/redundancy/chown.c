/* Section 3.2 of Bugrara and Engler: options of chown decide about code that no path reaches until both are given.
 * The arguments are three and sixteen symbolic bytes; who owns the file is decided by four more. */
#include "klee/klee.h"

struct options {
  int recurse;
  const char *user_name, *group_name;
};

static struct options chopt;
static volatile int changed;

static int same(const char *a, const char *b) {
  while (*a == *b && *a) a++, b++;
  return *a == *b;
}

static const char *name_of(unsigned char id) {
  if (id == 0) return "root";
  if (id == 1) return "daemon";
  return 0;
}

static int chown_file(const struct options *options) {
  changed++;
  return options->user_name != 0 || options->group_name != 0;
}

int main(void) {
  char first[3], second[16];
  unsigned char reference_file, user, group, given;
  klee_make_symbolic(first, sizeof first, "first");
  klee_make_symbolic(second, sizeof second, "second");
  klee_make_symbolic(&reference_file, 1, "reference_file");
  klee_make_symbolic(&user, 1, "user");
  klee_make_symbolic(&group, 1, "group");
  klee_make_symbolic(&given, 1, "given");
  first[sizeof first - 1] = second[sizeof second - 1] = 0;
  int preserve_root = 0;
  if (same(first, "-R")) chopt.recurse = 1;
  if (same(second, "--preserve-root")) preserve_root = 1;
  if (reference_file) {
    chopt.user_name = name_of(user);
    chopt.group_name = name_of(group);
  } else {
    if (given) chopt.group_name = "staff";
    if (!chopt.user_name && chopt.group_name) chopt.user_name = "";
  }
  if (chopt.recurse)
    if (preserve_root) changed++;
  int ok = chown_file(&chopt);
  return !ok;
}
