/* stb_image: a Softimage PIC of 2x2 pixels, everything behind its header unknown. */
#define STB_IMAGE_IMPLEMENTATION
#include "stb_image.h"
#include <klee/klee.h>

enum { HEADER = 104, UNKNOWN = 10 };

int main(void) {
  unsigned char file[HEADER + UNKNOWN] = {0x53, 0x80, 0xf6, 0x34}, unknown[UNKNOWN];
  klee_make_symbolic(unknown, sizeof unknown, "input");
  memcpy(file + 88, "PICT", 4);
  file[93] = file[95] = 2;
  memcpy(file + HEADER, unknown, sizeof unknown);
  int width, height, channels;
  stbi_image_free(stbi_load_from_memory(file, sizeof file, &width, &height, &channels, 0));
  return 0;
}
