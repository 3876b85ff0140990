/* A ring buffer whose last place is one too many. */
/* UNIT: ring_push */
enum { SIZE = 8 };
struct ring { unsigned head, tail; unsigned char flags; unsigned values[SIZE]; };

int ring_push(struct ring *ring, unsigned value) {
  unsigned next = ring->head + 1;
  if (ring->head > SIZE) return -1;
  if (next == ring->tail) return -2;
  ring->values[ring->head] = value; /* ERROR: out-of-bounds argument */
  ring->head = next;
  return 0;
}
