// crash segv | abort | exit N | kill SIGNAL: prints a line, then ends that way at once.
#include <signal.h>
#include <sys/resource.h>

#include "fixture.h"

/// Writes where nothing is mapped.
FUNCTION void write_nowhere(void) {
    volatile int *nowhere = NULL;
    // Hides from the compiler a write that it would warn of.
    __asm__("" : "+r"(nowhere));
    *nowhere = 1;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int number = (int)count_argument(argc, argv, 2, 0);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    printf("crash: %s\n", mode);
    fflush(stdout);
    if (strcmp(mode, "segv") == 0) write_nowhere();
    if (strcmp(mode, "abort") == 0) abort();
    if (strcmp(mode, "exit") == 0) return number;
    if (strcmp(mode, "kill") == 0 && kill(getpid(), number) == 0) return 0;
    fprintf(stderr, "usage: crash segv | abort | exit N | kill SIGNAL\n");
    return 125;
}
