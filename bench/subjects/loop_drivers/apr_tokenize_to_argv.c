/* apr: a command line becomes arguments, which have no more characters than it has. */
#include "driver.h"
#include <apr_strings.h>

void *apr_palloc(apr_pool_t *pool, apr_size_t size) { return malloc(size); }

int main(void) {
  const char *line = any_string();
  size_t length = length_of(line), count = 0, characters = 0;
  char **words;
  assert(apr_tokenize_to_argv(line, &words, 0) == APR_SUCCESS);
  for (; words[count]; count++)
    characters += length_of(words[count]);
  assert(characters <= length && count <= length / 2 + 1);
  return (int)count;
}
