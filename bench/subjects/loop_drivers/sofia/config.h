/* What the files of sofia-sip that the drivers use ask of their configuration. */
#define HAVE_INTTYPES_H 1
#define HAVE_STDINT_H 1
#define HAVE_STRTOULL 1
