/* Pillow: run-length coded data of a TGA image of 4x3 pixels, 12 bytes. */
#include "pillow_image.h"
#include <klee/klee.h>

int main(void) {
  UINT8 bytes[12];
  klee_make_symbolic(bytes, sizeof bytes, "input");
  UINT8 *data = malloc(sizeof bytes);
  memcpy(data, bytes, sizeof bytes);
  Imaging image = image_of("L", 1, 4, 3);
  struct ImagingCodecStateInstance state = state_of(image, 4);
  state.count = 1;
  ImagingTgaRleDecode(image, &state, data, sizeof bytes);
  return 0;
}
