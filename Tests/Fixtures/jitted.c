// jitted: code that is made at run time, and listed for profilers as just-in-time compilers do: in
// /tmp/perf-PID.map, PID being the id that the process sees itself.
//
//   jitted ROUNDS   calls it ROUNDS times, about a millisecond each
//   jitted          writes "ready", and calls it until standard input ends
#include "fixture.h"

#include <poll.h>
#include <sys/mman.h>

typedef void (*loop)(uint64_t);

// push %rbp; mov %rsp, %rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

static loop make(void) {
    void *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) fail("mmap");
    memcpy(place, code, sizeof code);
    if (mprotect(place, 4096, PROT_READ | PROT_EXEC) != 0) fail("mprotect");
    return (loop)place;
}

static void list(loop function) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    if (map == NULL) fail(path);
    fprintf(map, "%lx %zx made_at_run_time\n", (unsigned long)function, sizeof code);
    if (fclose(map) != 0) fail(path);
}

static int has_ended(void) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    return poll(&input, 1, 0) != 0;
}

FUNCTION void call(loop function) {
    function(2000000);
    __asm__ volatile("");
}

int main(int argc, char **argv) {
    const loop function = make();
    list(function);
    uint64_t rounds = count_argument(argc, argv, 1, 0);
    if (argc < 2) {
        puts("ready");
        fflush(stdout);
        while (!has_ended()) call(function);
    }
    while (rounds-- > 0) call(function);
    return 0;
}
