// narrow: a 32-bit program that computes 150 times 1,000,000 rounds, in narrow_inner, prints the size of a
// long, and ends with 7. It has no C library: few machines have one for 32 bits.
__attribute__((noinline, noclone)) static long narrow_inner(long rounds) {
    long sum = 0;
    for (long round = 0; round < rounds; round++) {
        sum += round ^ (sum >> 3);
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}

static long call(long number, long first, const void *second, long third) {
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "0"(number), "b"(first), "c"(second), "d"(third)
                     : "memory");
    return result;
}

void _start(void) {
    enum { EXIT = 1, WRITE = 4 };
    volatile long sum = 0;
    for (long round = 0; round < 150; round++) sum += narrow_inner(1000000);
    const char text[] = {(char)('0' + sizeof(long)), '\n'};
    call(WRITE, 1, text, sizeof text);
    call(EXIT, 7, 0, 0);
    __builtin_unreachable();
}
