/* libyaml: all events of a document. */
#include "lengths.h"
#include <yaml.h>

int main(void) {
  size_t n;
  const char *data = any_data(&n);
  yaml_parser_t parser;
  yaml_event_t event;
  int done = 0;
  if (!yaml_parser_initialize(&parser))
    return 1;
  yaml_parser_set_input_string(&parser, (const unsigned char *)data, n);
  while (!done && yaml_parser_parse(&parser, &event)) {
    done = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return done;
}
