// Opens and maps untrusted files: a program's, or files that a foreign recording or debug
// information names.
#pragma once

#include <stddef.h>

// Opens a regular file for reading, without waiting, and without effect on anything else at `path`:
// a device may act when it is opened, and a pipe would release its writers. `flags` (such as
// O_NOFOLLOW) are added. A descriptor or -errno; -EMEDIUMTYPE: it is something else.
int fl_open_regular(const char *path, int flags);

// Between these two calls in this thread, and from `fl_guard` to `fl_unguard` for the given bytes,
// memory of a mapped file that was truncated reads as zeros. Otherwise it would kill us (SIGBUS).
void fl_guard_begin(void);
void fl_guard_end(void);
// The guard's number, or -1: there are too many.
int fl_guard(const void *start, size_t size);
// Whether the file was truncated. 1 or 0.
int fl_guard_was_hit(int guard);
void fl_unguard(int guard);

// A file in memory without a path (memfd_create); `name` appears only in /proc. -errno.
int fl_memory_file(const char *name);
