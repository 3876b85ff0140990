/* A power management chip: regulators in order, battery gauge, charger states, thermal limits, key. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern int spi_transfer(int chip, int reg, int write, int value);
extern int adc_sample(int channel);
extern int gpio_get(int pin);
extern void gpio_set(int pin, int level);
extern void msleep(int ms);
extern void notify_user(int event);
extern int request_irq(int line);
extern void free_irq(int line);
extern int nvram_read(int cell);

enum { EIO = 5, ENODEV = 19, EINVAL = 22, ERANGE = 34, ETIMEDOUT = 110 };
enum { RAILS = 5, POLLS = 3, SAMPLES = 3, TICKS = 3 };
enum { REG_ID = 0, REG_RAIL = 0x10, REG_GOOD = 0x18, REG_CHARGE = 0x20, REG_STATUS = 0x21, REG_IRQ = 0x30 };
enum { IRQ_KEY = 1, IRQ_PLUG = 2, IRQ_UNPLUG = 4, IRQ_HOT = 8, IRQ_DONE = 16, IRQ_FAULT = 32 };
enum { OFF, PRECHARGE, FAST, TOPPED, SUSPENDED, FAULTED };
enum { COOL, TEPID, BURNING };

struct rail {
    uint8_t enabled;
    uint16_t millivolts;
    uint16_t least, most;
};

struct chip {
    int id;
    int charging;
    int limit; /* mA */
    int percent;
    int temperature;
    int key_down;
    struct rail rails[RAILS];
};

static struct chip chip;

static const uint16_t nominal[RAILS] = { 3300, 1800, 1200, 2800, 900 };

static int read_reg(int reg, int *value)
{
    int got = spi_transfer(chip.id, reg, 0, 0);

    if (got < 0)
        got = spi_transfer(chip.id, reg, 0, 0);
    if (got < 0)
        return -EIO;
    *value = got & 0xff;
    return 0;
}

static int write_reg(int reg, int value)
{
    if (spi_transfer(chip.id, reg, 1, value) >= 0)
        return 0;
    msleep(1);
    return spi_transfer(chip.id, reg, 1, value) >= 0 ? 0 : -EIO;
}

static int rail_good(int index)
{
    for (int i = 0; i < POLLS; i++) {
        int good = 0;
        if (read_reg(REG_GOOD, &good) != 0)
            return -EIO;
        if (good >> index & 1)
            return 0;
        msleep(2);
    }
    return -ETIMEDOUT;
}

static int enable_rail(int index)
{
    struct rail *r = &chip.rails[index];
    int trim = nvram_read(index);

    r->least = (uint16_t)(nominal[index] - nominal[index] / 10);
    r->most = (uint16_t)(nominal[index] + nominal[index] / 10);
    r->millivolts = nominal[index];
    if (trim > 0 && trim < 50)
        r->millivolts = (uint16_t)(r->millivolts + 25);
    if (r->millivolts < r->least || r->millivolts > r->most)
        return -ERANGE;
    if (write_reg(REG_RAIL + index, r->millivolts / 25) != 0)
        return -EIO;
    if (rail_good(index) != 0) {
        write_reg(REG_RAIL + index, 0);
        memset(r, 0, sizeof *r);
        return -EIO;
    }
    r->millivolts = nominal[index];
    r->enabled = 1;
    return 0;
}

static void disable_rails(int count)
{
    while (count-- > 0) {
        write_reg(REG_RAIL + count, 0);
        memset(&chip.rails[count], 0, sizeof chip.rails[count]);
    }
}

static int power_up(void)
{
    for (int i = 0; i < RAILS; i++) {
        if (enable_rail(i) != 0) {
            disable_rails(i);
            memset(&chip.rails[i], 0, sizeof chip.rails[i]);
            return -EIO;
        }
    }
    return 0;
}

/* The middle one of three samples. */
static int measure(int channel, int *result)
{
    int value[SAMPLES], low, high, sum = 0;

    for (int i = 0; i < SAMPLES; i++) {
        value[i] = adc_sample(channel);
        if (value[i] < 0 || value[i] > 4095)
            return -EIO;
    }
    low = high = value[0];
    for (int i = 0; i < SAMPLES; i++) {
        low = value[i] < low ? value[i] : low;
        high = value[i] > high ? value[i] : high;
        sum += value[i];
    }
    *result = sum - low - high;
    return 0;
}

static int thermal(void)
{
    int raw = 0;

    if (adc_sample(7) < 0)
        return BURNING;
    raw = adc_sample(7);
    if (raw < 0)
        return BURNING;
    if (raw < 1000)
        return COOL;
    return raw < 3000 ? TEPID : BURNING;
}

static int set_charging(int state, int limit)
{
    if (write_reg(REG_CHARGE, state == OFF ? 0 : limit / 50) != 0) {
        gpio_set(3, 0);
        chip.charging = FAULTED;
        chip.limit = 0;
        return -EIO;
    }
    chip.charging = state;
    chip.limit = limit;
    return 0;
}

static int adapter_limit(void)
{
    int kind = 0;

    if (read_reg(REG_STATUS, &kind) != 0)
        return 100;
    switch (kind & 3) {
    case 1:
        return 500;
    case 2:
        return 1500;
    default:
        return 100;
    }
}

static void plug(void)
{
    int status = 0;

    if (thermal() == BURNING) {
        set_charging(SUSPENDED, 0);
        return;
    }
    if (read_reg(REG_STATUS, &status) != 0 || status & 0x80) {
        set_charging(FAULTED, 0);
        return;
    }
    if (status & 0x40)
        set_charging(PRECHARGE, 100);
    else
        set_charging(FAST, adapter_limit());
}

static void advance(void)
{
    int heat = thermal();

    switch (chip.charging) {
    case PRECHARGE:
        if (heat == BURNING)
            set_charging(SUSPENDED, 0);
        else
            set_charging(FAST, adapter_limit());
        break;
    case FAST:
        if (heat == BURNING)
            set_charging(SUSPENDED, 0);
        else if (heat == TEPID)
            set_charging(FAST, 100);
        break;
    case SUSPENDED:
        if (heat == COOL)
            plug();
        break;
    default:
        break;
    }
}

static int gauge(void)
{
    int volts = 0, amps = 0;

    if (measure(0, &volts) != 0 || measure(1, &amps) != 0)
        return -1;
    if (volts < 200)
        notify_user(5);
    return 0;
}

static void key(void)
{
    int held = 0;

    for (int i = 0; i < POLLS; i++) {
        if (!gpio_get(1))
            break;
        held++;
        msleep(50);
    }
    if (held == POLLS)
        notify_user(2);
    else if (held > 0)
        notify_user(1);
}

static int interrupt(void)
{
    int why = 0;

    if (read_reg(REG_IRQ, &why) != 0)
        return -EIO;
    if (why & IRQ_FAULT) {
        set_charging(FAULTED, 0);
        return 0;
    }
    if (why & IRQ_KEY)
        key();
    if (why & IRQ_UNPLUG)
        set_charging(OFF, 0);
    else if (why & IRQ_PLUG)
        plug();
    if (why & IRQ_HOT && chip.charging == FAST)
        set_charging(SUSPENDED, 0);
    if (why & IRQ_DONE && chip.charging == FAST)
        set_charging(TOPPED, 0);
    return 0;
}

static void tick(void)
{
    advance();
    if (gauge() < 0)
        notify_user(4);
    if (interrupt() != 0)
        notify_user(3);
    assert(chip.charging >= OFF && chip.charging <= FAULTED);
    assert(chip.charging != FAULTED || chip.limit == 0);
    assert(chip.limit <= 1500);
}

static int probe(int id)
{
    int model = 0;

    memset(&chip, 0, sizeof chip);
    chip.id = id;
    if (read_reg(REG_ID, &model) != 0)
        return -EIO;
    if (model != 0x42 && model != 0x43)
        return -ENODEV;
    if (power_up() != 0)
        return -EIO;
    if (request_irq(5) != 0) {
        disable_rails(RAILS);
        return -EIO;
    }
    return 0;
}

int main(void)
{
    if (probe(1) != 0) {
        for (int i = 0; i < RAILS; i++)
            assert(!chip.rails[i].enabled);
        return 1;
    }
    for (int i = 0; i < RAILS; i++)
        assert(chip.rails[i].enabled);
    for (int i = 0; i < TICKS; i++)
        tick();
    set_charging(OFF, 0);
    disable_rails(RAILS);
    free_irq(5);
    return 0;
}
