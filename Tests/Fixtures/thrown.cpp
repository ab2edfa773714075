// thrown.so: three initialisers. The first two say how many frames are on the stack, the second
// throws, and the third must not run.
#include <execinfo.h>

#include <cstdio>
#include <stdexcept>

static void tell_depth(const char *name) {
    void *frames[64];
    std::printf("%s: %d frames\n", name, backtrace(frames, 64));
    std::fflush(stdout);
}

__attribute__((constructor(1001))) void first() { tell_depth("first"); }

__attribute__((constructor(1002))) void second() {
    tell_depth("second");
    throw std::runtime_error("what an initialiser threw");
}

__attribute__((constructor(1003))) void third() { tell_depth("third"); }
