// Processes of ours that are nobody's child. Internal to this module.
#pragma once

// Moves a descriptor out of the way of the standard streams, and of the numbers that such a process
// uses. The new one, or -1 with `errno`; the old one is closed.
int fl_moved(int descriptor);
void fl_close_if_open(int descriptor);
// Runs `body` in a process that is forked twice, so that nobody who waits for children hears of it,
// with all signals blocked. It was forked from one with several threads: system calls only. 0 or
// -errno.
int fl_start_apart(void (*body)(const void *), const void *argument);
// Takes a name, leaves the folder, closes all but the descriptors from 3 to 3 + `count` - 1.
void fl_become_apart(const char *name, int count);
