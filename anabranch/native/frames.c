/* Locals of functions that have returned: the half of the address checks that finds their use.
 *
 * A function instrumented with -fsanitize-address-use-after-return=always asks here for a frame to put its locals in,
 * and says when it returns. A frame that was given back stays poisoned until all others of its size have been used:
 * frames of a size stand in a ring, and the next one is taken. A function for which none is free (deep recursion)
 * gets 0 and uses the stack as ever.
 *
 * The compiler's part of the agreement: sizes are 64 << class; the flag of a frame is found by the pointer in its
 * last word, is 1 while the frame is used, and is cleared by the program itself for small classes.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* no_builtin: a loop over shadow bytes must not become a call of the checked memset */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined"), no_builtin))

void __asan_init(void);

enum { CLASSES = 11, SMALLEST = 64, RING = 16 << 20, TRIES = 8, AFTER_RETURN = 0xf5, RIGHT_ZONE = 0xf3 };

/* What the run-time keeps in a frame: behind three words of the compiler the stack pointer of the function. */
struct frame { uintptr_t compiler[3], stack; };

static struct { unsigned char *frames, *flags; size_t next; } rings[CLASSES];
int anabranch_frames_left; /* set by checks.c when frames may have been left without a return */

UNCHECKED static void shade(uintptr_t from, size_t size, unsigned char value) {
  unsigned char *shadow = (unsigned char *)((from >> 3) + 0x7fff8000ul);
  for (size_t i = 0; i < size / 8; i++) shadow[i] = value;
}

UNCHECKED static int make_ring(int class) {
  size_t frame = (size_t)SMALLEST << class, slack = (size_t)SMALLEST << (CLASSES - 1), flags = RING / frame;
  void *at = mmap(0, RING + slack + flags, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return 0;
  uintptr_t aligned = ((uintptr_t)at + slack - 1) & ~(slack - 1);
  rings[class].flags = (unsigned char *)aligned + RING;
  rings[class].frames = (unsigned char *)aligned;
  return 1;
}

UNCHECKED static uintptr_t take(int class, size_t size, uintptr_t stack) {
  __asan_init();
  if (!rings[class].frames && !make_ring(class)) return 0;
  size_t whole = (size_t)SMALLEST << class, count = RING / whole;
  for (int i = 0; i < TRIES; i++) {
    size_t number = rings[class].next;
    rings[class].next = number + 1 == count ? 0 : number + 1;
    unsigned char *flag = rings[class].flags + number;
    struct frame *frame = (struct frame *)(rings[class].frames + number * whole);
    /* A frame of a function that longjmp has left is never given back: it lies below all that still runs. */
    if (*flag && !(anabranch_frames_left && frame->stack < stack && stack - frame->stack < RING)) continue;
    *flag = 1;
    frame->stack = stack;
    *(unsigned char **)((uintptr_t)frame + whole - sizeof flag) = flag;
    shade((uintptr_t)frame, (size + 7) & ~7ul, 0);
    shade((uintptr_t)frame + ((size + 7) & ~7ul), whole - ((size + 7) & ~7ul), RIGHT_ZONE);
    return (uintptr_t)frame;
  }
  return 0;
}
UNCHECKED static void give_back(int class, uintptr_t frame) {
  size_t whole = (size_t)SMALLEST << class;
  shade(frame, whole, AFTER_RETURN);
  **(unsigned char **)(frame + whole - sizeof(unsigned char *)) = 0;
}

#define CLASS(n)                                                                       \
  UNCHECKED uintptr_t __asan_stack_malloc_always_##n(size_t size) {                    \
    return take(n, size, (uintptr_t)__builtin_frame_address(0));                       \
  }                                                                                    \
  UNCHECKED uintptr_t __asan_stack_malloc_##n(size_t size) {                           \
    return take(n, size, (uintptr_t)__builtin_frame_address(0));                       \
  }                                                                                    \
  UNCHECKED void __asan_stack_free_##n(uintptr_t frame, size_t size) { (void)size; give_back(n, frame); }
CLASS(0) CLASS(1) CLASS(2) CLASS(3) CLASS(4) CLASS(5) CLASS(6) CLASS(7) CLASS(8) CLASS(9) CLASS(10)
