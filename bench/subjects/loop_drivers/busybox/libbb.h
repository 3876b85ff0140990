/* busybox compiles every file with its configuration included first. */
#include <autoconf.h>
#include_next <libbb.h>
