// stamp FIFO PROGRAM [ARG…]: writes the monotonic clock's nanoseconds (an int64_t) to FIFO and
// becomes PROGRAM, which inherits FIFO and holds it open until it ends. The reader of FIFO learns
// when PROGRAM began, and, at the end of the file, that it and all its children are gone:
// unprofiled or under any profiler alike, without any message from the profiler.
//
// It happens in a constructor: a profiler that goes to work at `main` finds none here, and watches
// PROGRAM from its first instruction as if it had started it itself.
#include "fixture.h"

static void write_stamp(const char *path) {
    // Without O_CLOEXEC: PROGRAM is to hold it.
    int descriptor = open(path, O_WRONLY);
    if (descriptor < 0) fail(path);
    int64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (write(descriptor, &now, sizeof now) != sizeof now) fail(path);
}

__attribute__((constructor)) static void become(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: stamp FIFO PROGRAM [ARG...]\n");
        _exit(125);
    }
    write_stamp(argv[1]);
    execvp(argv[2], argv + 2);
    int status = errno == ENOENT ? 127 : 126;
    perror(argv[2]);
    _exit(status);
}

int main(void) {
    return 125;
}
