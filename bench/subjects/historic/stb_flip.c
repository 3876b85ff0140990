/* stb_image: an animation of 16 unknown bytes, to be turned upside down. */
#define STB_IMAGE_IMPLEMENTATION
#include "stb_image.h"
#include <klee/klee.h>

int main(void) {
  unsigned char file[16];
  klee_make_symbolic(file, sizeof file, "input");
  int width = 2, height = 2, frames = 1, channels = 4;
  stbi_set_flip_vertically_on_load(1);
  stbi_image_free(stbi_load_gif_from_memory(file, sizeof file, 0, &width, &height, &frames, &channels, 4));
  return 0;
}
