/* libyaml: a verbatim tag of up to 20 escaped octets, whose digits are unknown. */
#include <klee/klee.h>
#include <string.h>
#include <yaml.h>

enum { OCTETS = 20 };

int main(void) {
  struct { unsigned char count, digits[OCTETS][2]; } in;
  klee_make_symbolic(&in, sizeof in, "input");
  unsigned char text[2 + 3 * OCTETS] = "!<";
  size_t size = 2;
  for (int i = 0; i < OCTETS && i < in.count; i++) {
    text[size++] = '%';
    for (int k = 0; k < 2; k++) {
      klee_assume(in.digits[i][k] >= '0');
      klee_assume(in.digits[i][k] <= '9');
      text[size++] = in.digits[i][k];
    }
  }
  yaml_parser_t parser;
  yaml_token_t token;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, text, size);
  for (int i = 0; i < 3 && yaml_parser_scan(&parser, &token); i++) yaml_token_delete(&token);
  yaml_parser_delete(&parser);
  return 0;
}
