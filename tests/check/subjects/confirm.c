/* Reports for --confirm: what the engine can make happen, what it can prove impossible, and what it cannot decide. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pwd.h>

struct node { int value; struct node *next; char *name; };
struct node *lookup(const char *key);

int unchecked(int n) {
  struct node *node = malloc(sizeof *node);
  node->value = n; /* confirmed: malloc fails */
  n += node->value;
  free(node);
  return n;
}

static int value_of(struct node *node, int plus) {
  return node->value + plus; /* confirmed from through_calls: lookup returns NULL */
}

static int twice(struct node *node, int plus) { return 2 * value_of(node, plus); }

int through_calls(const char *key, int plus) {
  if (plus < 0 || plus > 1000) return 0;
  struct node *node = lookup(key);
  if (plus == 77) return twice(node, plus);
  return node ? twice(node, 1) : 0;
}

int scanned(FILE *file) {
  char word[40];
  int number;
  if (fscanf(file, "%39s %d", word, &number) != 2) return -1;
  char *colon = strchr(word, ':');
  if (number == 1234)
    *colon = 0; /* confirmed: no colon in what was read */
  return number;
}

int second(const char *name) {
  char *copy = strdup(name);
  if (!copy) return 1;
  char *again = strdup(copy);
  again[0] = 'x'; /* confirmed: the second strdup fails */
  free(copy);
  free(again);
  return 0;
}

int stream(const char *name) {
  FILE *file = fopen(name, "r");
  int c = name[0] == '-' ? 0 : fgetc(file); /* confirmed: fopen fails */
  if (file) fclose(file);
  return c;
}

static int parity(unsigned char byte) {
  int odd = 0;
  while (byte) {
    odd ^= byte & 1;
    byte >>= 1;
  }
  return odd;
}

int never(unsigned char byte) {
  int *nothing = 0;
  if (parity(byte) > 1)
    return *nothing; /* impossible: the parity is 0 or 1 */
  return 0;
}

int rarely(const char *text) {
  int *nothing = 0, seen = 0;
  for (int i = 0; text[i]; i++) seen += text[i] == 'x';
  if (seen > 200)
    return *nothing; /* open: buffers are not that long */
  return 0;
}
