/* An image of Pillow as its Python part sets it up before a decoder is called. */
#include "Imaging.h"

static void copy_pixels(UINT8 *out, const UINT8 *in, int pixels) { memcpy(out, in, pixels); }

static Imaging image_of(const char *mode, int bands, int width, int height) {
  Imaging image = calloc(1, sizeof *image);
  strcpy(image->mode, mode);
  image->bands = bands;
  image->pixelsize = bands;
  image->xsize = width;
  image->ysize = height;
  image->linesize = width * bands;
  image->image = calloc(height, sizeof *image->image);
  for (int y = 0; y < height; y++) image->image[y] = malloc(image->linesize);
  return image;
}

static struct ImagingCodecStateInstance state_of(Imaging image, int line) {
  struct ImagingCodecStateInstance state = {0};
  state.xsize = image->xsize;
  state.ysize = image->ysize;
  state.ystep = 1;
  state.bytes = line;
  state.buffer = malloc(line);
  state.shuffle = copy_pixels;
  return state;
}
