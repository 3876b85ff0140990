/* Trusts a number that comes from outside. */
/* UNIT: name_of_event */
extern int next_event(int queue, int *more);
static const char *const names[] = {"none", "key", "button", "motion"};
static int seen[4];

const char *name_of_event(int queue) {
  int more = 0;
  int event = next_event(queue, &more);
  if (event > 3) return "unknown";
  seen[event]++; /* ERROR: out-of-bounds answer */
  return names[event];
}
