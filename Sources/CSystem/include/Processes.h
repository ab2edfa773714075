// Processes by a descriptor that keeps referring to the same process, even if its id is reused.
#pragma once

#include <sys/types.h>

int fl_open_pid(pid_t pid);  // pidfd_open(2): a descriptor or -errno

// 0 or -errno: -ESRCH if the process has ended and was waited for. Signal 0 only asks.
int fl_signal_pid(int pidfd, int signal);

// How the process ended, as in waitpid(2), once its parent has waited for it. 1: known; 0: the
// kernel does not report it (before Linux 6.15), or not yet.
int fl_end_of_pid(int pidfd, int *status);
