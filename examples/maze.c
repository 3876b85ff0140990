/*
 * A bug found. A walker in a maze reads its moves from the input; the floor crumbles behind it, so that no cell
 * can be entered twice. Reaching the treasure fails an assertion: the tests of the failing paths are the ways there.
 *
 *     anabranch run examples/maze.c
 */
#include <assert.h>
#include <klee/klee.h>
#include <stdio.h>

#define ROWS 6
#define COLUMNS 9
#define STEPS 14

enum outcome { LOST, FELL, RICH };

/* '#' wall, 'o' pit, 'T' treasure, '>' and 'v' doors that only let you through eastwards and southwards. */
static char maze[ROWS][COLUMNS + 1] = {
    "#########",
    "#S #    #",
    "#  > ## #",
    "##v##   #",
    "#  o#T# #",
    "#########",
};

static enum outcome walk(const char *moves) {
    int row = 1, column = 1;
    for (int step = 0; step < STEPS; step++) {
        maze[row][column] = 'o';
        switch (moves[step]) {
        case 'n':
            row--;
            break;
        case 's':
            row++;
            break;
        case 'e':
            column++;
            break;
        case 'w':
            column--;
            break;
        default:
            return LOST;
        }
        switch (maze[row][column]) {
        case '#':
            return LOST;
        case 'o':
            return FELL;
        case 'T':
            return RICH;
        case '>':
            if (moves[step] != 'e')
                return LOST;
            break;
        case 'v':
            if (moves[step] != 's')
                return LOST;
            break;
        }
    }
    return LOST;
}

int main(void) {
    char moves[STEPS];
    klee_make_symbolic(moves, sizeof moves, "moves");

    enum outcome outcome = walk(moves);
    if (outcome == FELL)
        puts("down the pit");
    assert(outcome != RICH);
    return 0;
}
