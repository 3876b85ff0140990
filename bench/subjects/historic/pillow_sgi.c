/* Pillow: an SGI image of 4x2 pixels whose tables and rows are 26 unknown bytes. */
#include "pillow_image.h"
#include "Sgi.h"
#include <klee/klee.h>

enum { HEADER = 512, TABLES = 16, ROWS = 10 };

static UINT8 file[HEADER + TABLES + ROWS];
static Py_ssize_t at;

Py_ssize_t _imaging_read_pyFd(PyObject *unused, char *to, Py_ssize_t bytes) {
  memcpy(to, file + at, bytes);
  at += bytes;
  return bytes;
}

int _imaging_seek_pyFd(PyObject *unused, Py_ssize_t offset, int whence) {
  at = whence == SEEK_END ? (Py_ssize_t)sizeof file + offset : offset;
  return 0;
}

Py_ssize_t _imaging_tell_pyFd(PyObject *unused) { return at; }

int main(void) {
  UINT8 unknown[TABLES + ROWS];
  klee_make_symbolic(unknown, sizeof unknown, "input");
  memcpy(file + HEADER, unknown, sizeof unknown);
  Imaging image = image_of("L", 1, 4, 2);
  struct ImagingCodecStateInstance state = state_of(image, 4);
  SGISTATE context = {.bpc = 1};
  state.context = &context;
  ImagingSgiRleDecode(image, &state, 0, 0);
  return 0;
}
