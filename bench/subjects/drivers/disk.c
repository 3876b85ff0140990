/* A disk controller with command slots: port start, identification, reads with retries, error recovery. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern uint32_t port_read(int port, int reg);
extern void port_write(int port, int reg, uint32_t value);
extern uint16_t identify_word(int port, int index);
extern void stall(int ms);
extern int map_buffer(int bytes);
extern void unmap_buffer(int handle);
extern void end_request(int tag, int status);
extern void offline(int port);

enum { EIO = 5, ENOMEM = 12, EBUSY = 16, ENODEV = 19, EINVAL = 22, ETIMEDOUT = 110 };
enum { P_CMD, P_TFD, P_SIG, P_SSTS, P_SCTL, P_SERR, P_CI, P_IS };
enum { CMD_ST = 1, CMD_FRE = 16, CMD_FR = 1 << 14, CMD_CR = 1 << 15 };
enum { TFD_ERR = 1, TFD_DRQ = 8, TFD_BSY = 128 };
enum { IS_OK = 1, IS_DATA = 1 << 5, IS_HOTPLUG = 1 << 22, IS_FATAL = 1 << 30 };
enum { PORTS = 3, POLLS = 3, SLOTS = 32, RETRIES = 2, WORDS = 12 };
enum { NONE, DISK, CDROM };
enum { IDLE, ACTIVE, ERROR, GONE };

struct slot {
    uint64_t sector;
    int count;
    int busy;
    int retries;
};

struct port {
    int kind;
    int state;
    int speed;
    int buffer;
    uint32_t pending;
    uint64_t sectors;
    struct slot slots[SLOTS];
};

static struct port ports[PORTS];
static int recoveries;

static int poll(int port, int reg, uint32_t mask, uint32_t wanted)
{
    for (int i = 0; i < POLLS; i++) {
        if ((port_read(port, reg) & mask) == wanted)
            return 0;
        stall(10);
    }
    return -ETIMEDOUT;
}

static int stop_engine(int port)
{
    uint32_t command = port_read(port, P_CMD);

    if (!(command & (CMD_ST | CMD_CR)))
        return 0;
    port_write(port, P_CMD, 0);
    if (poll(port, P_CMD, CMD_CR, 0) != 0)
        return -EBUSY;
    return poll(port, P_CMD, CMD_FR, 0) != 0 ? -EBUSY : 0;
}

static int start_engine(int port)
{
    if (poll(port, P_TFD, TFD_BSY | TFD_DRQ, 0) != 0)
        return -EBUSY;
    port_write(port, P_CMD, CMD_FRE | CMD_ST);
    return 0;
}

static int reset_link(int port)
{
    port_write(port, P_SCTL, 1);
    stall(1);
    port_write(port, P_SCTL, 0);
    for (int i = 0; i < POLLS; i++) {
        uint32_t status = port_read(port, P_SSTS);
        if ((status & 0xf) == 3) {
            port_write(port, P_SERR, 0xffffffffu);
            return (int)(status >> 4 & 3);
        }
        if ((status & 0xf) == 4)
            return -ENODEV;
        stall(10);
    }
    return -ENODEV;
}

static int classify(int port)
{
    switch (port_read(port, P_SIG)) {
    case 0x00000101u:
        return DISK;
    case 0xeb140101u:
        return CDROM;
    default:
        return NONE;
    }
}

static void clear_slots(struct port *p)
{
    for (int i = 0; i < SLOTS; i++) {
        p->slots[i].sector = 0;
        p->slots[i].count = 0;
        p->slots[i].busy = 0;
        p->slots[i].retries = 0;
    }
    p->pending = 0;
}

static int issue(int port, int tag)
{
    port_write(port, P_CI, 1u << tag);
    for (int i = 0; i < POLLS; i++) {
        uint32_t status = port_read(port, P_IS);
        if (status & IS_HOTPLUG)
            return -ENODEV;
        if (status & IS_FATAL)
            return -EIO;
        if (status & IS_OK)
            return port_read(port, P_TFD) & TFD_ERR ? -EIO : 0;
        stall(5);
    }
    return -ETIMEDOUT;
}

static int read_identity(int port)
{
    struct port *p = &ports[port];
    uint16_t word[WORDS];
    uint8_t sum = 0;

    if (issue(port, 0) != 0)
        return -EIO;
    for (int i = 0; i < WORDS; i++) {
        word[i] = identify_word(port, i);
        sum = (uint8_t)(sum + (word[i] & 0xff) + (word[i] >> 8));
    }
    if (sum != 0)
        return -EIO;
    if (word[0] & 0x8000)
        return -EINVAL;
    p->sectors = word[8] | (uint64_t)word[9] << 16 | 1;
    return 0;
}

static int start_port(int port)
{
    struct port *p = &ports[port];

    memset(p, 0, sizeof *p);
    if (stop_engine(port) != 0)
        return -EBUSY;
    p->speed = reset_link(port);
    if (p->speed < 0)
        goto absent;
    p->kind = classify(port);
    if (p->kind == NONE)
        goto absent;
    p->buffer = map_buffer(SLOTS * 32);
    if (p->buffer <= 0)
        goto absent;
    clear_slots(p);
    if (start_engine(port) != 0 || (p->kind == DISK && read_identity(port) != 0)) {
        unmap_buffer(p->buffer);
        goto absent;
    }
    p->state = ACTIVE;
    return 0;
absent:
    memset(p, 0, sizeof *p);
    return -ENODEV;
}

static int recover(int port)
{
    struct port *p = &ports[port];

    p->state = ERROR;
    recoveries++;
    if (recoveries > 1) {
        p->state = GONE;
        return -EIO;
    }
    if (stop_engine(port) != 0 || reset_link(port) < 0 || start_engine(port) != 0) {
        p->state = GONE;
        return -EIO;
    }
    clear_slots(p);
    p->state = ACTIVE;
    return 0;
}

static int transfer(int port, int tag, uint64_t sector)
{
    struct port *p = &ports[port];
    struct slot *s = &p->slots[tag];
    int error;

    if (sector >= 1u << 20)
        return -EINVAL;
    s->busy = 1;
    s->sector = sector;
    s->count = 8;
    for (s->retries = 0; s->retries < RETRIES; s->retries++) {
        error = issue(port, tag);
        if (error == 0)
            break;
        if (error == -ENODEV) {
            p->state = GONE;
            break;
        }
        if (recover(port) != 0)
            break;
        s->busy = 1;
    }
    memset(s, 0, sizeof *s);
    end_request(tag, error);
    return error == 0 ? 0 : -EIO;
}

static void stop_port(int port)
{
    struct port *p = &ports[port];

    if (p->state == IDLE)
        return;
    if (p->state == GONE)
        offline(port);
    stop_engine(port);
    unmap_buffer(p->buffer);
    memset(p, 0, sizeof *p);
}

static int work(int port)
{
    struct port *p = &ports[port];
    int done = 0;

    recoveries = 0;
    if (start_port(port) != 0)
        return 0;
    assert(p->kind == DISK || p->kind == CDROM);
    assert(p->kind != DISK || p->sectors != 0);
    for (int tag = 0; tag < 4 && p->state == ACTIVE; tag++) {
        if (transfer(port, tag, (uint64_t)tag * 8) == 0)
            done = 1;
        assert(!p->slots[tag].busy);
        assert(recoveries <= 2);
    }
    stop_port(port);
    assert(p->state == IDLE);
    recoveries = 0;
    return done;
}

int main(void)
{
    int useful = 0;

    for (int port = 0; port < PORTS; port++)
        if (work(port))
            useful = 1;
    return !useful;
}
