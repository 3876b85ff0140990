/* Concrete: ITER passes over 1,024 words in memory. */
#ifndef ITER
#define ITER 2000
#endif
unsigned words[1024];
int main(void) {
  unsigned sum = 0;
  for (int i = 0; i < ITER; i++)
    for (int j = 0; j < 1024; j++) {
      words[j] = words[j] * 3u + (unsigned)(i ^ j);
      sum += words[j];
    }
  return (int)(sum & 0x7f);
}
