/* Maps a device; the registers may not be there to be mapped. */
/* UNIT: device_probe */
struct registers { unsigned status, control; };
struct device { struct registers *registers; int irq, ready; };
extern struct registers *map_registers(unsigned long base);
extern int request_irq(int irq);
extern void release_irq(int irq);

int device_probe(struct device *device, unsigned long base) {
  if (request_irq(device->irq)) return -1;
  device->registers = map_registers(base);
  device->registers->control = 1; /* ERROR: null-pointer answer */
  if (device->registers->status & 1) {
    release_irq(device->irq);
    return -2;
  }
  device->ready = 1;
  return 0;
}
