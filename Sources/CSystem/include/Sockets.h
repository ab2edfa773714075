// Sockets of our own network namespace on which connections are accepted (sock_diag(7)).
#pragma once

#include <stdint.h>

struct fl_listener {
    uint32_t inode;
    uint16_t port;  // 0 in the Unix domain
};

enum fl_socket_family { fl_tcp, fl_tcp6, fl_unix };

// The socket to ask through, or -errno.
int fl_diagnosis_open(void);

// Writes up to `capacity` of them to `found`. How many there are, or -errno.
int fl_listeners(int diagnosis, enum fl_socket_family family, struct fl_listener *found,
                 int capacity);

// What kind of socket a link under /proc/PID/fd leads to; -1: of another kind, or none.
int fl_socket_family(const char *path);
