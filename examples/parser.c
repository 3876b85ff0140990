/*
 * A parser covered. Reads "key=value" where the key is one of two words and the value a number below 256 or a
 * switch; every line and every way through it gets a test.
 *
 *     anabranch run --tests all examples/parser.c
 */
#include <klee/klee.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 7

enum outcome { NO_KEY, NO_EQUALS, NO_VALUE, TOO_LARGE, TRAILING, A_NUMBER, A_SWITCH };

static const char *const names[] = {
    "unknown key", "no equals sign", "no value", "value too large", "trailing characters", "a number", "a switch",
};

/* Reads decimal digits; returns how many, or -1 when the number leaves a byte. */
static int read_number(const char *text, unsigned *value) {
    int digits = 0;
    *value = 0;
    while (text[digits] >= '0' && text[digits] <= '9') {
        *value = *value * 10 + (unsigned)(text[digits] - '0');
        if (*value > 255)
            return -1;
        digits++;
    }
    return digits;
}

static enum outcome parse(const char *text) {
    int is_switch;
    if (strncmp(text, "gap", 3) == 0)
        is_switch = 0;
    else if (strncmp(text, "dry", 3) == 0)
        is_switch = 1;
    else
        return NO_KEY;
    text += 3;

    if (*text++ != '=')
        return NO_EQUALS;
    if (is_switch) {
        if (*text != 'y' && *text != 'n')
            return NO_VALUE;
        return text[1] == '\0' ? A_SWITCH : TRAILING;
    }
    unsigned value;
    int digits = read_number(text, &value);
    if (digits < 0)
        return TOO_LARGE;
    if (digits == 0)
        return NO_VALUE;
    return text[digits] == '\0' ? A_NUMBER : TRAILING;
}

int main(void) {
    char text[LENGTH + 1];
    klee_make_symbolic(text, sizeof text, "text");
    klee_assume(text[LENGTH] == '\0');
    printf("%s\n", names[parse(text)]);
    return 0;
}
