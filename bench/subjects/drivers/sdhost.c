/* An SD card behind a host controller: identification, CSD, block reads with retries, card removal.
 *
 * Responses carry a CRC that is computed in software, bit by bit and without branches.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern uint32_t host_status(void);
extern uint32_t host_response(int word);
extern uint8_t host_data(void);
extern void host_command(int index, uint32_t argument);
extern void host_clock(int khz);
extern void host_power(int on);
extern void host_bus_width(int bits);
extern void sleep_ms(int ms);
extern int card_present(void);
extern void complete_request(int request, int error);

enum { EIO = 5, EILSEQ = 84, ENOMEDIUM = 123, ETIMEDOUT = 110, EINVAL = 22, EROFS = 30 };
enum { ST_DONE = 1 << 0, ST_TIMEOUT = 1 << 1, ST_CRC = 1 << 2, ST_DATA = 1 << 5, ST_GONE = 1 << 7 };
enum { R_NONE, R1, R2, R3, R7 };
enum { NO_CARD, IDLE, READY, IDENTIFIED, TRANSFER, BROKEN };
enum { POLLS = 3, RETRIES = 1, BLOCK = 16, REQUESTS = 3 };

struct csd {
    uint32_t blocks;
    uint8_t speed;
    uint8_t read_only;
    uint8_t version;
};

struct card {
    int state;
    int high_capacity;
    int width;
    uint16_t rca;
    struct csd csd;
};

struct request {
    uint32_t block;
    int write;
    int error;
    uint8_t data[BLOCK];
};

static struct card card;
static uint8_t cache[BLOCK];
static uint32_t cached_block;
static int cache_valid;

/* CRC-7 of a 32-bit response; the mask takes the place of a branch. */
static uint8_t crc7(uint32_t word)
{
    uint8_t crc = 0;

    for (int bit = 31; bit >= 0; bit--) {
        uint8_t in = (uint8_t)(word >> bit & 1u);
        uint8_t top = (uint8_t)(crc >> 6 & 1u) ^ in;
        crc = (uint8_t)((crc << 1 & 0x7f) ^ (0x09 & (uint8_t)-top));
    }
    return crc;
}

static int wait_done(void)
{
    for (int i = 0; i < POLLS; i++) {
        uint32_t status = host_status();
        if (status & ST_GONE)
            return -ENOMEDIUM;
        if (status & ST_TIMEOUT)
            return -ETIMEDOUT;
        if (status & ST_CRC)
            return -EILSEQ;
        if (status & ST_DONE)
            return 0;
        sleep_ms(1);
    }
    return -ETIMEDOUT;
}

static int command(int index, uint32_t argument, int kind, uint32_t *answer)
{
    int error = 0;

    for (int attempt = 0; attempt <= RETRIES; attempt++) {
        host_command(index, argument);
        error = wait_done();
        if (error == -ENOMEDIUM)
            return error;
        if (error == 0) {
            if (kind == R_NONE)
                return 0;
            *answer = host_response(0);
            if (kind == R3 || crc7(*answer) == (host_response(3) & 0x7f))
                return 0;
            error = -EILSEQ;
        }
    }
    return error;
}

static int app_command(int index, uint32_t argument, int kind, uint32_t *answer)
{
    uint32_t status;
    int error = command(55, (uint32_t)card.rca << 16, R1, &status);

    if (error)
        return error;
    if (!(status & 1u << 5))
        return -EINVAL;
    return command(index, argument, kind, answer);
}

static int negotiate_voltage(int version_2)
{
    uint32_t ocr = 0;

    for (int i = 0; i < POLLS; i++) {
        int error = app_command(41, version_2 ? 0x40ff8000u : 0x00ff8000u, R3, &ocr);
        if (error)
            return error;
        if (ocr & 1u << 31) {
            card.high_capacity = version_2 && (ocr >> 30 & 1);
            return 0;
        }
        sleep_ms(10);
    }
    return -ETIMEDOUT;
}

static int identify(void)
{
    uint32_t answer = 0;
    int error, version_2;

    error = command(0, 0, R_NONE, &answer);
    if (error)
        return error;
    card.state = IDLE;
    error = command(8, 0x1aa, R7, &answer);
    if (error == -ENOMEDIUM)
        return error;
    version_2 = error == 0;
    if (version_2 && (answer & 0xfff) != 0x1aa)
        return -EINVAL;
    error = negotiate_voltage(version_2);
    if (error)
        return error;
    card.state = READY;
    error = command(3, 0, R1, &answer);
    if (error)
        return error;
    card.rca = (uint16_t)(answer >> 16);
    card.state = IDENTIFIED;
    return 0;
}

static int read_csd(void)
{
    uint32_t word = 0, size;
    int error = command(9, (uint32_t)card.rca << 16, R2, &word);

    if (error)
        return error;
    card.csd.version = (uint8_t)(word >> 30);
    if (card.csd.version > 1)
        return -EINVAL;
    card.csd.speed = (uint8_t)word;
    size = host_response(1) & 0x3fffff;
    card.csd.blocks = card.csd.version ? (size + 1) << 4 : (size & 0xfff) + 1;
    card.csd.read_only = (uint8_t)(host_response(2) >> 13 & 1);
    return 0;
}

static int select_card(void)
{
    uint32_t answer = 0;
    int error = command(7, (uint32_t)card.rca << 16, R1, &answer);

    if (error)
        return error;
    error = app_command(6, 2, R1, &answer);
    card.width = error ? 1 : 4;
    host_bus_width(card.width);
    host_clock(card.csd.speed == 0x5a ? 50000 : 25000);
    card.state = TRANSFER;
    return 0;
}

static void forget_card(void)
{
    memset(&card, 0, sizeof card);
    memset(cache, 0, sizeof cache);
    cache_valid = 0;
    cached_block = 0;
    host_power(0);
}

static int start_card(void)
{
    int error;

    forget_card();
    host_power(1);
    host_clock(400);
    if (!card_present())
        return -ENOMEDIUM;
    error = identify();
    if (!error)
        error = read_csd();
    if (!error)
        error = select_card();
    if (error) {
        forget_card();
        if (error != -ENOMEDIUM)
            card.state = BROKEN;
        return error;
    }
    return 0;
}

static int fill(uint8_t *to)
{
    uint8_t sum = 0;
    int error = wait_done();

    if (error)
        return error;
    for (int i = 0; i < BLOCK; i++) {
        to[i] = host_data();
        sum = (uint8_t)((sum << 1 | sum >> 7) ^ to[i]);
    }
    return sum == host_data() ? 0 : -EILSEQ;
}

static int read_block(uint32_t block, uint8_t *to)
{
    uint32_t answer = 0;
    int error = -EIO;

    if (cache_valid && cached_block == block) {
        memcpy(to, cache, BLOCK);
        return 0;
    }
    for (int attempt = 0; attempt <= RETRIES; attempt++) {
        error = command(17, card.high_capacity ? block : block * 512, R1, &answer);
        if (error)
            return error;
        if (answer & 0xfdf98008u)
            return -EIO;
        error = fill(to);
        if (error != -EILSEQ)
            break;
    }
    return error;
}

static int serve(struct request *r)
{
    int error;

    if (card.state != TRANSFER)
        return -ENOMEDIUM;
    if (r->block >= card.csd.blocks)
        return -EINVAL;
    if (r->write)
        return card.csd.read_only ? -EROFS : -EINVAL;
    error = read_block(r->block, r->data);
    if (error == -ENOMEDIUM)
        forget_card();
    return error;
}

static int read_ahead(uint32_t first)
{
    struct request r;

    for (int i = 0; i < REQUESTS; i++) {
        memset(&r, 0, sizeof r);
        r.block = first + (uint32_t)i;
        r.write = i == REQUESTS - 1;
        r.error = serve(&r);
        complete_request(i, r.error);
        assert(!r.write || r.error != 0);
        if (r.error)
            return r.error == -ENOMEDIUM ? -ENOMEDIUM : -EIO;
    }
    return 0;
}

static int session(uint32_t first)
{
    int error;

    if (start_card() != 0)
        return -1;
    assert(card.state == TRANSFER);
    assert(card.width == 1 || card.width == 4);
    error = read_ahead(first);
    assert(error != 0);
    if (error == -ENOMEDIUM)
        assert(card.state == NO_CARD);
    forget_card();
    return 0;
}

int main(void)
{
    if (session(0) != 0)
        session(8);
    assert(card.state == NO_CARD || card.state == BROKEN);
    assert(!cache_valid);
    return 0;
}
