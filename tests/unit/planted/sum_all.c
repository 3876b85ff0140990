/* One turn too many, whatever the arguments are; a branch before it changes nothing. */
/* UNIT: sum_all */
int sum_all(int start, int negative) {
  int table[4], sum = start;
  if (negative > 10) sum = -sum;
  else if (negative) sum = 0;
  for (int i = 0; i <= 4; i++) table[i] = i; /* ERROR: out-of-bounds none */
  return sum + table[2];
}
