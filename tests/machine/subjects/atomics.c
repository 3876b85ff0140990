// Atomics as a single thread sees them.
// EXPECT paths: exit 5 error 0
#include <klee/klee.h>
#include <assert.h>
#include <stdatomic.h>

static _Atomic int counter;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic unsigned char tiny = 250;

int main(void) {
  int plain = 5, expected;
  assert(__atomic_fetch_add(&plain, 3, __ATOMIC_SEQ_CST) == 5 && plain == 8);
  assert(__atomic_sub_fetch(&plain, 1, __ATOMIC_RELAXED) == 7);
  assert(__atomic_fetch_or(&plain, 8, __ATOMIC_SEQ_CST) == 7 && plain == 15);
  assert(__atomic_fetch_and(&plain, 6, __ATOMIC_SEQ_CST) == 15 && plain == 6);
  assert(__atomic_fetch_xor(&plain, 2, __ATOMIC_SEQ_CST) == 6 && plain == 4);
  assert(__atomic_fetch_nand(&plain, 4, __ATOMIC_SEQ_CST) == 4 && plain == ~4);
  assert(__atomic_exchange_n(&plain, 100, __ATOMIC_SEQ_CST) == ~4);
  assert(__atomic_fetch_max(&plain, 200, __ATOMIC_SEQ_CST) == 100 && plain == 200);
  assert(__atomic_fetch_min(&plain, -1, __ATOMIC_SEQ_CST) == 200 && plain == -1);
  expected = 3;
  assert(!__atomic_compare_exchange_n(&plain, &expected, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && expected == -1);
  assert(__atomic_compare_exchange_n(&plain, &expected, 9, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && plain == 9);
  assert(__sync_fetch_and_add(&plain, 1) == 9 && __sync_bool_compare_and_swap(&plain, 10, 11) && plain == 11);
  counter++;
  counter += 5;
  assert(counter == 6 && atomic_load(&counter) == 6);
  atomic_store(&counter, -7);
  assert(atomic_fetch_sub(&counter, 3) == -7 && counter == -10);
  tiny += 10;
  assert(tiny == 4);
  assert(!atomic_flag_test_and_set(&flag) && atomic_flag_test_and_set(&flag));
  atomic_flag_clear(&flag);
  assert(!atomic_flag_test_and_set(&flag));
  atomic_thread_fence(memory_order_seq_cst);
  int *pointer = &plain;
  int *_Atomic shared = pointer;
  assert(atomic_exchange(&shared, &expected) == pointer && shared == &expected);

  int x = klee_int("x");
  counter = x;
  switch (klee_range(0, 3, "which")) {
  case 0: assert(atomic_fetch_add(&counter, 1) == x && counter == (int)((unsigned)x + 1)); return 0;
  case 1:
    expected = 5;
    if (atomic_compare_exchange_strong(&counter, &expected, 6)) assert(x == 5 && counter == 6);
    else assert(x != 5 && counter == x && expected == x);
    return 0;
  default: __atomic_fetch_max((int *)&plain, x, __ATOMIC_SEQ_CST); assert(plain >= 11); return plain > 11 && x == 50;
  }
}
