/* A USB hub: port power, debouncing, reset, enumeration, descriptors, removal, over-current. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern uint32_t port_status(int hub, int port);
extern void port_feature(int hub, int port, int feature, int on);
extern int control(int address, int request, int value, int index);
extern uint8_t control_byte(int address, int offset);
extern int alloc_address(void);
extern void free_address(int address);
extern int bind_driver(int address, int device_class);
extern void unbind_driver(int address);
extern void msleep(int ms);
extern void hub_log(int port, int code);

enum { PORTS = 3, DEBOUNCE = 3, TRIES = 2, CONFIG = 9, DEVICE = 18 };
enum { PS_CONNECTION = 1, PS_ENABLE = 2, PS_SUSPEND = 4, PS_OVERCURRENT = 8, PS_RESET = 16, PS_LOW = 512 };
enum { PC_CONNECTION = 1 << 16, PC_ENABLE = 2 << 16, PC_OVERCURRENT = 8 << 16, PC_RESET = 16 << 16 };
enum { F_RESET = 4, F_POWER = 8, F_C_CONNECTION = 16, F_C_ENABLE = 17, F_C_OVERCURRENT = 19, F_C_RESET = 20 };
enum { GET_DESCRIPTOR = 6, SET_ADDRESS = 5, SET_CONFIGURATION = 9 };
enum { EMPTY, POWERED, DEFAULT, ADDRESSED, CONFIGURED, DISABLED };
enum { EIO = 5, ENOMEM = 12, ENODEV = 19, ENOTCONN = 107, ETIMEDOUT = 110, EPROTO = 71 };

struct function {
    int state;
    int address;
    int low_speed;
    int bound;
    uint8_t packet;
    uint8_t device_class;
    uint8_t configuration;
    uint16_t power;
};

static struct function functions[PORTS];
static int budget; /* in units of 2 mA */

static int debounce(int port)
{
    int stable = 0, last = -1;

    for (int i = 0; i < DEBOUNCE; i++) {
        int now = (int)(port_status(0, port) & PS_CONNECTION);
        if (now == last)
            stable++;
        last = now;
        msleep(25);
    }
    return stable == DEBOUNCE - 1 && last == 1;
}

static int reset_port(int port, struct function *f)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t status;
        port_feature(0, port, F_RESET, 1);
        msleep(10);
        status = port_status(0, port);
        if (!(status & PS_CONNECTION))
            return -ENOTCONN;
        if (status & PS_RESET)
            continue;
        if (status & PS_ENABLE) {
            port_feature(0, port, F_C_RESET, 0);
            f->low_speed = (status & PS_LOW) != 0;
            f->state = DEFAULT;
            return 0;
        }
    }
    return -EIO;
}

static int request(int address, int what, int value, int index)
{
    for (int i = 0; i < TRIES; i++) {
        int done = control(address, what, value, index);
        if (done >= 0)
            return 0;
        if (done == -ENODEV)
            return -ENODEV;
        msleep(5);
    }
    return -EIO;
}

static int read_descriptor(int address, uint8_t *to, int length, int kind)
{
    int error = request(address, GET_DESCRIPTOR, kind << 8, 0);

    if (error)
        return error;
    for (int i = 0; i < length; i++)
        to[i] = control_byte(address, i);
    if (to[0] != length || to[1] != kind)
        return -EPROTO;
    return 0;
}

static int set_address(struct function *f)
{
    int address = alloc_address();

    if (address < 1 || address > 127)
        return -ENOMEM;
    if (request(0, SET_ADDRESS, address, 0) != 0) {
        free_address(address);
        return -EIO;
    }
    f->address = address;
    f->state = ADDRESSED;
    msleep(2);
    return 0;
}

static int read_device(struct function *f)
{
    uint8_t d[DEVICE];

    if (read_descriptor(f->address, d, DEVICE, 1) != 0)
        return -EPROTO;
    f->packet = d[7];
    if (f->packet != 8 && f->packet != 64)
        return -EPROTO;
    if (f->low_speed && f->packet != 8)
        return -EPROTO;
    f->device_class = d[4];
    if (d[17] == 0)
        return -EPROTO;
    return 0;
}

static int configure(struct function *f)
{
    uint8_t c[CONFIG];

    if (read_descriptor(f->address, c, CONFIG, 2) != 0)
        return -EPROTO;
    f->power = c[8];
    if (f->power > budget)
        return -ENOMEM;
    f->configuration = c[5];
    if (f->configuration == 0)
        return -EPROTO;
    if (request(f->address, SET_CONFIGURATION, f->configuration, 0) != 0)
        return -EIO;
    f->state = CONFIGURED;
    return 0;
}

static void release(struct function *f)
{
    if (f->bound)
        unbind_driver(f->address);
    if (f->state >= ADDRESSED && f->state != DISABLED)
        free_address(f->address);
    memset(f, 0, sizeof *f);
}

static int enumerate(int port)
{
    struct function *f = &functions[port];
    int error;

    if (!debounce(port))
        return -ENOTCONN;
    error = reset_port(port, f);
    if (error)
        goto fail;
    error = set_address(f);
    if (error)
        goto fail;
    error = read_device(f);
    if (error)
        goto fail;
    error = configure(f);
    if (error)
        goto fail;
    f->bound = bind_driver(f->address, f->device_class) == 0;
    return 0;
fail:
    hub_log(port, 1);
    release(f);
    return -EIO;
}

static int over_current(int port)
{
    struct function *f = &functions[port];

    port_feature(0, port, F_C_OVERCURRENT, 0);
    release(f);
    for (int i = 0; i < TRIES; i++) {
        port_feature(0, port, F_POWER, 1);
        msleep(100);
        if (!(port_status(0, port) & PS_OVERCURRENT))
            return 0;
    }
    f->state = DISABLED;
    return -EIO;
}

static void port_event(int port)
{
    struct function *f = &functions[port];
    uint32_t status = port_status(0, port);

    if (f->state == DISABLED)
        return;
    if (status & PC_OVERCURRENT) {
        if (over_current(port) != 0)
            hub_log(port, 2);
        return;
    }
    if (status & PC_CONNECTION) {
        port_feature(0, port, F_C_CONNECTION, 0);
        release(f);
        if (status & PS_CONNECTION)
            enumerate(port);
        return;
    }
    if (status & PC_ENABLE) {
        port_feature(0, port, F_C_ENABLE, 0);
        if (f->state == CONFIGURED && !(status & PS_ENABLE)) {
            release(f);
            enumerate(port);
        }
    }
}

static void run_port(int port)
{
    struct function *f = &functions[port];

    memset(f, 0, sizeof *f);
    port_feature(0, port, F_POWER, 1);
    if (port_status(0, port) & PS_CONNECTION)
        enumerate(port);
    for (int i = 0; i < 2; i++)
        port_event(port);
    assert(f->state == EMPTY || f->state == CONFIGURED || f->state == DISABLED);
    assert(f->state != CONFIGURED || f->power <= 250);
    assert(!f->bound || f->state == CONFIGURED);
    release(f);
    assert(f->state == EMPTY);
}

int main(void)
{
    budget = 250;
    for (int port = 0; port < PORTS; port++)
        run_port(port);
    return 0;
}
