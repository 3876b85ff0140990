/* The state of the whole program decides. */
/* UNIT: close_session */
#include <assert.h>
struct session { int users; struct session *parent; };
struct session *current;
static int open_sessions;

int close_session(int force) {
  if (force > 1) return -1;
  if (open_sessions == 0) return 0;
  if (--current->users == 0 || force) { /* ERROR: null-pointer argument */
    current = current->parent;
    open_sessions--;
  }
  return open_sessions;
}
