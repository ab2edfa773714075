// The terminal's size: ioctl(2) is variadic, and Swift cannot see it.
#pragma once
#include <sys/ioctl.h>

/// The columns of the terminal that `descriptor` refers to; 0 if it is none, or unknown.
static inline int cs_terminal_width(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
