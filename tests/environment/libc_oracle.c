/* Calls C library functions on request, one line each: the truth that the models are compared with.
 *
 * Request:  function argument...   i<number> an integer, s<hex> a buffer of exactly these bytes, d<hex> a double
 * Answer:   result errno buffer...  result: a number, or p<argument>:<offset>, or "new <hex>" for a new string
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct { long number; double real; unsigned char *bytes; size_t size; } a[24];
static int count;

static int nibble(int c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static void hex(const unsigned char *bytes, size_t size) {
  putchar('x');
  for (size_t i = 0; i < size; i++) printf("%02x", bytes[i]);
}

static void finish(void) {
  printf(" %d", errno);
  for (int i = 0; i < count; i++)
    if (a[i].bytes) putchar(' '), hex(a[i].bytes, a[i].size);
  putchar('\n');
  fflush(stdout);
}

static void number(long value) { printf("%ld", value), finish(); }

static void pointer(const void *result) {
  const unsigned char *p = result;
  for (int i = 0; i < count; i++)
    if (a[i].bytes && p >= a[i].bytes && p <= a[i].bytes + a[i].size) {
      printf("p%d:%ld", i, (long)(p - a[i].bytes));
      finish();
      return;
    }
  if (p) printf("new"), hex(p, strlen(result));
  else printf("0");
  finish();
}

static void bits(double value) {
  long n;
  memcpy(&n, &value, 8);
  number(n);
}

static void bits32(float value) {
  int n;
  memcpy(&n, &value, 4);
  number(n);
}

static float f(int i) {
  float value;
  int low = (int)a[i].number;
  memcpy(&value, &low, 4);
  return value;
}

#define S(i) ((char *)a[i].bytes)
#define N(i) (a[i].number)
#define IS(name) (!strcmp(function, name))
#define POINTER(name, ...) if (IS(#name)) { pointer(name(__VA_ARGS__)); continue; }
#define NUMBER(name, ...) if (IS(#name)) { number(name(__VA_ARGS__)); continue; }
#define SIGN(name, ...) if (IS(#name)) { int r = name(__VA_ARGS__); number((r > 0) - (r < 0)); continue; }
#define REAL1(name) if (IS(#name)) { bits(name(a[0].real)); continue; } if (IS(#name "f")) { bits32(name##f(f(0))); continue; }
#define REAL2(name) if (IS(#name)) { bits(name(a[0].real, a[1].real)); continue; } if (IS(#name "f")) { bits32(name##f(f(0), f(1))); continue; }

static void format(void) { /* integers and doubles each in the order of the directives */
  long n[10] = {0};
  double r[8] = {0};
  int ns = 0, rs = 0;
  for (int i = 3; i < count; i++) {
    if (a[i].bytes) n[ns++] = (long)a[i].bytes;
    else if (a[i].size) r[rs++] = a[i].real;
    else n[ns++] = a[i].number;
  }
  number(snprintf(S(0), N(1), S(2), n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], r[0], r[1],
                  r[2], r[3], r[4], r[5], r[6], r[7]));
}

static void tokens(void) {
  char *save = 0, *s = S(0);
  unsigned char offsets[64];
  size_t found = 0;
  for (char *t; (t = strtok_r(s, S(1), &save)); s = 0) offsets[found++] = (unsigned char)(t - S(0));
  hex(offsets, found);
  finish();
}

static void conversion(const char *function) {
  char *end = 0;
  long value = IS("strtol") ? strtol(S(0), &end, N(1)) : (long)strtoul(S(0), &end, N(1));
  printf("%ld:%ld", value, (long)(end - S(0)));
  finish();
}

int main(void) {
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    char *save = 0, *function = strtok_r(line, " \n", &save), *word;
    for (count = 0; (word = strtok_r(0, " \n", &save)); count++) {
      memset(&a[count], 0, sizeof a[count]);
      if (*word == 'i') a[count].number = strtol(word + 1, 0, 10);
      if (*word == 'd') {
        uint64_t n = strtoull(word + 1, 0, 16);
        memcpy(&a[count].real, &n, 8);
        a[count].size = 8;
      }
      if (*word == 's') {
        size_t size = strlen(word + 1) / 2;
        a[count].size = size;
        a[count].bytes = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
          a[count].bytes[i] = (unsigned char)(nibble(word[1 + 2 * i]) << 4 | nibble(word[2 + 2 * i]));
      }
    }
    errno = 0;
    if (IS("snprintf")) { format(); continue; }
    if (IS("tokens")) { tokens(); continue; }
    if (IS("strtol") || IS("strtoul")) { conversion(function); continue; }
    if (IS("rand")) { srand((unsigned)N(0)); rand(); number(rand()); continue; }
    NUMBER(strlen, S(0)) NUMBER(strnlen, S(0), N(1))
    NUMBER(strcmp, S(0), S(1)) NUMBER(strncmp, S(0), S(1), N(2))
    NUMBER(strcasecmp, S(0), S(1)) NUMBER(strncasecmp, S(0), S(1), N(2))
    NUMBER(memcmp, S(0), S(1), N(2))
    NUMBER(strspn, S(0), S(1)) NUMBER(strcspn, S(0), S(1))
    NUMBER(strlcpy, S(0), S(1), N(2)) NUMBER(strlcat, S(0), S(1), N(2))
    POINTER(strchr, S(0), N(1)) POINTER(strchrnul, S(0), N(1)) POINTER(strrchr, S(0), N(1))
    POINTER(strstr, S(0), S(1)) POINTER(strpbrk, S(0), S(1))
    POINTER(memchr, S(0), N(1), N(2)) POINTER(memrchr, S(0), N(1), N(2))
    POINTER(memmem, S(0), N(1), S(2), N(3)) POINTER(memccpy, S(0), S(1), N(2), N(3))
    POINTER(strcpy, S(0), S(1)) POINTER(stpcpy, S(0), S(1)) POINTER(strncpy, S(0), S(1), N(2))
    POINTER(stpncpy, S(0), S(1), N(2)) POINTER(strcat, S(0), S(1)) POINTER(strncat, S(0), S(1), N(2))
    POINTER(strdup, S(0)) POINTER(strndup, S(0), N(1))
    POINTER(memcpy, S(0), S(1), N(2)) POINTER(memmove, S(0), S(0) + N(1), N(2)) POINTER(mempcpy, S(0), S(1), N(2))
    POINTER(memset, S(0), N(1), N(2))
    NUMBER(atoi, S(0)) NUMBER(atol, S(0)) NUMBER(abs, N(0)) NUMBER(labs, N(0))
    NUMBER(isalpha, N(0)) NUMBER(isdigit, N(0)) NUMBER(isspace, N(0)) NUMBER(isupper, N(0))
    NUMBER(islower, N(0)) NUMBER(isalnum, N(0)) NUMBER(isxdigit, N(0)) NUMBER(isprint, N(0))
    NUMBER(isgraph, N(0)) NUMBER(ispunct, N(0)) NUMBER(iscntrl, N(0)) NUMBER(isblank, N(0))
    NUMBER(isascii, N(0)) NUMBER(tolower, N(0)) NUMBER(toupper, N(0)) NUMBER(toascii, N(0))
    REAL1(sqrt) REAL1(fabs) REAL1(floor) REAL1(ceil) REAL1(trunc) REAL1(rint) REAL1(nearbyint) REAL1(round)
    REAL2(fmin) REAL2(fmax) REAL2(copysign) REAL2(fmod)
    NUMBER(__fpclassify, a[0].real) NUMBER(__signbit, a[0].real)
    NUMBER(__fpclassifyf, f(0)) NUMBER(__signbitf, f(0))
    printf("unknown"), finish();
  }
  return 0;
}
