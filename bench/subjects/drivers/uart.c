/* Two serial ports on one interrupt: detection, baud rates, FIFOs, line errors, flow control. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern uint8_t inb(int port);
extern void outb(int port, uint8_t value);
extern int claim_region(int port, int length);
extern void release_region(int port, int length);
extern int request_irq(int line);
extern void free_irq(int line);
extern void tty_push(int port, uint8_t byte, int flag);
extern int tty_next(int port);
extern void tty_hangup(int port);
extern void log_event(int port, int what);

enum { PORTS = 2, FIRST = 0x3f8, STRIDE = 8, FIFO = 16, PASSES = 2 };
enum { RBR = 0, IER = 1, IIR = 2, LCR = 3, MCR = 4, LSR = 5, MSR = 6, SCR = 7 };
enum { LSR_DR = 1, LSR_OE = 2, LSR_PE = 4, LSR_FE = 8, LSR_BI = 16, LSR_THRE = 32, LSR_BAD = 128 };
enum { MSR_DCTS = 1, MSR_DDCD = 8, MSR_CTS = 16, MSR_DCD = 128 };
enum { NONE, P8250, P16450, P16550, P16550A };
enum { EBUSY = 16, ENODEV = 19, EINVAL = 22 };

struct port {
    int base;
    int kind;
    int depth;
    int open;
    int stopped;
    int carrier;
    unsigned divisor;
    uint8_t out[FIFO];
    int head, count;
};

static struct port ports[PORTS];
static int irq_users;

static int scratch_works(int base)
{
    outb(base + SCR, 0x55);
    if (inb(base + SCR) != 0x55)
        return 0;
    outb(base + SCR, 0xaa);
    return inb(base + SCR) == 0xaa;
}

static int loopback_works(int base)
{
    uint8_t saved = inb(base + MCR);
    uint8_t status;

    outb(base + MCR, 0x1a);
    status = inb(base + MSR) & 0xf0;
    outb(base + MCR, saved);
    return status == 0x90;
}

static int identify(int base)
{
    uint8_t first = inb(base + IER), second;

    outb(base + IER, 0);
    second = inb(base + IER);
    outb(base + IER, first);
    if ((second & 0x0f) != 0 || !loopback_works(base))
        return NONE;
    outb(base + 2, 0x01);
    switch (inb(base + IIR) >> 6) {
    case 0:
        return scratch_works(base) ? P16450 : P8250;
    case 2:
        return P16550;
    case 3:
        return P16550A;
    default:
        return NONE;
    }
}

static int probe(struct port *p, int index)
{
    memset(p, 0, sizeof *p);
    p->base = FIRST + index * STRIDE;
    if (claim_region(p->base, STRIDE) != 0)
        return -EBUSY;
    p->kind = identify(p->base);
    if (p->kind == NONE) {
        release_region(p->base, STRIDE);
        return -ENODEV;
    }
    p->depth = p->kind == P16550A ? FIFO : 1;
    return 0;
}

static int set_speed(struct port *p, unsigned baud)
{
    uint8_t lcr;

    if (baud == 0 || baud > 115200)
        return -EINVAL;
    p->divisor = 115200 / baud;
    lcr = inb(p->base + LCR);
    outb(p->base + LCR, lcr | 0x80);
    outb(p->base + 0, (uint8_t)p->divisor);
    outb(p->base + 1, (uint8_t)(p->divisor >> 8));
    outb(p->base + LCR, 0x03);
    if ((inb(p->base + LCR) & 0x83) != 0x03)
        return -EINVAL;
    return 0;
}

static void drain(struct port *p)
{
    for (int i = 0; i < PASSES; i++) {
        if (!(inb(p->base + LSR) & LSR_DR))
            break;
        inb(p->base + RBR);
    }
}

static int open_port(struct port *p)
{
    int error;

    if (irq_users == 0 && request_irq(4) != 0)
        return -EBUSY;
    irq_users++;
    outb(p->base + 2, p->depth > 1 ? 0xc7 : 0x00);
    drain(p);
    error = set_speed(p, 9600);
    if (error)
        goto fail;
    p->carrier = (inb(p->base + MSR) & MSR_DCD) != 0;
    p->stopped = (inb(p->base + MSR) & MSR_CTS) == 0;
    outb(p->base + MCR, 0x0b);
    outb(p->base + IER, 0x0f);
    p->open = 1;
    return 0;
fail:
    irq_users--;
    if (irq_users == 0)
        free_irq(4);
    return error;
}

static void close_port(struct port *p)
{
    outb(p->base + IER, 0);
    outb(p->base + MCR, 0);
    drain(p);
    p->open = p->carrier = p->stopped = 0;
    p->head = p->count = 0;
    p->divisor = 0;
    memset(p->out, 0, sizeof p->out);
    irq_users--;
    assert(irq_users >= 0);
    if (irq_users == 0)
        free_irq(4);
}

static void take_byte(struct port *p, uint8_t status, int index)
{
    uint8_t byte = inb(p->base + RBR);
    int flag = 0;

    if (status & LSR_BI) {
        log_event(index, 'b');
        return;
    }
    if (status & LSR_PE)
        flag = 1;
    else if (status & LSR_FE)
        flag = 2;
    if (status & LSR_OE)
        log_event(index, 'o');
    tty_push(index, byte, flag);
}

static void receive(struct port *p, int index)
{
    for (int i = 0; i < PASSES; i++) {
        uint8_t status = inb(p->base + LSR);
        if (!(status & LSR_DR))
            return;
        take_byte(p, status, index);
    }
}

static void refill(struct port *p, int index)
{
    int next;

    p->head = p->count = 0;
    for (int i = 0; i < 2; i++) {
        next = tty_next(index);
        if (next < 0)
            break;
        p->out[p->count] = (uint8_t)next;
        p->count++;
    }
}

static void transmit(struct port *p, int index)
{
    if (p->stopped)
        return;
    refill(p, index);
    assert(p->count <= p->depth || p->depth == 1);
    while (p->count > 0) {
        if (!(inb(p->base + LSR) & LSR_THRE))
            break;
        outb(p->base, p->out[p->head]);
        p->head = (p->head + 1) % FIFO;
        p->count--;
    }
    p->head = p->count = 0;
    memset(p->out, 0, sizeof p->out);
}

static void modem(struct port *p, int index)
{
    uint8_t status = inb(p->base + MSR);

    if (status & MSR_DDCD) {
        p->carrier = (status & MSR_DCD) != 0;
        if (!p->carrier)
            tty_hangup(index);
    }
    if (status & MSR_DCTS)
        p->stopped = (status & MSR_CTS) == 0;
}

/* One look at a port; true if it had asked for it. */
static int serve(struct port *p, int index)
{
    uint8_t why = inb(p->base + IIR);

    if (why & 1)
        return 0;
    switch (why >> 1 & 7) {
    case 0:
        modem(p, index);
        break;
    case 1:
        transmit(p, index);
        break;
    case 2:
    case 6:
        receive(p, index);
        break;
    case 3:
        if (inb(p->base + LSR) & LSR_BAD)
            drain(p);
        break;
    default:
        return 0;
    }
    return 1;
}

static int interrupt(struct port *p, int index)
{
    int handled = 0;

    for (int pass = 0; pass < PASSES; pass++) {
        if (!p->open || !serve(p, index))
            break;
        handled = 1;
    }
    return handled;
}

static int work(int index)
{
    struct port *p = &ports[index];
    int spurious = 0;

    if (probe(p, index) != 0) {
        memset(p, 0, sizeof *p);
        return -ENODEV;
    }
    assert(p->kind != NONE);
    if (open_port(p) == 0) {
        for (int i = 0; i < 2; i++)
            spurious |= !interrupt(p, index);
        if (spurious)
            log_event(index, 's');
        close_port(p);
    }
    release_region(p->base, STRIDE);
    memset(p, 0, sizeof *p);
    return 0;
}

int main(void)
{
    int found = 0;

    for (int i = 0; i < PORTS; i++)
        if (work(i) == 0)
            found = 1;
    assert(irq_users == 0);
    return found;
}
