/* giflib: gif2rgb writes a screen of 2x2 unknown pixels with a table of 4 colours. */
#define main gif2rgb_main
#include "gif2rgb.c"
#undef main
#include <klee/klee.h>

int main(void) {
  GifByteType pixels[4];
  klee_make_symbolic(pixels, sizeof pixels, "input");
  GifRowType rows[2] = {pixels, pixels + 2};
  ColorMapObject *colours = GifMakeMapObject(4, NULL);
  DumpScreen2RGB(NULL, 1, colours, rows, 2, 2);
  return 0;
}
