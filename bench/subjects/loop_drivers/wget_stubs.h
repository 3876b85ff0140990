/* What url.c and utils.c of wget use of its other files. */
#include <wget.h>
#include <utils.h>
#include <url.h>

struct options opt;

void *xmalloc(size_t size) { return malloc(size); }
void *xrealloc(void *old, size_t size) { return realloc(old, size); }
char *xstrdup(const char *s) { return strdup(s); }
