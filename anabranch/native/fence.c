/* Linked in front of a checked program. The compiler puts red zones behind globals only: those behind these
 * stand before the first variable of the program, initialised or not. They are static because the compiler adds
 * something of its own, which has no red zone, for every other global. Constants have no such fence: the linker
 * puts strings between them. */
#define FENCE __attribute__((used)) static
FENCE char data[64] = {1};
FENCE char zero[64];
