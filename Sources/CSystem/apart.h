// Our processes that are no child of ours. Internal to this module.
#pragma once

// Moves a descriptor away from the numbers of the standard streams, and from the numbers that such
// a process uses. The new one, or -1 with `errno`; the old one is closed.
int fl_moved(int descriptor);
void fl_close_if_open(int descriptor);
// Runs `body` in a process that is forked twice, so that no code that waits for children notices
// it, with all signals blocked. It is forked from a process with several threads, so it may only
// make system calls. 0 or -errno.
int fl_start_apart(void (*body)(const void *), const void *argument);
// Sets the process's name, leaves the current folder, and closes all descriptors except those from
// 3 to 3 + `count` - 1.
void fl_become_apart(const char *name, int count);
