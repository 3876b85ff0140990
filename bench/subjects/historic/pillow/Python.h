/* As much of Python's header as the decoders of Pillow need. */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define PY_VERSION_HEX 0x03090000
#define HAVE_PROTOTYPES 1
#define STDC_HEADERS 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define PY_SSIZE_T_MAX INT64_MAX

typedef ssize_t Py_ssize_t;
typedef struct { long references; } PyObject;
typedef struct { long references; } PyTypeObject;
typedef void *PyThreadState;
