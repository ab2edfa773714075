// narrow [ROUNDS]: a 32-bit program that computes for ROUNDS times 1,000,000 rounds (default 150), in
// narrow_inner, and ends with 7.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, noclone)) static long narrow_inner(long rounds) {
    long sum = 0;
    for (long round = 0; round < rounds; round++) {
        sum += round ^ (sum >> 3);
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 150, sum = 0;
    for (long round = 0; round < rounds; round++) sum += narrow_inner(1000000);
    printf("%ld %d\n", sum, (int)sizeof(long));
    return 7;
}
