/* json-c: a string as JSON is in quotes, has no control characters, and is at most six times as long. */
#include "driver.h"
#include <json_object.h>

int main(void) {
  size_t n, i, length;
  const char *data = any_block(&n);
  struct json_object *string = json_object_new_string_len(data, (int)n);
  assert((size_t)json_object_get_string_len(string) == n);
  const char *text = json_object_to_json_string_length(string, JSON_C_TO_STRING_PLAIN, &length);
  assert(length >= n + 2 && length <= 6 * n + 2);
  assert(text[0] == '"' && text[length - 1] == '"' && !text[length]);
  for (i = 0; i < length; i++)
    assert((unsigned char)text[i] >= ' ');
  return 0;
}
