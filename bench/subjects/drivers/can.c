/* A CAN controller: bit timing, mailboxes, acceptance filters, error states, recovery from bus-off. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern uint32_t can_read(int reg);
extern void can_write(int reg, uint32_t value);
extern int clock_rate(void);
extern int clock_enable(int on);
extern int transceiver(int on);
extern void wait_bits(int bits);
extern void deliver(uint32_t id, int length);
extern int next_frame(void);
extern void report_state(int state);

enum { REG_MODE = 0, REG_STATUS = 1, REG_TIMING = 2, REG_ERRORS = 3, REG_IRQ = 4, REG_BOX = 16 };
enum { MODE_INIT = 1, MODE_RUN = 2, MODE_SLEEP = 4, MODE_ACK = 8 };
enum { IRQ_RX = 1, IRQ_TX = 2, IRQ_ERROR = 4, IRQ_WAKE = 8, IRQ_OFF = 16, IRQ_OVERRUN = 32 };
enum { BOXES = 8, FIRST_TX = 5, POLLS = 4, QUEUE = 8, EVENTS = 3 };
enum { STOPPED, ACTIVE, WARNING, PASSIVE, BUS_OFF };
enum { EIO = 5, ENOBUFS = 105, EINVAL = 22, ETIMEDOUT = 110, ENETDOWN = 100 };

struct timing {
    int prescaler;
    int segment1, segment2;
    int jump;
};

struct frame {
    uint32_t id;
    uint8_t length;
    uint8_t data[8];
};

struct channel {
    int state;
    int restarts;
    struct timing timing;
    uint32_t filter[BOXES];
    struct frame queue[QUEUE];
    int first, count;
    uint8_t busy[BOXES];
};

static struct channel channel;

static int change_mode(uint32_t mode)
{
    can_write(REG_MODE, mode);
    for (int i = 0; i < POLLS; i++) {
        uint32_t now = can_read(REG_MODE);
        if ((now & 0xf0) != 0)
            return -EIO;
        if ((now & 0x0f) == mode)
            return 0;
        wait_bits(8);
    }
    return -ETIMEDOUT;
}

/* Looks for the prescaler that divides the clock best; 16 quanta in a bit. */
static int find_timing(struct timing *t, int clock, int bitrate)
{
    int best = -1, difference = bitrate;

    for (int prescaler = 1; prescaler <= 32; prescaler++) {
        int rate = clock / (prescaler * 16);
        int off = rate > bitrate ? rate - bitrate : bitrate - rate;
        if (off < difference) {
            difference = off;
            best = prescaler;
        }
    }
    if (best < 0 || difference > bitrate / 50)
        return -EINVAL;
    t->prescaler = best;
    t->segment1 = 11;
    t->segment2 = 4;
    t->jump = 2;
    return 0;
}

static int set_timing(struct channel *c)
{
    int kind = clock_rate();
    int error = find_timing(&c->timing, kind == 1 ? 16000000 : 48000000, 500000);

    if (error)
        return error;
    assert(c->timing.prescaler == (kind == 1 ? 2 : 6));
    can_write(REG_TIMING, (uint32_t)(c->timing.prescaler | c->timing.segment1 << 8 | c->timing.segment2 << 16));
    if (can_read(REG_TIMING) >> 24 & 1)
        return -EIO;
    return 0;
}

static void clear_boxes(struct channel *c)
{
    for (int i = 0; i < BOXES; i++) {
        c->busy[i] = 0;
        c->filter[i] = i < FIRST_TX ? 0x100u + (uint32_t)i : 0;
        can_write(REG_BOX + i, c->filter[i]);
    }
    memset(c->queue, 0, sizeof c->queue);
    c->first = c->count = 0;
}

static int open_channel(struct channel *c)
{
    int error;

    memset(c, 0, sizeof *c);
    if (clock_enable(1) != 0)
        return -EIO;
    error = change_mode(MODE_INIT);
    if (error)
        goto clock;
    error = set_timing(c);
    if (error)
        goto clock;
    if (transceiver(1) != 0) {
        error = -EIO;
        goto clock;
    }
    clear_boxes(c);
    error = change_mode(MODE_RUN);
    if (error)
        goto power;
    c->state = ACTIVE;
    return 0;
power:
    transceiver(0);
clock:
    clock_enable(0);
    memset(c, 0, sizeof *c);
    return error;
}

static void close_channel(struct channel *c)
{
    if (c->state == STOPPED)
        return;
    change_mode(MODE_INIT);
    transceiver(0);
    clock_enable(0);
    memset(c, 0, sizeof *c);
}

/* Of the header and the first two bytes, as this controller has it. */
static int checksum(const struct frame *f)
{
    uint32_t crc = f->id ^ f->length;

    for (int i = 0; i < 2; i++) {
        crc ^= (uint32_t)f->data[i] << 7;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (0x4599 & -(crc >> 14 & 1))) & 0x7fff;
    }
    return (int)crc;
}

static int take(struct channel *c, int box)
{
    struct frame f;
    uint32_t head = can_read(REG_BOX + box);

    memset(&f, 0, sizeof f);
    if (!(head & 1u << 31))
        return 0;
    f.id = head & 0x7ff;
    f.length = (uint8_t)(head >> 16 & 0xf);
    if (f.length > 8)
        f.length = 8;
    if ((f.id & 0x700) != (c->filter[box] & 0x700))
        return 0;
    for (int i = 0; i < 8; i++)
        f.data[i] = (uint8_t)can_read(REG_BOX + box + 8);
    if (checksum(&f) != (int)(can_read(REG_STATUS) & 0x7fff))
        return 0;
    deliver(f.id, f.length);
    return 1;
}

static void receive(struct channel *c)
{
    for (int box = 0; box < FIRST_TX; box++)
        take(c, box);
}

static int send(struct channel *c)
{
    int what = next_frame();

    if (what < 0)
        return 0;
    for (int box = FIRST_TX; box < BOXES; box++) {
        if (!c->busy[box] && !(can_read(REG_BOX + box) & 1u << 30)) {
            can_write(REG_BOX + box, (uint32_t)what & 0x7ff);
            return 1;
        }
    }
    return -ENOBUFS;
}

static int error_state(void)
{
    uint32_t counts = can_read(REG_ERRORS);
    uint32_t tx = counts & 0xff, rx = counts >> 8 & 0xff;

    if (tx >= 128 || rx >= 128)
        return PASSIVE;
    if (tx >= 96 || rx >= 96)
        return WARNING;
    return ACTIVE;
}

static int recover(struct channel *c)
{
    c->state = BUS_OFF;
    report_state(BUS_OFF);
    if (c->restarts >= 1)
        return -ENETDOWN;
    c->restarts++;
    clear_boxes(c);
    if (change_mode(MODE_INIT) != 0)
        return -EIO;
    wait_bits(128 * 11);
    if (change_mode(MODE_RUN) != 0)
        return -EIO;
    c->state = ACTIVE;
    return 0;
}

static int interrupt(struct channel *c)
{
    uint32_t why = can_read(REG_IRQ);

    if ((why & 0x3f) == 0)
        return 0;
    if (why & IRQ_OFF) {
        if (recover(c) != 0)
            return -ENETDOWN;
        return 1;
    }
    if (why & IRQ_ERROR) {
        c->state = error_state();
        report_state(c->state);
    }
    if (why & (IRQ_RX | IRQ_OVERRUN))
        receive(c);
    if (why & IRQ_TX)
        send(c);
    return 1;
}

static int run(void)
{
    struct channel *c = &channel;
    int alive = 0;

    if (open_channel(c) != 0) {
        assert(c->state == STOPPED);
        return -1;
    }
    assert(c->timing.segment1 + c->timing.segment2 + 1 == 16);
    for (int i = 0; i < EVENTS; i++) {
        if (interrupt(c) < 0) {
            assert(c->state == BUS_OFF);
            break;
        }
        assert(c->state != BUS_OFF && c->state != STOPPED);
        alive = 1;
    }
    assert(c->restarts <= 1);
    close_channel(c);
    assert(c->state == STOPPED);
    return alive;
}

int main(void)
{
    for (int i = 0; i < 2; i++)
        run();
    return 0;
}
