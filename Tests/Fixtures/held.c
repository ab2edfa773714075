// A library to preload: opening a file of the name HELD_NAME waits until the file HELD_UNTIL is
// there. So a test can delay the opening of a file for as long as it wants.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hold(const char *path) {
    const char *name = getenv("HELD_NAME"), *gate = getenv("HELD_UNTIL");
    if (name == NULL || gate == NULL) return;
    const char *last = strrchr(path, '/');
    if (strcmp(last == NULL ? path : last + 1, name) != 0) return;
    while (access(gate, F_OK) != 0) poll(NULL, 0, 1);
}

#define HELD(name)                                              \
    int name(const char *path, int flags, ...) {                \
        int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        const unsigned mode = va_arg(rest, unsigned);           \
        va_end(rest);                                           \
        hold(path);                                             \
        return next(path, flags, mode);                         \
    }

HELD(open)
HELD(open64)
