// A libFuzzer target: data of every size up to the limit.
// OPTIONS: --max-len 5
// EXPECT paths: exit 5 error 1
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 5) return 9;
  if (size < 4) return 0;
  if (data[0] != 'F') return 0;
  if (data[1] != 'U') return 0;
  if (memcmp(data + 2, "ZZ", 2)) return 0;
  return *(int *)0; /* ERROR: null-pointer */
}
