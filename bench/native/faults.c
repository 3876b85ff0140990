/* Objects that know their state: the reference semantics of memory faults (macros in faults.h).
 *
 * Every object has a slot of its own and no slot is used twice in a run, so that an address tells for which object
 * it was made, however far outside of it (up to half a slot) it is and whether that object still lives. A byte
 * beside every byte says whether it was written. oracle.c runs the program and restores the section "state".
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__attribute__((noreturn)) void oracle_error(const char *kind, int line);

enum { SLOTS = 1024, SLOT = 8192, MIDDLE = SLOT / 2, NULL_PAGE = 4096 };

static _Alignas(16) unsigned char memory[SLOTS * SLOT], written[SLOTS * SLOT];
static struct { size_t size; const char *dead; int readonly, heap; } objects[SLOTS];
static __attribute__((section("state"), used)) unsigned used_slots = 0;

static unsigned char *make(size_t size, int heap) {
  if (used_slots == SLOTS || size > MIDDLE) oracle_error("unintended-slot", 0);
  unsigned slot = used_slots++;
  objects[slot].size = size;
  objects[slot].dead = 0;
  objects[slot].readonly = 0;
  objects[slot].heap = heap;
  unsigned char *at = memory + (size_t)slot * SLOT + MIDDLE;
  memset(at, 0xa5, size);
  memset(written + (at - memory), 0, size);
  return at;
}
static int slot_of(const void *p) {
  uintptr_t offset = (uintptr_t)p - (uintptr_t)memory;
  return offset < (uintptr_t)used_slots * SLOT ? (int)(offset / SLOT) : -1;
}
/* The object of an access, if the access is one that the object allows. */
static int check(const void *p, size_t size, int write, int line) {
  uintptr_t address = (uintptr_t)p;
  if (address + NULL_PAGE < 2 * NULL_PAGE) oracle_error("null-pointer", line);
  int slot = slot_of(p);
  if (slot < 0) oracle_error("unintended-pointer", line);
  if (objects[slot].dead) oracle_error(objects[slot].dead, line);
  size_t offset = (size_t)(address - (uintptr_t)memory) % SLOT - MIDDLE;
  if (offset > objects[slot].size || size > objects[slot].size - offset) oracle_error("out-of-bounds", line);
  if (write && objects[slot].readonly) oracle_error("read-only", line);
  return slot;
}
static unsigned char *marks(const void *p) { return written + ((const unsigned char *)p - memory); }

void *faults_local(size_t size) { return make(size, 0); }
void *faults_heap(size_t size) { return size >> 47 ? 0 : make(size, 1); }
void faults_fill(void *p, const void *content, size_t size) {
  memcpy(p, content, size);
  memset(marks(p), 1, size);
}
void *faults_global(size_t size, const void *content, int readonly) {
  unsigned char *at = make(size, 0);
  faults_fill(at, content, size);
  objects[slot_of(at)].readonly = readonly;
  return at;
}
void *faults_zeroed(size_t count, size_t size) {
  if (size && count > ((size_t)1 << 47) / size) return 0;
  unsigned char *at = make(count * size, 1);
  memset(at, 0, count * size);
  memset(marks(at), 1, count * size);
  return at;
}
void faults_end(void *pointer) { objects[slot_of(*(void **)pointer)].dead = "use-after-scope"; }
void faults_release(void *p, int line) {
  if (!p) return;
  int slot = slot_of(p);
  if (slot < 0) oracle_error("unintended-pointer", line);
  if (objects[slot].heap && objects[slot].dead) oracle_error("double-free", line);
  if (!objects[slot].heap || (unsigned char *)p != memory + (size_t)slot * SLOT + MIDDLE)
    oracle_error("invalid-free", line);
  objects[slot].dead = "use-after-free";
}
/* Bytes that were never written are copied as unwritten. */
void *faults_resized(void *p, size_t size, int line) {
  if (!p) return faults_heap(size);
  faults_release(p, line);
  if (size >> 47) {
    objects[slot_of(p)].dead = 0;
    return 0;
  }
  unsigned char *at = make(size, 1);
  size_t kept = objects[slot_of(p)].size < size ? objects[slot_of(p)].size : size;
  memcpy(at, p, kept);
  memcpy(marks(at), marks(p), kept);
  return at;
}

void *faults_read(const void *p, size_t size, int line) {
  check(p, size, 0, line);
  return (void *)p;
}
/* The caller writes all of it. */
void *faults_write(void *p, size_t size, int line) {
  check(p, size, 1, line);
  memset(marks(p), 1, size);
  return p;
}
/* A read whose value decides something. */
void *faults_use(const void *p, size_t size, int line) {
  check(p, size, 0, line);
  for (size_t i = 0; i < size; i++)
    if (!marks(p)[i]) oracle_error("uninitialised", line);
  return (void *)p;
}
size_t faults_length(const char *p, int line) {
  size_t length = 0;
  while (*(const char *)faults_use(p + length, 1, line)) length++;
  return length;
}
/* A copy of bytes that were never written is no error: the copy is as unwritten. */
void faults_move(void *to, const void *from, size_t size, int line) {
  if (!size) return;
  check(from, size, 0, line);
  check(to, size, 1, line);
  memmove(to, from, size);
  memmove(marks(to), marks(from), size);
}
void faults_copy(void *to, const void *from, size_t size, int line) { faults_move(to, from, size, line); }
void faults_set(void *to, int value, size_t size, int line) {
  if (!size) return;
  check(to, size, 1, line);
  memset(to, value, size);
  memset(marks(to), 1, size);
}
long long faults_index(long long index, long long count, int line) {
  if (index < 0 || index >= count) oracle_error("out-of-bounds", line);
  return index;
}
