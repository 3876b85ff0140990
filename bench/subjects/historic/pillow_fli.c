/* Pillow: a frame of an FLI animation of 6x2 pixels: changes of lines, 8 unknown bytes, then a copy of all lines. */
#include "pillow_image.h"
#include <klee/klee.h>

enum { HEADER = 16, CHANGES = 8, COPY = 12, SIZE = HEADER + 6 + CHANGES + 6 + COPY };

int main(void) {
  UINT8 changes[CHANGES];
  klee_make_symbolic(changes, sizeof changes, "input");
  UINT8 *frame = calloc(1, SIZE);
  frame[0] = SIZE;
  frame[4] = 0xfa;
  frame[5] = 0xf1;
  frame[6] = 2;
  frame[HEADER] = 6 + CHANGES;
  frame[HEADER + 4] = 12;
  memcpy(frame + HEADER + 6, changes, CHANGES);
  frame[HEADER + 6 + CHANGES] = 6 + COPY;
  frame[HEADER + 6 + CHANGES + 4] = 16;
  Imaging image = image_of("P", 1, 6, 2);
  struct ImagingCodecStateInstance state = state_of(image, 6);
  ImagingFliDecode(image, &state, frame, SIZE);
  return 0;
}
