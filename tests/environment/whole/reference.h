/* String functions in plain C, over blocks whose ends are known: what the models are proved against.
 *
 * A read beyond the end of a block sets `overrun` and ends the function; its result does not count then.
 */
#include <errno.h>
#include <stddef.h>

typedef struct {
  const char *p;
  size_t n; /* bytes that may be read */
} Block;

static int overrun;

#define AT(a, i) ({ if ((i) >= (a).n) { overrun = 1; return 0; } (unsigned char)(a).p[i]; })

static int lower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
static int same(int c) { return c; }

static size_t ref_strnlen(Block s, size_t n) {
  size_t i = 0;
  while (i < n && AT(s, i)) i++;
  return i;
}

static size_t ref_strlen(Block s) { return ref_strnlen(s, (size_t)-1); }

static int ref_compare(Block a, Block b, size_t n, int ends, int (*key)(int)) {
  for (size_t i = 0; i < n; i++) {
    int x = key(AT(a, i)), y = key(AT(b, i));
    if (x != y) return x - y;
    if (ends && !x) return 0;
  }
  return 0;
}

static const char *ref_memchr(Block s, int c, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (AT(s, i) == (unsigned char)c) return s.p + i;
  return 0;
}

static const char *ref_memrchr(Block s, int c, size_t n) {
  if (n > s.n) return overrun = 1, (const char *)0;
  while (n--)
    if (AT(s, n) == (unsigned char)c) return s.p + n;
  return 0;
}

static const char *ref_strchrnul(Block s, int c) {
  for (size_t i = 0;; i++) {
    unsigned char x = AT(s, i);
    if (!x || x == (unsigned char)c) return s.p + i;
  }
}

static const char *ref_strchr(Block s, int c) {
  const char *p = ref_strchrnul(s, c);
  if (overrun) return 0;
  return *(unsigned char *)p == (unsigned char)c ? p : 0;
}

static const char *ref_strrchr(Block s, int c) {
  const char *last = 0;
  for (size_t i = 0;; i++) {
    unsigned char x = AT(s, i);
    if (x == (unsigned char)c) last = s.p + i;
    if (!x) return last;
  }
}

static int member(int c, Block set) {
  for (size_t i = 0;; i++) {
    unsigned char x = AT(set, i);
    if (!x) return 0;
    if (x == c) return 1;
  }
}

static size_t ref_span(Block s, Block set, int wanted) {
  ref_strlen(set);
  if (overrun) return 0;
  for (size_t i = 0;; i++) {
    unsigned char x = AT(s, i);
    if (!x || member(x, set) != wanted) return i;
  }
}

static const char *ref_strpbrk(Block s, Block set) {
  size_t i = ref_span(s, set, 0);
  return overrun || !s.p[i] ? 0 : s.p + i;
}

static const char *ref_strstr(Block s, Block t) {
  size_t length = ref_strlen(t);
  if (overrun) return 0;
  for (size_t start = 0;; start++) {
    size_t i = 0;
    for (; i < length; i++)
      if (AT(s, start + i) != (unsigned char)t.p[i]) break;
    if (i == length) return s.p + start;
    if (!s.p[start + i]) return 0;
  }
}

static const char *ref_memmem(Block s, Block t) {
  for (size_t start = 0; start + t.n <= s.n; start++) {
    size_t i = 0;
    while (i < t.n && s.p[start + i] == t.p[i]) i++;
    if (i == t.n) return s.p + start;
  }
  return 0;
}

/* Copies return the index of the first byte not copied; a write beyond `room` is an overrun. */

static size_t ref_copy(char *to, size_t room, Block s, size_t n, int pads, int closes) {
  size_t i = 0, length;
  for (; i < n; i++) {
    char c = AT(s, i);
    if (i >= room) return overrun = 1, 0;
    to[i] = c;
    if (!c) break;
  }
  length = i;
  if (i == n && closes) {
    if (i >= room) return overrun = 1, 0;
    to[i] = 0;
  }
  for (; pads && i < n; i++) {
    if (i >= room) return overrun = 1, 0;
    to[i] = 0;
  }
  return length;
}

static size_t ref_append(char *to, size_t room, Block s, size_t n) {
  Block before = {to, room};
  size_t length = ref_strlen(before);
  if (overrun) return 0;
  return ref_copy(to + length, room - length, s, n, 0, 1);
}

/* Numbers: the error is left in `error`, the number of bytes used in `used`. */

static int error;
static size_t used;

static int digit_of(int c, int base) {
  int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
  return d < base ? d : -1;
}

static long ref_number(Block s, int base, int is_signed, int plain) {
  size_t i = 0, begin;
  int negative = 0, too_large = 0;
  unsigned long value = 0, limit;
  error = 0, used = 0;
  while (AT(s, i) == ' ' || (AT(s, i) >= 9 && AT(s, i) <= 13)) i++;
  if (AT(s, i) == '-') negative = 1, i++;
  else if (AT(s, i) == '+') i++;
  if ((base == 0 || base == 16) && AT(s, i) == '0') {
    unsigned char x = AT(s, i + 1);
    if ((x == 'x' || x == 'X') && digit_of(AT(s, i + 2), 16) >= 0) base = 16, i += 2;
    else if (!base) base = 8;
  }
  if (!base) base = 10;
  begin = i;
  for (;; i++) {
    int d = digit_of(AT(s, i), base);
    if (d < 0) break;
    if (!plain && (value > -1UL / base || value * base > -1UL - d)) too_large = 1;
    if (!too_large) value = value * base + d;
  }
  if (i == begin) return error = plain ? 0 : EINVAL, 0;
  used = i;
  if (plain) return negative ? -value : value;
  limit = !is_signed ? -1UL : negative ? 1UL << 63 : (1UL << 63) - 1;
  if (too_large || value > limit) return error = ERANGE, limit;
  return negative ? -value : value;
}
