// Attempts of `firstlight doctor`, beyond the calls that recording uses.
#pragma once

#include <stddef.h>
#include <sys/types.h>

// Forks a child that waits in read(2) of `*input` until `*release` is closed, and then exits with
// 0. Both are descriptors. The caller closes `*release`; `*input` is only the child's number for
// its descriptor. Returns the child's id or -errno.
pid_t fl_doctor_fork_waiting(int *input, int *release);

// Bytes that are at the same address in every process that was forked from this one.
const void *fl_doctor_witness(size_t *length);

// Whether a process that is not our ancestor may trace us: a child tries it, and detaches at once
// without stopping anything. 0 or -errno; -ETIMEDOUT or -EIO if there was no answer. `*is_fatal`: a
// seccomp filter killed the child for the call, as it would kill us.
int fl_doctor_trace_from_outside(int *is_fatal);

// Makes memory that can be shared through a descriptor, maps and writes it. 0 or -errno.
int fl_doctor_share_memory(size_t size);

// How many cores this process may use; 0 if unknown.
int fl_doctor_cores(void);
