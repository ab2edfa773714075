// Processes by a descriptor that stands for one of them, whoever has its number later.
#pragma once

#include <sys/types.h>

int fl_open_pid(pid_t pid);  // pidfd_open(2): a descriptor or -errno

// 0 or -errno: -ESRCH, when somebody has taken note of its end. Signal 0 only asks.
int fl_signal_pid(int pidfd, int signal);

// How it ended, as waitpid(2) tells, once somebody has taken note of that. 1: here it is; 0: the kernel
// does not tell (before Linux 6.15), or not yet.
int fl_end_of_pid(int pidfd, int *status);
