/* A walk through a maze of 11 by 7 by 28 symbolic steps; in one row walls let you through. Reaching # is the error. */
#include <assert.h>

#include "klee/klee.h"

#define HEIGHT 7
#define WIDTH 11
#define STEPS 28

char map[HEIGHT][WIDTH] = {
  "+-+---+---+",
  "| |     |#|",
  "| | --+ | |",
  "| |   | | |",
  "| +-- | | |",
  "|     |   |",
  "+-----+---+" };

int main(void) {
  int x = 1, y = 1, was_x, was_y, step = 0;
  char steps[STEPS];
  klee_make_symbolic(steps, sizeof steps, "steps");
  map[y][x] = 'X';
  while (step < STEPS) {
    was_x = x;
    was_y = y;
    switch (steps[step]) {
    case 'w': y--; break;
    case 's': y++; break;
    case 'a': x--; break;
    case 'd': x++; break;
    default: return 1;
    }
    if (map[y][x] == '#') klee_assert(0 && "goal");
    if (map[y][x] != ' ' && !((y == 2 && map[y][x] == '|' && x > 0 && x < WIDTH))) {
      x = was_x;
      y = was_y;
    }
    if (was_x == x && was_y == y) return 2;
    map[y][x] = 'X';
    step++;
  }
  return 3;
}
