// The kernel's reports on all processes of the machine: the process connector (cn_proc.h), and the
// resources that each ending thread has used (taskstats.h). Both need CAP_NET_ADMIN. Bytes are
// returned as they came; only the kernel's are accepted.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Asks for forks, execs and ends. The kernel confirms by its own event (PROC_EVENT_NONE), or does
// not answer. The socket, which never blocks, or -errno.
int fl_open_process_events(int receive_bytes);

// Asks for the costs of threads that end on any core. The socket, which never blocks, or -errno;
// -ENOENT: this kernel does not report them.
int fl_open_thread_costs(int receive_bytes);

// The next message of either socket: its length, 0: there is none now, or -errno. -ENOBUFS: some
// were lost.
ssize_t fl_read_kernel_message(int socket, void *buffer, size_t capacity);

// How many messages were dropped for lack of room since the socket was opened (modulo 2^32), or
// -errno.
int64_t fl_count_drops(int socket);

// A descriptor for reading blocked signals, and fl_read_signal, which reads one: its number, or 0:
// there is none now.
int fl_open_signals(const sigset_t *set);
int fl_read_signal(int descriptor);

// Waits until one of the descriptors is readable; -1 means no descriptor. Nanoseconds below 0: for
// ever.
void fl_await_descriptors(const int descriptors[], size_t count, int64_t nanoseconds);
