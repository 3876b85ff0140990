/* json-c: a JSON pointer finds what is there, and nothing else. (It also takes "/ab/" for the first element.) */
#include "driver.h"
#include <json_object.h>
#include <json_pointer.h>
#include <linkhash.h>

int main(void) {
  const char *path = any_string();
  json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE); /* the other one reads words past the end of a key */
  struct json_object *all = json_object_new_object(), *list = json_object_new_array(), *found = 0;
  json_object_array_add(list, json_object_new_int(7));
  json_object_object_add(all, "ab", list);
  json_object_object_add(all, "/", json_object_new_int(8));
  if (json_pointer_get(all, path, &found) != 0)
    return 1;
  if (found == all)
    assert(!path[0]);
  else if (found == list)
    assert(strcmp(path, "/ab") == 0);
  else if (json_object_get_int(found) == 7)
    assert(strcmp(path, "/ab/0") == 0);
  else
    assert(strcmp(path, "/~1") == 0);
  return 0;
}
