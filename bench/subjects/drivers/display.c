/* A display controller: PLL, panel and monitor detection, EDID, choice of a mode, planes, vertical blanking. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern uint32_t reg_get(int reg);
extern void reg_set(int reg, uint32_t value);
extern int ddc_byte(int head, int offset);
extern int hotplug_level(int head);
extern int fb_pin(int bytes);
extern void fb_unpin(int handle);
extern void nap(int us);
extern int page_flip_wanted(int head);
extern void send_vblank(int head);
extern void uevent(int head, int what);

enum { EIO = 5, EINVAL = 22, ENODEV = 19, ENOMEM = 12, ETIMEDOUT = 110 };
enum { HEADS = 2, POLLS = 3, EDID = 24, MODES = 4, GAMMA = 64, FRAMES = 2 };
enum { R_PLL, R_LOCK, R_HTOTAL, R_VTOTAL, R_PLANE, R_IRQ, R_FIFO, R_POWER };
enum { IRQ_VBLANK = 1, IRQ_HOTPLUG = 2, IRQ_UNDERRUN = 4, IRQ_FAULT = 8 };
enum { DARK, LIT, BLANKED, LOST };
enum { NOTHING, ANALOG, DIGITAL };

struct mode {
    uint16_t width, height;
    uint16_t refresh;
    uint32_t clock; /* kHz */
};

struct head {
    int index;
    int state;
    int link;
    int pinned;
    int mode;
    int underruns;
    uint16_t gamma[GAMMA];
};

static const struct mode modes[MODES] = {
    { 640, 480, 60, 25175 }, { 800, 600, 60, 40000 }, { 1024, 768, 60, 65000 },
    { 1920, 1080, 60, 148500 },
};

static struct head heads[HEADS];

static int lock_pll(struct head *h, uint32_t clock)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        reg_set(R_PLL, clock | (uint32_t)h->index << 28);
        for (int i = 0; i < POLLS; i++) {
            uint32_t lock = reg_get(R_LOCK);
            if (lock & 4)
                break;
            if (lock & 1)
                return 0;
            nap(50);
        }
    }
    return -ETIMEDOUT;
}

/* Reads the block once; a short or damaged one is as good as none. */
static int read_edid(struct head *h, uint8_t *edid)
{
    uint8_t sum = 0;

    for (int i = 0; i < EDID; i++) {
        int byte = ddc_byte(h->index, i);
        if (byte < 0)
            return -EIO;
        edid[i] = (uint8_t)byte;
        sum = (uint8_t)(sum + edid[i]);
    }
    if (edid[0] != 0 || edid[1] != 0xff)
        return -EINVAL;
    return sum == 0 ? 0 : -EIO;
}

static int pick_mode(const uint8_t *edid)
{
    int best = 0;

    for (int i = 1; i < MODES; i++)
        if (edid[8] >> i & 1)
            best = i;
    return best;
}

static int detect(struct head *h)
{
    int level = 0;

    for (int i = 0; i < POLLS; i++) {
        level = hotplug_level(h->index);
        if (level == 1 || level == 2)
            break;
        nap(500);
    }
    if (level == 1)
        return ANALOG;
    return level == 2 ? DIGITAL : NOTHING;
}

static int connect(struct head *h)
{
    uint8_t edid[EDID];

    h->link = detect(h);
    if (h->link == NOTHING)
        return -ENODEV;
    if (read_edid(h, edid) == 0)
        h->mode = pick_mode(edid);
    else
        h->mode = 0;
    if (h->link == ANALOG && h->mode > 2)
        h->mode = 2;
    assert(h->mode >= 0 && h->mode < MODES);
    return 0;
}

static void load_gamma(struct head *h)
{
    uint32_t value = 0;

    for (int i = 0; i < GAMMA; i++) {
        h->gamma[i] = (uint16_t)(value >> 6);
        value += (uint32_t)(i * 37 + 11);
    }
}

static int power_panel(int on)
{
    reg_set(R_POWER, (uint32_t)on);
    for (int i = 0; i < POLLS; i++) {
        uint32_t state = reg_get(R_POWER);
        if (state & 0x80)
            return -EIO;
        if ((state & 1) == (uint32_t)on)
            return 0;
        nap(1000);
    }
    return -ETIMEDOUT;
}

static int set_mode(struct head *h)
{
    const struct mode *m = &modes[h->mode];
    int error;

    h->pinned = fb_pin(m->width * m->height * 4);
    if (h->pinned <= 0) {
        h->pinned = 0;
        return -ENOMEM;
    }
    h->pinned = 1;
    error = lock_pll(h, m->clock);
    if (error)
        goto unpin;
    reg_set(R_HTOTAL, m->width);
    reg_set(R_VTOTAL, m->height);
    load_gamma(h);
    error = power_panel(1);
    if (error)
        goto unpin;
    reg_set(R_PLANE, 1);
    h->state = LIT;
    return 0;
unpin:
    fb_unpin(h->pinned);
    h->pinned = 0;
    return error;
}

static void darken(struct head *h)
{
    if (h->state == LIT || h->state == BLANKED) {
        reg_set(R_PLANE, 0);
        power_panel(0);
    }
    if (h->pinned)
        fb_unpin(h->pinned);
    memset(h->gamma, 0, sizeof h->gamma);
    h->pinned = h->link = h->mode = h->underruns = 0;
    h->state = DARK;
}

static int light(struct head *h)
{
    int error = connect(h);

    if (!error)
        error = set_mode(h);
    if (error == 0)
        return 0;
    /* the smallest mode is always worth a try */
    if (error == -ETIMEDOUT && h->mode > 0) {
        h->mode = 0;
        if (set_mode(h) == 0)
            return 0;
    }
    darken(h);
    return -EIO;
}

static void underrun(struct head *h)
{
    uint32_t level = reg_get(R_FIFO) & 0xff;

    h->underruns++;
    if (h->underruns > 1 && level < 16) {
        darken(h);
        h->state = LOST;
        uevent(h->index, 3);
    } else if (level < 64) {
        reg_set(R_FIFO, level + 16);
    }
}

static void vblank(struct head *h)
{
    if (h->state != LIT)
        return;
    if (page_flip_wanted(h->index)) {
        reg_set(R_PLANE, 3);
        if (reg_get(R_PLANE) & 2)
            nap(1);
    }
    send_vblank(h->index);
}

static void replug(struct head *h)
{
    darken(h);
    if (light(h) == 0)
        uevent(h->index, 1);
    else
        uevent(h->index, 2);
}

static int interrupt(struct head *h)
{
    uint32_t why = reg_get(R_IRQ);

    if (!(why & 15) || h->state == LOST)
        return 0;
    if (why & IRQ_FAULT) {
        darken(h);
        h->state = LOST;
        return 1;
    }
    if (why & IRQ_HOTPLUG) {
        replug(h);
        return 1;
    }
    if (why & IRQ_UNDERRUN && h->state == LIT)
        underrun(h);
    if (why & IRQ_VBLANK)
        vblank(h);
    return 1;
}

static void show(int index)
{
    struct head *h = &heads[index];

    memset(h, 0, sizeof *h);
    h->index = index;
    if (light(h) == 0)
        assert(h->state == LIT && h->pinned);
    for (int i = 0; i < FRAMES; i++) {
        interrupt(h);
        assert(h->state != LIT || h->pinned);
        assert(h->state != LOST || !h->pinned);
    }
    darken(h);
    assert(h->state == DARK && !h->pinned);
}

int main(void)
{
    for (int i = 0; i < HEADS; i++)
        show(i);
    return 0;
}
