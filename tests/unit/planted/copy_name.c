/* The string may be longer than the place for it: an answer says how long. */
/* UNIT: copy_name --summaries copy_name.toml */
#include <string.h>
struct user { int id; char name[8]; };
extern int fetch_name(int id, char *name);

int copy_name(struct user *user, int id) {
  char name[16];
  if (id <= 0) return -1;
  if (fetch_name(id, name)) return -2;
  name[15] = 0;
  user->id = id;
  strcpy(user->name, name); /* ERROR: out-of-bounds answer */
  return 0;
}
