// A fuzz target gets data of just the size it is told: one byte too far is out of bounds.
// OPTIONS: --max-len 5
// EXPECT paths: exit 6 error 1
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size >= 3 && data[0] == 'F' && data[1] == 'U' && data[2] == 'Z'
      && data[3] == 'Z') // ERROR: out-of-bounds
    return 1;
  return 0;
}
