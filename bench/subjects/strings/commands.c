/* A line of a protocol: a command, looked up by name with case or without, and its argument. */
#include <klee/klee.h>
#include <string.h>
#include <strings.h>

static const char *const commands[] = {"get", "set", "list", "quit", "delete", "insert", "select", "update"};

int main(void) {
  char line[SIZE];
  klee_make_symbolic(line, sizeof line, "line");
  line[SIZE - 1] = 0;
  char *space = strchr(line, ' ');
  if (!space) return 1;
  *space = 0;
  for (int i = 0; i < 8; i++)
    if (!strcasecmp(line, commands[i])) {
      if (!strcmp(space + 1, "all")) return 10 + i;
      return 20 + i;
    }
  return 2;
}
