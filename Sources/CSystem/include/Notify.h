// The sockets of sd_notify(3).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A received message.
struct fl_notification {
    pid_t pid;  // its sender; 0: unknown
    uid_t uid;
    int count;  // how many descriptors came with it; we must close them
    int descriptors[253];
    int is_cut;  // it was longer than the buffer
};

// A datagram socket with an abstract name chosen by the kernel; `name` is the value for
// NOTIFY_SOCKET (`@…`). The descriptor or -errno.
int fl_notify_open(char *name, size_t size);

// The same at a path, to which any user may send: abstract names exist only in one network
// namespace.
int fl_notify_open_at(const char *path);

// The next message, without waiting: its length, or -errno.
ssize_t fl_notify_receive(
    int socket, void *buffer, size_t size, struct fl_notification *notification);

// Sends a message to the socket `address` (a path, or `@` and an abstract name), with descriptors.
// 0 or -errno; -EAGAIN: it was not accepted within `limit_ms` milliseconds (0: waits for ever).
int fl_notify_send(const char *address, const void *message, size_t length,
                   const int *descriptors, int count, int limit_ms);
