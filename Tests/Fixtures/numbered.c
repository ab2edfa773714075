// numbered CALL PROGRAM [ARG...]: computes for ~30 ms, and becomes PROGRAM by syscall(2): by `execve` or
// `execveat`.
#include <sys/syscall.h>

#include "fixture.h"

extern char **environ;

int main(int argc, char **argv) {
    if (argc < 3) return 125;
    uint64_t state = 1;
    BURN(state, 30 * ROUNDS_PER_MS);
    if (strcmp(argv[1], "execve") == 0)
        syscall(SYS_execve, argv[2], argv + 2, environ);
    else
        syscall(SYS_execveat, AT_FDCWD, argv[2], argv + 2, environ, 0);
    fail(argv[2]);
}
