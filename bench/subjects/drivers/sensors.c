/* Sensors on an I2C bus: a bit-banged master, packet checks, calibration, limits and alarms. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern int line_level(int bus, int line);
extern void drive_line(int bus, int line, int level);
extern uint8_t shift_in(int bus);
extern void shift_out(int bus, uint8_t byte);
extern void delay_us(int us);
extern void raise_alarm(int sensor, int level);
extern void clear_alarm(int sensor);
extern void fan_speed(int percent);

enum { EIO = 5, EAGAIN = 11, ENODEV = 19, EPROTO = 71, ETIMEDOUT = 110 };
enum { SENSORS = 3, TRIES = 2, STRETCH = 2, CALIBRATION = 6, SDA = 0, SCL = 1 };
enum { CMD_ID = 0x0f, CMD_CAL = 0x20, CMD_READ = 0x30, CMD_LIMIT = 0x40, CMD_RESET = 0xfe };
enum { COLD, NORMAL, WARM, HOT };

struct sensor {
    uint8_t address;
    uint8_t present;
    uint8_t level;
    uint8_t faults;
    int32_t gain;
    int32_t offset;
};

static struct sensor sensors[SENSORS];
static int bus_stuck;

/* Packet error check: CRC-8 of one byte onto another, without branches. */
static uint8_t pec(uint8_t crc, uint8_t byte)
{
    crc ^= byte;
    for (int i = 0; i < 8; i++)
        crc = (uint8_t)(crc << 1 ^ (0x07 & (uint8_t)-(crc >> 7)));
    return crc;
}

static int release_bus(int bus)
{
    for (int i = 0; i < 5; i++) {
        if (line_level(bus, SDA))
            return 0;
        drive_line(bus, SCL, 0);
        delay_us(5);
        drive_line(bus, SCL, 1);
    }
    return -EIO;
}

static int start(int bus)
{
    if (!line_level(bus, SDA) && release_bus(bus) != 0) {
        bus_stuck = 1;
        return -EIO;
    }
    for (int i = 0; i < STRETCH; i++) {
        if (line_level(bus, SCL)) {
            drive_line(bus, SDA, 0);
            return 0;
        }
        delay_us(10);
    }
    return -ETIMEDOUT;
}

static void stop(int bus)
{
    drive_line(bus, SCL, 1);
    drive_line(bus, SDA, 1);
}

/* One byte out; the slave pulls the data line down to acknowledge. */
static int put(int bus, uint8_t byte)
{
    shift_out(bus, byte);
    for (int i = 0; i < STRETCH; i++) {
        if (line_level(bus, SCL))
            return line_level(bus, SDA) ? -ENODEV : 0;
        delay_us(10);
    }
    return -ETIMEDOUT;
}

static int transfer(int bus, uint8_t address, uint8_t cmd, uint8_t *data, int length)
{
    uint8_t crc = pec(pec(0, (uint8_t)(address << 1)), cmd);
    int error = start(bus);

    if (error)
        return error;
    error = put(bus, (uint8_t)(address << 1));
    if (!error)
        error = put(bus, cmd);
    if (!error)
        error = put(bus, (uint8_t)(address << 1 | 1));
    if (!error) {
        crc = pec(crc, (uint8_t)(address << 1 | 1));
        for (int i = 0; i < length; i++) {
            data[i] = shift_in(bus);
            crc = pec(crc, data[i]);
        }
        if (shift_in(bus) != crc)
            error = -EPROTO;
    }
    stop(bus);
    return error;
}

static int query(struct sensor *s, uint8_t cmd, uint8_t *data, int length)
{
    int error = 0;

    for (int i = 0; i < TRIES; i++) {
        memset(data, 0, (unsigned)length);
        error = transfer(0, s->address, cmd, data, length);
        if (error == 0)
            return 0;
        if (bus_stuck)
            return -EIO;
        delay_us(100);
    }
    memset(data, 0, (unsigned)length);
    return -EIO;
}

static int calibrate(struct sensor *s)
{
    uint8_t raw[CALIBRATION];

    if (query(s, CMD_CAL, raw, CALIBRATION) != 0)
        return -EIO;
    s->gain = raw[0] | raw[1] << 8;
    s->offset = (int16_t)(raw[2] | raw[3] << 8);
    if (s->gain == 0)
        return -EPROTO;
    return 0;
}

static int detect(struct sensor *s, uint8_t address)
{
    uint8_t id[2];

    memset(s, 0, sizeof *s);
    s->address = address;
    if (query(s, CMD_ID, id, 2) != 0)
        goto absent;
    if (id[0] != 0x5a || (id[1] & 0xf0) != 0x10)
        goto absent;
    if (calibrate(s) != 0)
        goto absent;
    s->level = NORMAL;
    s->present = 1;
    return 0;
absent:
    memset(s, 0, sizeof *s);
    return -ENODEV;
}

static int classify(int32_t value)
{
    if (value < -100)
        return COLD;
    if (value < 600)
        return NORMAL;
    if (value < 850)
        return WARM;
    return HOT;
}

static int sample(struct sensor *s, int *level)
{
    uint8_t raw[2];
    int32_t value;

    if (query(s, CMD_READ, raw, 2) != 0)
        return -EIO;
    value = (int16_t)(raw[0] | raw[1] << 8);
    value = (value << (s->gain & 1)) + (s->offset >> 4);
    *level = classify(value);
    return 0;
}

static void alarm_changed(int index, int from, int to)
{
    if (to == HOT)
        raise_alarm(index, 2);
    else if (to == WARM && from < WARM)
        raise_alarm(index, 1);
    else if (to < WARM && from >= WARM)
        clear_alarm(index);
}

/* The alarm line was pulled: look at one sensor. */
static int on_alert(int index)
{
    struct sensor *s = &sensors[index];
    int level = NORMAL;

    assert(s->present);
    if (sample(s, &level) != 0) {
        s->faults++;
        if (s->faults >= 2) {
            s->present = 0;
            raise_alarm(index, 3);
        }
        return -EIO;
    }
    s->faults = 0;
    if (level != s->level) {
        alarm_changed(index, s->level, level);
        s->level = (uint8_t)level;
    }
    return 0;
}

static int watch(int index)
{
    struct sensor *s = &sensors[index];
    int hot;

    if (detect(s, (uint8_t)(0x48 + index)) != 0)
        return -ENODEV;
    assert(s->gain != 0);
    for (int i = 0; i < 2 && s->present && !bus_stuck; i++)
        on_alert(index);
    hot = s->present && s->level >= WARM;
    assert(s->level <= HOT);
    memset(s, 0, sizeof *s);
    return hot;
}

static void power_cycle(void)
{
    bus_stuck = 0;
    memset(sensors, 0, sizeof sensors);
    delay_us(1000);
}

int main(void)
{
    int hot = 0;

    for (int i = 0; i < SENSORS; i++) {
        if (watch(i) > 0)
            hot = 1;
        if (bus_stuck)
            power_cycle();
        assert(!bus_stuck);
    }
    fan_speed(hot ? 100 : 30);
    return 0;
}
