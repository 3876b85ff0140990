/* stb_image: an animation of three frames of one pixel; how they are disposed of and their data are unknown. */
#define STB_IMAGE_IMPLEMENTATION
#include "stb_image.h"
#include <klee/klee.h>

enum { FRAMES = 3, HEADER = 19, FRAME = 23 };

int main(void) {
  struct { unsigned char flags, transparent, data[2]; } in[FRAMES];
  klee_make_symbolic(in, sizeof in, "input");
  static const unsigned char header[HEADER] = {'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0x80};
  unsigned char file[HEADER + FRAMES * FRAME + 1];
  memcpy(file, header, HEADER);
  for (int i = 0; i < FRAMES; i++) {
    unsigned char frame[FRAME] = {0x21, 0xf9, 4, in[i].flags, 0, 0, in[i].transparent, 0, /* control */
                                  0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0,                       /* image */
                                  2, 2, in[i].data[0], in[i].data[1], 0};
    memcpy(file + HEADER + i * FRAME, frame, FRAME);
  }
  file[sizeof file - 1] = 0x3b;
  int width, height, frames, channels;
  stbi_image_free(stbi_load_gif_from_memory(file, sizeof file, 0, &width, &height, &frames, &channels, 4));
  return 0;
}
