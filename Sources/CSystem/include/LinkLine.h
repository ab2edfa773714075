// A network link for kernels that cannot delay packets: two interfaces, and a process between them
// that delays each frame.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct fl_line_way {
    int64_t rate;     // bits per second behind Ethernet's header; 0: no limit
    int64_t delay;    // of each frame, in nanoseconds
    uint32_t loss;    // how many of 2^32 frames are lost
    uint32_t frames;  // how many may be under way; further ones are lost
};

struct fl_line {
    int user;                    // the user namespace of both ends, or -1
    int networks[2];             // the ends' network namespaces
    const char *names[2];        // and interfaces
    int32_t indices[2];          // with these indices
    struct fl_line_way ways[2];  // from the first end, and to it
};

// Makes the interfaces, which are still down, and starts the process: our child, which ends when
// `*end` is closed. 0 or -errno.
int fl_start_line(const struct fl_line *line, pid_t *pid, int *end);
