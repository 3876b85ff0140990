/* The name of a file without its directory, with another ending. */
#include <klee/klee.h>
#include <string.h>

int main(void) {
  char path[SIZE], name[2 * SIZE] = "";
  klee_make_symbolic(path, sizeof path, "path");
  path[SIZE - 1] = 0;
  char *slash = strrchr(path, '/');
  strcpy(name, slash ? slash + 1 : path);
  char *dot = strrchr(name, '.');
  if (dot && dot != name) *dot = 0;
  strcat(name, ".o");
  if (!strcmp(name, "main.o")) return 1;
  return strlen(name) > 5 ? 2 : 0;
}
