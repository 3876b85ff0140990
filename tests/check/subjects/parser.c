// A stack of values as parsers have one: which rule is the first, and how many it reads, a table says.
static const signed char table[300] = {3, -1, 7, 2, -4, 5, 1, 0, 6, 2, 3, 1, -2, 4, 8, 9, 3, 1};
int next(void);

int parse(void) {
    int *stack[50], zero = 0; // values of one origin are one report
    stack[1] = &zero;
    switch (table[next() & 255]) {
    case 1:
        return *stack[1];
    case 3:
        return *stack[2]; // REPORT: uninitialised possible
    case 4:
        return *stack[3]; // REPORT: uninitialised possible
    default:
        return 0;
    }
}

int plain(int rule) {
    int *stack[50];
    if (rule > 3)
        stack[1] = &rule;
    return *stack[1]; // REPORT: uninitialised likely
}
