/* A divisor that two members can make zero. */
/* UNIT: set_rate */
struct clock { unsigned parent, divider; int locked; };
struct port { struct clock *clock; unsigned rate; };

int set_rate(struct port *port, unsigned rate) {
  if (!port->clock || port->clock->locked) return -1;
  unsigned scale = port->clock->parent - rate;
  port->rate = port->clock->divider / scale; /* ERROR: division-by-zero argument */
  return 0;
}
