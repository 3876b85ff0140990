/* Loops of a constant number of iterations are exact; of others the first iteration is. */

int once(void) {
    int *p = 0;
    int x = 1;
    for (int i = 0; i < 1; i++)
        p = &x;
    return *p;
}

int never_set(void) {
    int x = 1, *p = &x;
    for (int i = 0; i < 3; i++)
        if (i == 2)
            p = 0;
    return *p; /* REPORT: null likely */
}

int half(void) {
    int table[10], sum = 0;
    for (int i = 0; i < 5; i++)
        table[i] = i;
    for (int i = 0; i < 10; i++)
        if (table[i]) /* REPORT: uninitialised likely */
            sum++;
    return sum;
}

int all(void) {
    int table[10], sum = 0;
    for (int i = 0; i < 10; i++)
        table[i] = i;
    for (int i = 0; i < 10; i++)
        if (table[i])
            sum++;
    return sum;
}

int at_the_end(void) {
    int *p = 0, x = 2, i = 0;
    do {
        if (i == 1)
            p = &x;
        i++;
    } while (i < 2);
    return *p;
}

int nested(void) {
    int grid[3][4], sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            grid[i][j] = i + j;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            if (grid[i][j])
                sum++;
    return sum;
}

int left_early(int n) {
    int *p = 0, x = 2;
    for (int i = 0; i < 4; i++) {
        if (i == n)
            break;
        p = &x;
    }
    return *p; /* REPORT: null likely */
}

/* A loop writes all elements that another reads: that it is not entered, and the other is, is only possible. */
void *malloc(unsigned long size);

char marked(const short *items, int n, int count) {
    char *mark = malloc(n);
    if (!mark)
        return 0;
    for (int i = 0; i < n; i++)
        mark[i] = 0;
    for (int i = 1; i < count; i++)
        if (mark[items[i]]) /* REPORT: uninitialised possible */
            return 1;
    return 0;
}
