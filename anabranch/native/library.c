/* Functions of the C library byte by byte, to be compiled with checks of addresses: the library is not, so that
 * what it reads or writes outside of an object would go unseen. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>

typedef unsigned char byte;

long syscall(long number, ...);
void *malloc(size_t);
char *strchr(const char *s, int c);

__attribute__((noreturn)) void check_fail(const char *kind, unsigned line); /* undefined.c */

static int lower(char c) { return (byte)c - 'A' < 26u ? c + 32 : (byte)c; }

static void touch(const void *data, size_t size) {
  for (size_t i = 0; i < size; i++) (void)((const volatile byte *)data)[i];
}

/* A string is not copied to where it overlaps itself; accesses that are not allowed come first. */
static void copies(const char *to, size_t written, const char *from, size_t read) {
  size_t ahead = (size_t)to - (size_t)from;
  touch(from, read);
  touch(to, written);
  if (ahead && (ahead < read || -ahead < written)) check_fail("overlap", 0);
}

static size_t span(const char *s, const char *set, int wanted) {
  size_t n = 0;
  while (s[n] && !!strchr(set, s[n]) == wanted) n++;
  return n;
}

/* A harness may define functions of these names itself. */
#pragma clang attribute push(__attribute__((weak)), apply_to = function)

size_t strlen(const char *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}

size_t strnlen(const char *s, size_t most) {
  size_t n = 0;
  while (n < most && s[n]) n++;
  return n;
}

char *stpcpy(char *to, const char *from) {
  size_t size = strlen(from) + 1;
  copies(to, size, from, size);
  while ((*to = *from++)) to++;
  return to;
}

char *strcpy(char *to, const char *from) {
  stpcpy(to, from);
  return to;
}

char *stpncpy(char *to, const char *from, size_t n) {
  size_t length = strnlen(from, n);
  copies(to, n, from, length < n ? length + 1 : n);
  while (n && (*to = *from)) to++, from++, n--;
  for (size_t i = 0; i < n; i++) to[i] = 0;
  return to;
}

char *strncpy(char *to, const char *from, size_t n) {
  stpncpy(to, from, n);
  return to;
}

char *strcat(char *to, const char *from) {
  stpcpy(to + strlen(to), from);
  return to;
}

char *strncat(char *to, const char *from, size_t n) {
  char *at = to + strlen(to);
  size_t length = strnlen(from, n);
  copies(at, length + 1, from, length < n ? length + 1 : n);
  while (n && *from) *at++ = *from++, n--;
  *at = 0;
  return to;
}

int memcmp(const void *a, const void *b, size_t n) {
  const byte *x = a, *y = b;
  for (; n; n--, x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}

int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }

int strncmp(const char *a, const char *b, size_t n) {
  for (; n; n--, a++, b++)
    if (*a != *b || !*a) return (byte)*a - (byte)*b;
  return 0;
}

int strcmp(const char *a, const char *b) { return strncmp(a, b, (size_t)-1); }

int strncasecmp(const char *a, const char *b, size_t n) {
  for (; n; n--, a++, b++)
    if (lower(*a) != lower(*b) || !*a) return lower(*a) - lower(*b);
  return 0;
}

int strcasecmp(const char *a, const char *b) { return strncasecmp(a, b, (size_t)-1); }

void *memchr(const void *s, int c, size_t n) {
  for (const byte *at = s; n; n--, at++)
    if (*at == (byte)c) return (void *)at;
  return 0;
}

void *memrchr(const void *s, int c, size_t n) {
  while (n--)
    if (((const byte *)s)[n] == (byte)c) return (byte *)s + n;
  return 0;
}

char *strchrnul(const char *s, int c) {
  while (*s && *s != (char)c) s++;
  return (char *)s;
}

char *strchr(const char *s, int c) {
  char *at = strchrnul(s, c);
  return *at == (char)c ? at : 0;
}

char *strrchr(const char *s, int c) { return memrchr(s, c, strlen(s) + 1); }

size_t strspn(const char *s, const char *set) { return span(s, set, 1); }

size_t strcspn(const char *s, const char *set) { return span(s, set, 0); }

char *strpbrk(const char *s, const char *set) {
  s += strcspn(s, set);
  return *s ? (char *)s : 0;
}

char *strstr(const char *s, const char *part) {
  size_t n = strlen(part);
  for (;; s++) {
    if (!strncmp(s, part, n)) return (char *)s;
    if (!*s) return 0;
  }
}

char *strndup(const char *s, size_t n) {
  n = strnlen(s, n);
  char *copy = malloc(n + 1);
  if (!copy) return 0;
  for (size_t i = 0; i < n; i++) copy[i] = s[i];
  copy[n] = 0;
  return copy;
}

char *strdup(const char *s) { return strndup(s, strlen(s)); }

/* What the library itself has written is checked when it is there: an error ends the program at once. */

int vsprintf(char *to, const char *format, va_list list) {
  int n = vsnprintf(to, 0x7fffffff, format, list);
  if (n >= 0) touch(to, (size_t)n + 1);
  return n;
}

int sprintf(char *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsprintf(to, format, list);
  va_end(list);
  return n;
}

int snprintf(char *to, size_t size, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(to, size, format, list);
  va_end(list);
  if (n >= 0) touch(to, (size_t)n < size ? (size_t)n + 1 : size);
  return n;
}

size_t fread(void *restrict to, size_t size, size_t count, FILE *restrict file) {
  size_t n = fread_unlocked(to, size, count, file);
  touch(to, n * size);
  return n;
}

char *fgets(char *restrict to, int size, FILE *restrict file) {
  char *line = fgets_unlocked(to, size, file);
  if (line) touch(to, strlen(to) + 1);
  return line;
}

ssize_t write(int file, const void *data, size_t size) {
  touch(data, size);
  return syscall(SYS_write, file, data, size);
}

ssize_t read(int file, void *data, size_t size) {
  static byte part[1 << 20];
  ssize_t n = syscall(SYS_read, file, part, size < sizeof part ? size : sizeof part);
  for (ssize_t i = 0; i < n; i++) ((byte *)data)[i] = part[i];
  return n;
}

#pragma clang attribute pop
