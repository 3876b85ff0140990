/*
 * A fuzz target explored instead of fuzzed. The entry is the one that libFuzzer calls; all inputs of up to
 * --max-len bytes are explored. A packet is a kind, a length and a payload; one kind reads past its end.
 *
 *     anabranch run --entry LLVMFuzzerTestOneInput --max-len 6 examples/fuzz_target.c
 */
#include <stddef.h>
#include <stdint.h>

enum { PING = 1, DATA = 2, SUM = 3 };

static unsigned checksum(const uint8_t *payload, size_t length) {
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + payload[i];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    uint8_t kind = data[0], length = data[1];
    const uint8_t *payload = data + 2;
    switch (kind) {
    case PING:
        return 0;
    case DATA:
        if (length > size - 2)
            return 0;
        return checksum(payload, length) == 0;
    case SUM: /* the length is taken on trust */
        if (length > 4)
            return 0;
        return checksum(payload, length) == 0;
    default:
        return 0;
    }
}
