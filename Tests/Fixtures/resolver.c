// A plugin for `resolving`: its resolver says so and waits for a byte of input, its initialiser says
// that it has run. The resolver runs before anything of the library is relocated, so it makes its
// calls itself.
#include <sys/syscall.h>
#include <unistd.h>

static long call(long number, long first, const void *second, long third) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
}

static int one(void) { return 1; }

__attribute__((used)) static int (*resolve(void))(void) {
    char byte = 0;
    call(SYS_write, STDOUT_FILENO, "resolving\n", 10);
    call(SYS_read, STDIN_FILENO, &byte, 1);
    return one;
}

int indirect(void) __attribute__((ifunc("resolve")));

__attribute__((constructor)) static void begin(void) {
    if (indirect() == 1) call(SYS_write, STDOUT_FILENO, "initialised\n", 12);
}
