/* An Ethernet controller: reset, EEPROM, link, descriptor rings, interrupts.
 *
 * The bus is unknown: every register and every EEPROM word may hold anything.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern uint32_t mmio_read(int dev, uint32_t reg);
extern void mmio_write(int dev, uint32_t reg, uint32_t value);
extern uint16_t eeprom_word(int dev, int index);
extern uint16_t mdio_read(int dev, int phy, int reg);
extern void mdio_write(int dev, int phy, int reg, uint16_t value);
extern int request_irq(int dev, int line);
extern void free_irq(int dev, int line);
extern int map_dma(int dev, int bytes);
extern void unmap_dma(int dev, int handle);
extern void udelay(int microseconds);
extern void notify_stack(int dev, int event);

enum { EIO = 5, ENXIO = 6, ENOMEM = 12, EBUSY = 16, ENODEV = 19, EINVAL = 22, ETIMEDOUT = 110 };

enum {
    REG_CTRL = 0x00, REG_STATUS = 0x08, REG_EECD = 0x10, REG_ICR = 0xc0, REG_IMS = 0xd0, REG_IMC = 0xd8,
    REG_RCTL = 0x100, REG_TCTL = 0x400, REG_RDBA = 0x2800, REG_RDLEN = 0x2808, REG_RDH = 0x2810,
    REG_TDBA = 0x3800, REG_TDLEN = 0x3808, REG_TDH = 0x3810, REG_RAL = 0x5400, REG_RAH = 0x5404
};

enum { CTRL_RST = 1u << 26, CTRL_SLU = 1u << 6, STATUS_LU = 1u << 1, STATUS_MASTER = 1u << 19 };
enum { ICR_TXDW = 1u << 0, ICR_LSC = 1u << 2, ICR_RXO = 1u << 6, ICR_RXT = 1u << 7, ICR_FATAL = 1u << 22 };
enum { RING = 64, EEPROM_WORDS = 8, MAX_POLL = 4 };
enum { DOWN, RESETTING, READY, RUNNING, DEAD };
enum { LINK_NONE, LINK_10, LINK_100, LINK_1000 };

struct descriptor {
    uint32_t address;
    uint16_t length;
    uint8_t status;
    uint8_t command;
};

struct nic {
    int id;
    int state;
    int link;
    int irq;
    int rx_dma, tx_dma;
    int rx_head, tx_head, tx_tail;
    uint8_t mac[6];
    struct descriptor rx[RING];
    struct descriptor tx[RING];
};

static struct nic nics[2];

static int wait_for(struct nic *n, uint32_t reg, uint32_t mask, uint32_t wanted)
{
    for (int i = 0; i < MAX_POLL; i++) {
        uint32_t value = mmio_read(n->id, reg);
        if (value == 0xffffffffu)
            return -ENODEV;
        if ((value & mask) == wanted)
            return 0;
        udelay(10);
    }
    return -ETIMEDOUT;
}

static int nic_reset(struct nic *n)
{
    int error;

    n->state = RESETTING;
    mmio_write(n->id, REG_IMC, 0xffffffffu);
    mmio_write(n->id, REG_RCTL, 0);
    mmio_write(n->id, REG_TCTL, 0);
    error = wait_for(n, REG_STATUS, STATUS_MASTER, 0);
    if (error == -ENODEV)
        goto dead;
    mmio_write(n->id, REG_CTRL, CTRL_RST);
    udelay(20);
    error = wait_for(n, REG_CTRL, CTRL_RST, 0);
    if (error)
        goto dead;
    mmio_read(n->id, REG_ICR);
    n->state = READY;
    return 0;
dead:
    n->state = DEAD;
    return error;
}

static int read_eeprom(struct nic *n, uint16_t *words)
{
    for (int i = 0; i < EEPROM_WORDS; i++) {
        uint32_t status = mmio_read(n->id, REG_EECD);
        if (status & (1u << 8))
            return -EIO;
        if (!(status & (1u << 9)))
            udelay(5);
        words[i] = eeprom_word(n->id, i);
    }
    return 0;
}

static int load_mac(struct nic *n)
{
    uint16_t words[EEPROM_WORDS];
    uint16_t sum = 0;
    int error = read_eeprom(n, words);

    if (error)
        return error;
    for (int i = 0; i < EEPROM_WORDS; i++)
        sum = (uint16_t)(sum + words[i]);
    if (sum != 0xbaba)
        return -EIO;
    for (int i = 0; i < 3; i++) {
        n->mac[2 * i] = (uint8_t)words[i];
        n->mac[2 * i + 1] = (uint8_t)(words[i] >> 8);
    }
    if (n->mac[0] & 1)
        return -EINVAL;
    mmio_write(n->id, REG_RAL, n->mac[0] | n->mac[1] << 8 | n->mac[2] << 16 | (uint32_t)n->mac[3] << 24);
    mmio_write(n->id, REG_RAH, n->mac[4] | n->mac[5] << 8 | 1u << 31);
    return 0;
}

static int read_speed(struct nic *n)
{
    uint16_t partner, expansion;

    partner = mdio_read(n->id, 1, 5);
    expansion = mdio_read(n->id, 1, 10);
    if (expansion & 0x0c00)
        return LINK_1000;
    if (partner & 0x0180)
        return LINK_100;
    if (partner & 0x0060)
        return LINK_10;
    return LINK_NONE;
}

static int negotiate(struct nic *n)
{
    uint16_t bits;

    mdio_write(n->id, 1, 4, 0x01e1);
    mdio_write(n->id, 1, 0, 0x1200);
    for (int i = 0; i < MAX_POLL; i++) {
        bits = mdio_read(n->id, 1, 1);
        if (bits == 0xffff)
            return -ENXIO;
        if ((bits & 0x0024) == 0x0024) {
            n->link = read_speed(n);
            return n->link == LINK_NONE ? -EIO : 0;
        }
        if (bits & 0x0010)
            mdio_write(n->id, 1, 0, 0x1200);
        udelay(100);
    }
    n->link = LINK_NONE;
    return 0; /* no cable is no error */
}

static void clear_rings(struct nic *n)
{
    for (int i = 0; i < RING; i++) {
        n->rx[i].address = (uint32_t)(i * 2048);
        n->rx[i].length = 0;
        n->rx[i].status = 0;
        n->rx[i].command = 0;
        n->tx[i].address = 0;
        n->tx[i].length = 0;
        n->tx[i].status = 1;
        n->tx[i].command = 0;
    }
    n->rx_head = n->tx_head = n->tx_tail = 0;
}

static int setup_rings(struct nic *n)
{
    n->rx_dma = map_dma(n->id, RING * 8);
    if (n->rx_dma < 0)
        return -ENOMEM;
    n->tx_dma = map_dma(n->id, RING * 8);
    if (n->tx_dma < 0) {
        unmap_dma(n->id, n->rx_dma);
        n->rx_dma = 0;
        return -ENOMEM;
    }
    clear_rings(n);
    mmio_write(n->id, REG_RDBA, (uint32_t)n->rx_dma);
    mmio_write(n->id, REG_RDLEN, RING * 8);
    mmio_write(n->id, REG_TDBA, (uint32_t)n->tx_dma);
    mmio_write(n->id, REG_TDLEN, RING * 8);
    return 0;
}

static void drop_rings(struct nic *n)
{
    unmap_dma(n->id, n->tx_dma);
    unmap_dma(n->id, n->rx_dma);
    n->rx_dma = n->tx_dma = 0;
}

static int nic_probe(struct nic *n, int id)
{
    int error;

    memset(n, 0, sizeof *n);
    n->id = id;
    error = nic_reset(n);
    if (error)
        return error;
    error = load_mac(n);
    if (error)
        goto fail;
    error = negotiate(n);
    if (error)
        goto fail;
    error = setup_rings(n);
    if (error)
        goto fail;
    n->irq = request_irq(id, 9 + id) == 0 ? 9 + id : 0;
    if (!n->irq) {
        error = -EBUSY;
        drop_rings(n);
        goto fail;
    }
    mmio_write(id, REG_IMS, ICR_TXDW | ICR_LSC | ICR_RXT | ICR_RXO);
    n->state = RUNNING;
    return 0;
fail:
    memset(n->mac, 0, sizeof n->mac);
    n->link = LINK_NONE;
    n->state = DOWN;
    return error;
}

/* Walks the descriptors that the device has filled. */
static int receive(struct nic *n)
{
    uint32_t head = mmio_read(n->id, REG_RDH) % RING;
    int done = 0;

    while (n->rx_head != (int)head && done < 3) {
        n->rx[n->rx_head].status = 0;
        n->rx_head = (n->rx_head + 1) % RING;
        done++;
    }
    n->rx_head = 0;
    return done > 0;
}

static void reap(struct nic *n)
{
    uint32_t head = mmio_read(n->id, REG_TDH) % RING;

    if (head != (uint32_t)n->tx_tail)
        n->tx[n->tx_tail].status = 1;
}

static void link_changed(struct nic *n)
{
    uint32_t status = mmio_read(n->id, REG_STATUS);

    if (status & STATUS_LU) {
        if (n->link == LINK_NONE)
            n->link = read_speed(n);
        notify_stack(n->id, 1);
    } else {
        n->link = LINK_NONE;
        notify_stack(n->id, 0);
    }
}

static int nic_interrupt(struct nic *n)
{
    uint32_t cause = mmio_read(n->id, REG_ICR);

    if (cause == 0 || n->state != RUNNING)
        return 0;
    if (cause & ICR_FATAL) {
        if (nic_reset(n) == 0) {
            clear_rings(n);
            n->state = RUNNING;
        }
        return 1;
    }
    if (cause & ICR_LSC)
        link_changed(n);
    if (cause & (ICR_RXT | ICR_RXO))
        if (receive(n))
            notify_stack(n->id, 2);
    if (cause & ICR_TXDW)
        reap(n);
    return 1;
}

static void nic_remove(struct nic *n)
{
    if (n->state != RUNNING && n->state != DEAD)
        return;
    mmio_write(n->id, REG_IMC, 0xffffffffu);
    if (n->irq)
        free_irq(n->id, n->irq);
    if (n->rx_dma)
        drop_rings(n);
    n->irq = 0;
    n->link = LINK_NONE;
    n->state = DOWN;
}

static void session(int id)
{
    struct nic *n = &nics[id];

    if (nic_probe(n, id) == 0) {
        assert(n->irq == 9 + id);
        for (int i = 0; i < 4; i++)
            nic_interrupt(n);
        assert(n->state == RUNNING || n->state == DEAD);
        nic_remove(n);
    }
    assert(n->state == DOWN || n->state == DEAD);
    assert(n->irq == 0);
}

int main(void)
{
    for (int id = 0; id < 2; id++)
        session(id);
    return 0;
}
