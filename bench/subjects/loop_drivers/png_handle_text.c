/* libpng: a chunk of text is split at its first zero. */
#include "driver.h"
#include <pngpriv.h>

static const char *chunk;

static void from_chunk(png_structp png, png_bytep to, size_t n) {
  memcpy(to, chunk, n);
  chunk += n;
}
static void ignore(png_structp png, png_const_charp text) {}
static void leave(png_structp png, png_const_charp text) { exit(3); }

int main(void) {
  size_t n;
  static png_struct png;
  static png_info info;
  const char *data = chunk = any_block(&n);
  png.read_data_fn = from_chunk;
  png.warning_fn = ignore;
  png.error_fn = leave;
  png.mode = PNG_HAVE_IHDR;
  png.flags = PNG_FLAG_CRC_ANCILLARY_USE | PNG_FLAG_CRC_ANCILLARY_NOWARN;
  png.chunk_name = png_tEXt;
  if (n < 4)
    return 1;
  png_handle_tEXt(&png, &info, (png_uint_32)n - 4);
  if (info.num_text == 1)
    assert(length_of(info.text[0].key) + info.text[0].text_length <= n - 4);
  return info.num_text;
}
