// Opening and mapping files of other people's choosing: a program's, or those that somebody else's
// recording or debug information names.
#pragma once

#include <stddef.h>

// Opens a regular file for reading; it is neither waited for nor does anything happen to whatever
// else is at `path`: a device may act when it is opened, a pipe let its writers go. `flags` (such as
// O_NOFOLLOW) are added. A descriptor or -errno; -EMEDIUMTYPE: there is something else.
int fl_open_regular(const char *path, int flags);

// While this thread is between these two calls, and from `fl_guard` to `fl_unguard` for the bytes
// named there, memory of a mapped file that was cut short reads as zeros, where it would end us
// (SIGBUS).
void fl_guard_begin(void);
void fl_guard_end(void);
// Which guard this is, or -1: there are too many.
int fl_guard(const void *start, size_t size);
// Whether the file was cut short. 1 or 0.
int fl_guard_was_hit(int guard);
void fl_unguard(int guard);

// A file without a name that lives in memory (memfd_create); `name` is for /proc only. -errno.
int fl_memory_file(const char *name);
