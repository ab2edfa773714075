// The kernel's account of who had a core when (perf_event_open(2)), and the memory through which
// it arrives. All times are CLOCK_MONOTONIC.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Tells when a thread gets a core and leaves it, and of ends and new threads: PERF_RECORD_SWITCH,
// _EXIT, _FORK, each ending in pid, tid, time, cpu (PERF_SAMPLE_TID, _TIME, _CPU). Of one thread
// (core -1), which needs no privilege if it is of a process of one's own; or of all on a core
// (tid -1), by PERF_RECORD_SWITCH_CPU_WIDE. A descriptor, or -errno.
int fl_open_switches(pid_t tid, int core);

// Tells of a tracepoint on a core, whoever runs there: samples of pid, tid, time, cpu, raw data.
// It is silent until fl_start_events. A descriptor, or -errno.
int fl_open_tracepoint(int core, uint64_t tracepoint);

// Samples of a thread at each so many nanoseconds of its CPU time: pid, tid, time, cpu, the count
// (its CPU time since the event began), where it is in the kernel behind the number of those words
// (markers of PERF_CONTEXT_… among them, innermost first), the registers in the kernel's order ax bx cx
// dx si di bp sp ip r8 … r15 behind their kind (0: none), the stack's size, its bytes, and how many of
// them were copied. A descriptor, or -errno.
int fl_open_samples(pid_t tid, uint64_t period, uint32_t stack_bytes, int where);
// Where it is sampled.
enum {
    FL_EVERYWHERE = 0,
    FL_OWN_CODE = 1,     // it runs its own code
    FL_KERNEL_CODE = 2,  // it is in the kernel's
};

// The same on one core, and of each thread and process that the thread starts, without the count; and
// what code they map. With `switches`, what fl_open_switches tells of them, too.
int fl_open_tree_samples(
    pid_t tid, int core, uint64_t period, uint32_t stack_bytes, int user_only, int switches);

// Tells of the forks, execs and ends, on one core, of a thread and of each thread and process that it
// starts, and sends the calling thread a signal for each (before Linux 5.18 it does not). A descriptor,
// or -errno.
int fl_open_tree_news(pid_t tid, int core, int signal);

// Counts nothing, and is not inherited. A descriptor, or -errno.
int fl_open_lone_event(pid_t tid);

// Tells of the same, and wakes nobody; and of the CPU time on that core of each thread that ends
// (PERF_RECORD_READ; some kernels leave it out). A descriptor, or -errno.
int fl_open_tree_costs(pid_t tid, int core);

// Tells of the programs that are executed on one core, by whoever: PERF_RECORD_COMM with the name by
// which it was executed, and PERF_RECORD_MMAP2 of the code that is mapped, first the program's own.
// Wakes nobody. A descriptor, or -errno.
int fl_open_exec_names(int core);

// Sends a signal to a thread, once, when it has used so many nanoseconds of CPU time more and runs its
// own code: none of its system calls notices. A descriptor, whose end calls it off, or -errno.
int fl_open_interruption(pid_t tid, int signal, uint64_t period);

// The same signal again and again, at each such interval, once fl_start_events was called; until its
// descriptor is closed, or the thread executes a program. -EINVAL where the kernel cannot end it at an
// exec (before Linux 5.13).
int fl_open_timer(pid_t tid, int signal, uint64_t period);
int fl_stop_events(int events);

// What an event has counted; -1: it cannot be read.
int64_t fl_read_count(int events);

// Only events for which the expression (of the kernel's trace filters) holds. 0 or -errno.
int fl_filter_events(int events, const char *expression);

// Lets an event write to the ring of another on the same core. 0 or -errno.
int fl_redirect_events(int events, int ring);

int fl_start_events(int events);

// A ring of so many pages, a power of two, for an event; NULL with *error set when it is refused.
void *fl_map_ring(int events, size_t pages, int *error);
void fl_unmap_ring(void *ring, size_t pages);

// How many bytes a ring has to be read: whole records.
size_t fl_ring_content(void *ring, size_t pages);

// Takes so many of them, no more than there are. How many it took.
size_t fl_read_ring(void *ring, size_t pages, void *buffer, size_t count);
