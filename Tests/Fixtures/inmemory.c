// inmemory PROGRAM [ARGUMENT...]: executes the program from a copy in memory.
#include "fixture.h"

#include <sys/mman.h>

extern char **environ;

int main(int argc, char **argv) {
    if (argc < 2) return 125;
    const char *name = strrchr(argv[1], '/');
    const int from = open(argv[1], O_RDONLY | O_CLOEXEC);
    const int to = memfd_create(name == NULL ? argv[1] : name + 1, MFD_CLOEXEC);
    if (from < 0 || to < 0) fail(argv[1]);
    char buffer[65536];
    ssize_t count;
    while ((count = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)count) != count) fail("write");
    fexecve(to, argv + 1, environ);
    fail("fexecve");
}
