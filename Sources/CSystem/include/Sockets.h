// Sockets of our own network namespace that accept connections (sock_diag(7)).
#pragma once

#include <stdint.h>

struct fl_listener {
    uint32_t inode;
    uint16_t port;  // 0 in the Unix domain
};

enum fl_socket_family { fl_tcp, fl_tcp6, fl_unix };

// The socket for asking, or -errno.
int fl_diagnosis_open(void);

// Writes up to `capacity` of them to `found`. Returns how many there are, or -errno.
int fl_listeners(int diagnosis, enum fl_socket_family family, struct fl_listener *found,
                 int capacity);

struct fl_socket_ends {
    int is_listening;
    uint32_t local_size, peer_size;  // 0: none
    unsigned char local[128], peer[128];
};

// The addresses of a process's socket. Copies its descriptor for some microseconds (pidfd_getfd(2),
// which needs the permission to trace). 0 or -errno.
int fl_socket_ends(int pid, int descriptor, struct fl_socket_ends *ends);

// Whether an open file is a named pipe (a pipe with a path), from its link under /proc/PID/fd. Only
// the kernel is asked: a network file system might keep us waiting.
int fl_is_pipe(const char *path);

// The kind of socket that a link under /proc/PID/fd leads to; -1: another kind, or none.
int fl_socket_family(const char *path);
