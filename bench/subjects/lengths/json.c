/* json-c: parse a text, then print what was parsed. */
#include "lengths.h"
#include <json_object.h>
#include <json_tokener.h>

int main(void) {
  size_t n;
  const char *data = any_data(&n);
  struct json_tokener *tokener = json_tokener_new();
  if (!tokener)
    return 1;
  struct json_object *parsed = json_tokener_parse_ex(tokener, data, (int)n);
  if (parsed) {
    const char *text = json_object_to_json_string(parsed);
    if (text && text[0] == '{')
      json_object_object_length(parsed);
    json_object_put(parsed);
  }
  json_tokener_free(tokener);
  return 0;
}
