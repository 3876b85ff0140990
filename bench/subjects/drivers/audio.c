/* An audio controller with codecs: command rings, widgets, routing, streams, interrupts.
 *
 * There is one mistake in it: route() trusts the connection index that a codec answers, and the table it
 * looks into has room for MAX_INPUTS entries.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

extern uint32_t hda_get(int reg);
extern void hda_set(int reg, uint32_t value);
extern int codec_answer(int codec, int node, int verb, int parameter);
extern int dma_pages(int count);
extern void dma_free(int handle);
extern void mdelay(int ms);
extern void period_elapsed(int stream);
extern int jack_sense(int codec, int pin);
extern void jack_report(int pin, int present);

enum { EIO = 5, ENOMEM = 12, ENODEV = 19, EBUSY = 16, EINVAL = 22, ETIMEDOUT = 110 };
enum { CODECS = 2, WIDGETS = 5, MAX_INPUTS = 4, POLLS = 3, FRAGMENTS = 32, EVENTS = 2 };
enum { R_GCTL, R_STATES, R_CORB, R_RIRB, R_INTSTS, R_SDCTL, R_SDSTS };
enum { GET_TYPE = 1, GET_CONNECTIONS, GET_SELECTED, GET_AMP, GET_FORMAT, SET_POWER, SET_PIN, SET_AMP };
enum { OUTPUT, INPUT, MIXER, SELECTOR, PIN };
enum { IRQ_STREAM = 1, IRQ_RESPONSE = 2, IRQ_WAKE = 4, IRQ_ERROR = 8 };
enum { CLOSED, PREPARED, PLAYING, XRUN };

struct widget {
    uint8_t type;
    uint8_t inputs;
    uint8_t amp;
};

struct fragment {
    uint32_t address;
    uint32_t length;
};

struct codec {
    int alive;
    int outputs;
    int pins;
    struct widget widgets[WIDGETS];
};

struct stream {
    int state;
    int pages;
    int position;
    int format;
    struct fragment list[FRAGMENTS];
};

static struct codec codecs[CODECS];
static struct stream playback;

static int reset_controller(void)
{
    hda_set(R_GCTL, 0);
    for (int i = 0; i < POLLS; i++) {
        if (!(hda_get(R_GCTL) & 1))
            break;
        mdelay(1);
    }
    hda_set(R_GCTL, 1);
    for (int i = 0; i < POLLS; i++) {
        if (hda_get(R_GCTL) & 1)
            return 0;
        mdelay(1);
    }
    return -ETIMEDOUT;
}

static int start_ring(int reg)
{
    hda_set(reg, 1u << 15);
    if (!(hda_get(reg) & 1u << 15))
        return -EIO;
    hda_set(reg, 0);
    if (hda_get(reg) & 1u << 15)
        return -EIO;
    hda_set(reg, 2);
    return 0;
}

/* One verb; a codec that does not answer twice is taken for dead. */
static int verb(int codec, int node, int what, int parameter)
{
    int answer = codec_answer(codec, node, what, parameter);

    if (answer < 0) {
        mdelay(1);
        answer = codec_answer(codec, node, what, parameter);
    }
    return answer < 0 ? -EIO : answer & 0xff;
}

static int read_widget(int codec, int node, struct widget *w)
{
    int type = verb(codec, node, GET_TYPE, 0);
    int inputs = verb(codec, node, GET_CONNECTIONS, 0);

    if (type < 0 || inputs < 0)
        return -EIO;
    switch (type & 7) {
    case OUTPUT:
    case INPUT:
        w->inputs = 0;
        break;
    case MIXER:
    case SELECTOR:
    case PIN:
        w->inputs = (inputs & 0x7f) > MAX_INPUTS ? MAX_INPUTS : 1;
        break;
    default:
        return -EINVAL;
    }
    w->type = (uint8_t)(type & 7);
    w->amp = 0;
    return 0;
}

static int parse_codec(int codec)
{
    struct codec *c = &codecs[codec];
    struct widget w;

    memset(c, 0, sizeof *c);
    for (int node = 0; node < WIDGETS; node++) {
        memset(&w, 0, sizeof w);
        if (read_widget(codec, node, &w) != 0)
            goto dead;
        if (w.type == OUTPUT)
            c->outputs = 1;
        else if (w.type == PIN)
            c->pins = 1;
    }
    if (!c->outputs || !c->pins)
        goto dead;
    c->alive = 1;
    return 0;
dead:
    memset(c, 0, sizeof *c);
    return -ENODEV;
}

static int route(int codec)
{
    static const uint8_t gain[MAX_INPUTS] = { 64, 48, 32, 16 };
    int selected = verb(codec, 2, GET_SELECTED, 0);

    if (selected < 0)
        return -EIO;
    if (selected > MAX_INPUTS) /* one too many */
        return -EINVAL;
    return verb(codec, 2, SET_AMP, gain[selected]) < 0 ? -EIO : 0;
}

static int power_up(int codec)
{
    for (int node = 0; node < WIDGETS; node++) {
        int now = -1;
        for (int i = 0; i < POLLS && now != 0; i++) {
            now = verb(codec, node, SET_POWER, 0);
            if (now < 0)
                return -EIO;
        }
        if (now != 0)
            return -ETIMEDOUT;
    }
    return 0;
}

static void build_list(struct stream *s)
{
    for (int i = 0; i < FRAGMENTS; i++) {
        s->list[i].address = (uint32_t)(i * 4096);
        s->list[i].length = i + 1 < FRAGMENTS ? 4096 : 2048;
    }
    s->position = 0;
}

static int prepare(struct stream *s)
{
    int format = verb(0, 1, GET_FORMAT, 0);

    if (format < 0)
        return -EIO;
    s->format = format & 0x10 ? 48000 : 44100;
    s->pages = dma_pages(FRAGMENTS);
    if (s->pages <= 0) {
        memset(s, 0, sizeof *s);
        return -ENOMEM;
    }
    s->pages = 1;
    build_list(s);
    hda_set(R_SDCTL, 2);
    if (hda_get(R_SDCTL) & 1) {
        dma_free(s->pages);
        memset(s, 0, sizeof *s);
        return -EBUSY;
    }
    s->state = PREPARED;
    return 0;
}

static void close_stream(struct stream *s)
{
    hda_set(R_SDCTL, 0);
    if (s->pages)
        dma_free(s->pages);
    memset(s, 0, sizeof *s);
}

static void stream_irq(struct stream *s)
{
    uint32_t status = hda_get(R_SDSTS);

    if (s->state != PLAYING)
        return;
    if (status & 8) {
        s->state = XRUN;
        return;
    }
    if (status & 4)
        period_elapsed(0);
}

static void jacks(int codec)
{
    for (int pin = 0; pin < 3; pin++) {
        int present = jack_sense(codec, pin);
        if (present < 0)
            continue;
        jack_report(pin, present & 1);
    }
}

static int interrupt(void)
{
    uint32_t why = hda_get(R_INTSTS);

    if (!(why & 15))
        return 0;
    if (why & IRQ_ERROR && playback.state == PLAYING)
        playback.state = XRUN;
    if (why & IRQ_STREAM)
        stream_irq(&playback);
    if (why & IRQ_WAKE)
        jacks(0);
    if (why & IRQ_RESPONSE)
        hda_set(R_RIRB, 5);
    return 1;
}

static int play(void)
{
    struct stream *s = &playback;

    if (prepare(s) != 0)
        return -EIO;
    assert(s->list[FRAGMENTS - 1].length == 2048);
    s->state = PLAYING;
    for (int i = 0; i < EVENTS; i++)
        interrupt();
    assert(s->state == PLAYING || s->state == XRUN);
    assert(s->format == 44100 || s->format == 48000);
    close_stream(s);
    return 0;
}

static int bring_up(int codec)
{
    if (parse_codec(codec) != 0)
        return -ENODEV;
    assert(codecs[codec].outputs && codecs[codec].pins);
    if (power_up(codec) != 0 || route(codec) != 0) {
        memset(&codecs[codec], 0, sizeof codecs[codec]);
        return -EIO;
    }
    return 0;
}

int main(void)
{
    int usable = 0;

    if (reset_controller() != 0)
        return 1;
    if (start_ring(R_CORB) != 0 || start_ring(R_RIRB) != 0)
        return 1;
    for (int codec = 0; codec < CODECS; codec++)
        if (bring_up(codec) == 0)
            usable = 1;
    if (usable)
        play();
    assert(playback.state == CLOSED);
    return 0;
}
