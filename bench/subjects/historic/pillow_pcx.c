/* Pillow: a PCX image of 8x2 pixels in lines whose length the file tells, and 12 bytes of data. */
#include "pillow_image.h"
#include <klee/klee.h>

int main(void) {
  struct { UINT8 line, data[12]; } in;
  klee_make_symbolic(&in, sizeof in, "input");
  if (in.line == 0 || in.line > 32) return 0;
  Imaging image = image_of("P", 1, 8, 2);
  struct ImagingCodecStateInstance state = state_of(image, in.line);
  ImagingPcxDecode(image, &state, in.data, sizeof in.data);
  return 0;
}
