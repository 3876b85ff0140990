/* UNIT: last_digit */
/* The remainder of a negative number is negative: the byte before a constant, which is memory like any other. */

char last_digit(int number) {
  return "0123456789"[number % 10]; /* ERROR: out-of-bounds argument */
}
