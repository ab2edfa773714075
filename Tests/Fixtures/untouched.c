// Computes below a buffer of which only the beginning was ever used: the pages behind it are not in
// memory. Arguments: rounds; how deep, each with a buffer of its own.
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline, noclone))

static unsigned char data[65536];

FUNCTION unsigned compute(int rounds) {
    unsigned sum = 1;
    for (int round = 0; round < rounds; round++)
        for (unsigned i = 0; i < sizeof data; i++) {
            sum = sum * 31 + i;
            data[i] = sum >> 8;
        }
    return sum;
}

FUNCTION unsigned with_buffer(int rounds, int depth) {
    volatile unsigned char buffer[12288];
    buffer[0] = depth;
    unsigned sum = depth ? with_buffer(rounds, depth - 1) : compute(rounds);
    return sum + buffer[0];
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 2000;
    printf("%u\n", with_buffer(rounds, argc > 2 ? atoi(argv[2]) : 0));
    return 0;
}
