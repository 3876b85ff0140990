/* json-c: a text is parsed up to its end at most, and truth values are those that were written. */
#include "driver.h"
#include <json_object.h>
#include <json_tokener.h>

int main(void) {
  size_t n;
  const char *text = any_block(&n);
  struct json_tokener *tokener = json_tokener_new();
  struct json_object *parsed = json_tokener_parse_ex(tokener, text, (int)n);
  if (json_tokener_get_error(tokener) == json_tokener_success)
    assert(json_tokener_get_parse_end(tokener) <= n);
  if (json_object_is_type(parsed, json_type_boolean)) {
    size_t e = 0;
    while (text[e] != 'e' && text[e] != 'E')
      e++;
    assert(json_object_get_boolean(parsed) == (text[e - 1] == 'u' || text[e - 1] == 'U'));
  }
  json_object_put(parsed);
  json_tokener_free(tokener);
  return 0;
}
