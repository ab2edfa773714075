// The terminal's size: ioctl(2) is variadic, and Swift cannot see it.
#pragma once
#include <sys/ioctl.h>

/// The columns of the terminal that `descriptor` is; 0 when it is none or does not know them.
static inline int cs_terminal_width(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
