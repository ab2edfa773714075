// The sockets of sd_notify(3).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A message as it came.
struct fl_notification {
    pid_t pid;  // its sender; 0: not known
    uid_t uid;
    int count;  // how many descriptors came with it; they are ours to close
    int descriptors[253];
    int is_cut;  // it was longer than the buffer
};

// A datagram socket with an abstract name that the kernel chooses; `name` is what NOTIFY_SOCKET says
// then (`@…`). The descriptor or -errno.
int fl_notify_open(char *name, size_t size);

// The same at a path, where any user may send: abstract names are another network namespace's own.
int fl_notify_open_at(const char *path);

// The next message, without waiting: its length, or -errno.
ssize_t fl_notify_receive(
    int socket, void *buffer, size_t size, struct fl_notification *notification);

// Sends a message to the socket `address` (a path, or `@` and an abstract name), with descriptors.
// 0 or -errno; -EAGAIN: it could not be taken within `limit_ms` milliseconds (0: waits for ever).
int fl_notify_send(const char *address, const void *message, size_t length,
                   const int *descriptors, int count, int limit_ms);
