/* Two ways out that free the same thing. */
/* UNIT: open_channel */
#include <stdlib.h>
struct channel { int number; char *buffer; };
extern int start_channel(int number);
extern int tune_channel(int number, int rate);

struct channel *open_channel(int number, int rate) {
  struct channel *channel = malloc(sizeof *channel);
  if (!channel) return 0;
  channel->number = number;
  channel->buffer = malloc(16);
  if (!channel->buffer) goto no_buffer;
  if (start_channel(number) < 0) goto no_start;
  if (tune_channel(number, rate) < 0) {
    free(channel->buffer);
    goto no_start;
  }
  return channel;
no_start:
  free(channel->buffer); /* ERROR: double-free answer */
no_buffer:
  free(channel);
  return 0;
}
