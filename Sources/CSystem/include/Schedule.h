// The kernel's account of which thread had a core when (perf_event_open(2)), and the memory through
// which it arrives. All times are CLOCK_MONOTONIC.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Reports when a thread gets a core and leaves it, and also ends and new threads:
// PERF_RECORD_SWITCH, _EXIT, _FORK, each ending in pid, tid, time, cpu (PERF_SAMPLE_TID, _TIME,
// _CPU). For one thread (core -1), which needs no privilege for one's own processes; or for all on
// a core (tid -1), by PERF_RECORD_SWITCH_CPU_WIDE. A descriptor, or -errno.
int fl_open_switches(pid_t tid, int core);

// Mounts the folder of the kernel's tracepoints where no other process sees it; the mount is gone
// when the descriptor is closed. The caller needs CAP_SYS_ADMIN. A descriptor, or -errno.
int fl_open_tracefs(void);

// Reports a tracepoint on a core for all threads: samples of pid, tid, time, cpu, raw data. Silent
// until fl_start_events. A descriptor, or -errno.
int fl_open_tracepoint(int core, uint64_t tracepoint);

// Samples a thread each time it has used `period` nanoseconds of CPU time. A sample has: pid, tid,
// time, cpu; the count (its CPU time since the event began); the number of words of its position in
// the kernel, and these words (with markers PERF_CONTEXT_… among them, innermost first); the kind
// of registers (0: none), and the registers in the kernel's order ax bx cx dx si di bp sp ip r8 …
// r15; the stack's size, its bytes, and how many of them were copied. With `from_exec`, its CPU time
// counts once it has executed a program. A descriptor, or -errno.
int fl_open_samples(
    pid_t tid, uint64_t period, uint32_t stack_bytes, int where, int from_exec);
// Where the thread is sampled.
enum {
    FL_EVERYWHERE = 0,
    FL_OWN_CODE = 1,     // in its own code
    FL_KERNEL_CODE = 2,  // in the kernel's
};

// The same on one core, also for each thread and process that the thread starts, but without the
// count; and the code that they map. With `switches`, also their reports as from fl_open_switches.
int fl_open_tree_samples(
    pid_t tid, int core, uint64_t period, uint32_t stack_bytes, int user_only, int switches);

// Reports the forks, execs and ends, on one core, of a thread and of each thread and process that
// it starts, and sends the calling thread a signal for each (not before Linux 5.18). A descriptor,
// or -errno.
int fl_open_tree_news(pid_t tid, int core, int signal);

// An event that counts nothing and is not inherited. A descriptor, or -errno.
int fl_open_lone_event(pid_t tid);

// Reports the same without waking a reader; and, for each thread that ends, its CPU time on that
// core (PERF_RECORD_READ; some kernels omit it). A descriptor, or -errno.
int fl_open_tree_costs(pid_t tid, int core);

// Reports all programs that are executed on one core: PERF_RECORD_COMM with the name by which each
// was executed, and PERF_RECORD_MMAP2 for mapped code, first the program's own. Wakes no reader. A
// descriptor, or -errno.
int fl_open_exec_names(int core);

// Sends a signal to a thread, once, when it has used `period` more nanoseconds of CPU time and runs
// its own code: none of its system calls is affected. A descriptor, or -errno; closing it cancels
// the signal.
int fl_open_interruption(pid_t tid, int signal, uint64_t period);

// The same signal at each such interval, as often as fl_refresh_timer allows; until its descriptor is
// closed, or the thread executes a program. -EINVAL where the kernel cannot end it at an exec (before
// Linux 5.13).
int fl_open_timer(pid_t tid, int signal, uint64_t period);

// Lets it send so many more signals. 0 or -errno.
int fl_refresh_timer(int events, int count);
int fl_stop_events(int events);

// The count of an event; -1: unreadable.
int64_t fl_read_count(int events);

// Whether nothing more will come: the thread is over, or has executed a program that may not be
// inspected.
int fl_events_are_over(int events);

// Keeps only events for which the expression (of the kernel's trace filters) is true. 0 or -errno.
int fl_filter_events(int events, const char *expression);

// Makes an event write to another event's ring on the same core. 0 or -errno.
int fl_redirect_events(int events, int ring);

int fl_start_events(int events);

// A ring with this many pages, a power of two, for an event; NULL with *error set if it is refused.
void *fl_map_ring(int events, size_t pages, int *error);
void fl_unmap_ring(void *ring, size_t pages);

// How many bytes are in a ring: only whole records.
size_t fl_ring_content(void *ring, size_t pages);

// How far behind the ring's beginning they begin; after its end they continue at its beginning.
size_t fl_ring_place(void *ring, size_t pages);

// That many bytes were read: the kernel may write there again.
void fl_release_ring(void *ring, size_t pages, size_t count);
