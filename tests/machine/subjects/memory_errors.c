// Every kind of bad access, one a path; each names the access and the object it hit.
// EXPECT paths: exit 0 error 30
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

static int global[4] = {1, 2, 3, 4};
static const int table[4] = {1, 2, 3, 4};
struct node { int value; struct node *next; } end;

static int *local_address(void) {
  int mine = 5;
  int *volatile p = &mine;
  return p;
}

static int below(int *p, int by) { return p[-by]; } /* ERROR: out-of-bounds NEAR: below(p= */
static void release(void *p) { free(p); } /* ERROR: double-free NEAR: freed */

static int choose_bug(int which, volatile int zero) {
  int on_stack[4] = {1, 2, 3, 4};
  int *heap = malloc(4 * sizeof(int));
  memset(heap, 0, 16);
  char *text = "constant";
  switch (which) {
  case 0: return *(int *)(long)zero; /* ERROR: null-pointer NEAR: read of 4 bytes */
  case 1: *(char *)(long)zero = 1; return 0; /* ERROR: null-pointer NEAR: write of 1 byte */
  case 2: return ((struct node *)(long)zero)->next != 0; /* ERROR: null-pointer NEAR: address: 0x8 */
  case 3: return *(int *)0x123456789abcdef0; /* ERROR: wild-pointer NEAR: wild */
  case 4: return on_stack[4 + zero]; /* ERROR: out-of-bounds NEAR: stack object */
  case 5: on_stack[4 + zero] = 1; return on_stack[0]; /* ERROR: out-of-bounds NEAR: write of 4 bytes */
  case 6: return heap[4 + zero]; /* ERROR: out-of-bounds NEAR: offset: 16 */
  case 7: heap[4 + zero] = 1; return 0; /* ERROR: out-of-bounds NEAR: of 16 bytes allocated at */
  case 8: return global[4 + zero]; /* ERROR: out-of-bounds NEAR: global object 'global' of 16 bytes */
  case 9: global[1000000 + zero] = 1; return 0; /* ERROR: out-of-bounds NEAR: offset: 4000000 */
  case 10: return below(on_stack, 1);
  case 11: return heap[zero - 1]; /* ERROR: out-of-bounds NEAR: offset: -4 */
  case 12: return *(int *)((char *)heap + 13 + zero); /* ERROR: out-of-bounds NEAR: offset: 13 */
  case 13: free(heap); return heap[zero]; /* ERROR: use-after-free NEAR: freed */
  case 14: free(heap); heap[zero] = 1; return 0; /* ERROR: use-after-free NEAR: write */
  case 15: release(heap); release(heap); return 0;
  case 16: free(heap + 1); return 0; /* ERROR: invalid-free */
  case 17: free(on_stack); return 0; /* ERROR: invalid-free NEAR: stack */
  case 18: free(global); return 0; /* ERROR: invalid-free NEAR: global */
  case 19: free((void *)0x1234567890); return 0; /* ERROR: invalid-free */
  case 20: text[zero] = 'C'; return 0; /* ERROR: read-only NEAR: constant */
  case 21: ((int *)table)[1 + zero] = 9; return 0; /* ERROR: read-only NEAR: 'table' */
  case 22: return *local_address(); /* ERROR: use-after-scope NEAR: out of scope */
  case 23: heap = realloc(heap, 8); return heap[2 + zero]; /* ERROR: out-of-bounds NEAR: of 8 bytes */
  case 24: { int *old = heap; heap = realloc(heap, 64); return old[zero]; } /* ERROR: use-after-free */
  case 25: memset(heap, 0, 17); return 0; /* ERROR: out-of-bounds */
  case 26: memcpy(on_stack, global, 20); return 0; /* ERROR: out-of-bounds */
  case 27: strcpy((char *)heap, "sixteen characters"); return 0; /* ERROR: out-of-bounds */
  case 28: return (int)strlen((char *)(long)zero); /* ERROR: null-pointer */
  default: return ((int *)choose_bug)[zero]; /* ERROR: out-of-bounds NEAR: function */
  }
}

int main(void) { return choose_bug(klee_range(0, 30, "which"), 0); }
