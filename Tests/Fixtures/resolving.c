// resolving PLUGIN: computes until its input has something to read, and loads the plugin then,
// whose resolver of an indirect function (IFUNC) waits for its input once more. A library that is
// not resolved yet is not initialised either.
// Writes "ready" at its beginning, what the plugin writes, and "done" at its end.
#include <dlfcn.h>
#include <poll.h>

#include "fixture.h"

int main(int argc, char **argv) {
    if (argc != 2) return 125;
    if (write(STDOUT_FILENO, "ready\n", 6) != 6) fail("write");
    uint64_t state = 1;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    while (poll(&input, 1, 0) == 0) BURN(state, ROUNDS_PER_MS);
    char byte;
    if (read(STDIN_FILENO, &byte, 1) != 1) fail("read");
    void *plugin = dlopen(argv[1], RTLD_NOW);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    printf("done%s\n", state == 0 ? "!" : "");
    return 0;
}
