/* libyaml: a mapping whose first value is a quoted text, 3 unknown bytes long with what follows it. */
#include <klee/klee.h>
#include <string.h>
#include <yaml.h>

int main(void) {
  unsigned char text[8] = " a: \"", unknown[3];
  klee_make_symbolic(unknown, sizeof unknown, "input");
  memcpy(text + 5, unknown, sizeof unknown);
  yaml_parser_t parser;
  yaml_token_t token;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, text, sizeof text);
  for (int more = 1; more && yaml_parser_scan(&parser, &token);) {
    more = token.type != YAML_STREAM_END_TOKEN;
    yaml_token_delete(&token);
  }
  yaml_parser_delete(&parser);
  return 0;
}
