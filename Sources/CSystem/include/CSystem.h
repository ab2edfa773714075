// One call each, without policy: what Swift cannot see (variadics, macros, headers outside its
// Glibc module). Results are the kernel's; failures are returned as -errno, so that nothing can
// clobber errno between the call and its reader.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// General registers in DWARF's order (x86-64 psABI): rax rdx rcx rbx rsi rdi rbp rsp r8 … r15
// rip, then what only the tracer needs.
struct fl_registers {
    uint64_t dwarf[17];
    uint64_t flags;
    uint64_t original_rax;
    uint64_t code_segment;
};

// Whether the signal for which a thread is stopped is that of an fl_open_interruption.
int fl_ptrace_is_interruption(pid_t tid, int descriptor);

// ptrace(2), one function for each request.
int fl_ptrace_seize(pid_t tid, uint64_t options);
int fl_ptrace_interrupt(pid_t tid);
int fl_ptrace_continue(pid_t tid, int signal);
int fl_ptrace_step(pid_t tid, int signal);
int fl_ptrace_listen(pid_t tid);
int fl_ptrace_detach(pid_t tid, int signal);
int fl_ptrace_event_message(pid_t tid, uint64_t *message);
int fl_ptrace_get_registers(pid_t tid, struct fl_registers *registers);
// The call that a stopped thread has just been in is restarted when it goes on, unless a handler is
// called: then it ends with EINTR.
int fl_ptrace_restart_call(pid_t tid);
// What the call that a stopped thread has just been in returns.
int fl_ptrace_set_result(pid_t tid, uint64_t value);
// Where a stopped thread goes on; that is where it was, or, if it was in a system call that is to be
// restarted, where going on restarts it.
int fl_ptrace_resume_address(pid_t tid, uint64_t *resume);
// All that a diversion changes of a thread.
struct fl_thread_state {
    uint64_t registers[27];  // struct user_regs_struct
    uint64_t mask;
};
// Writes a word to a stopped thread's memory, past its protection.
int fl_ptrace_write(pid_t tid, uint64_t address, uint64_t word);
// Makes a stopped thread go on at `address`, with all signals blocked. Two words are left below its
// red zone, at which its stack pointer is then: its signal mask, and where it would have gone on.
// `*state` is what it had.
int fl_ptrace_divert(pid_t tid, uint64_t address, struct fl_thread_state *state);
// Gives a thread, stopped again, back what it had; a call that it was in is restarted or not as
// without the diversion.
int fl_ptrace_restore(pid_t tid, const struct fl_thread_state *state);
// Whether a stopped thread is within a restartable sequence (rseq(2)), which the kernel aborts
// when it lets the thread go on, but only if it finds it there. 1 or 0.
int fl_ptrace_in_sequence(pid_t tid);
// Whether a stopped thread comes from a system call. 1 or 0.
int fl_ptrace_in_call(pid_t tid);
int fl_ptrace_poke(pid_t tid, uint64_t address, uint64_t word);

extern const uint64_t fl_trace_options;   // clone, exec and exit events
extern const uint64_t fl_trace_exec;      // exec events only
extern const uint64_t fl_trace_ends;      // of the first: exit events
extern const uint64_t fl_trace_children;  // fork and vfork events

// wait4(2) with __WALL. The thread's id, 0 when nothing is there (no_hang), or -errno.
pid_t fl_wait(pid_t tid, int no_hang, int *status);
// The same of a child that is about to end by itself: as long as that may take. 0: it has not.
pid_t fl_wait_briefly(pid_t pid, int *status);

// Whether two processes have the same memory: 1, 0, or -errno.
int fl_shares_memory(pid_t pid, pid_t other);

// Which signals this process ignores, as bits from signal 1 on, including those that the C
// library keeps for itself once threads exist. Ask before that.
uint64_t fl_ignored_signals(void);

// Stops the timers that setitimer(2) set before we were executed: exec keeps them, fork does not. What
// was left of them is what the next held child has when it executes its program.
void fl_take_timers(void);

// Whether we were started without that standard stream. What is open under its number by now is
// nobody's output. 1 or 0.
int fl_is_missing_stream(int number);

// What is needed to start a child that becomes a program: `path`, with the given mask of blocked
// signals and set of ignored ones. `streams` are its standard output and error; -1: ours. `memory` is
// left to it under `memory_number`; -1: none is. NULL with `*error` set.
struct fl_start;
struct fl_start *fl_make_start(const char *path, char *const argv[], char *const envp[],
                               const int streams[2], const sigset_t *mask, uint64_t ignored,
                               int memory, int memory_number, int *error);
void fl_free_start(struct fl_start *start);

// Forks a child, once for each start, that enters `setting` (NULL: none; see Conditions.h), waits
// until fl_release_held lets it go by `*release`, then executes the program. When we end before that,
// it does so, too. It is the calling thread's child: PR_SET_PDEATHSIG is about that thread's end. A
// file that is neither binary nor `#!` script is handed to /bin/sh, as execvp(3) does. `*failure` is a
// pipe's read end: empty when exec worked, else it yields its errno as an int. Returns when the child
// has entered its setting; -errno also when it could not.
struct fl_child_setting;
pid_t fl_fork_held(struct fl_start *start, struct fl_child_setting *setting, int *release,
                   int *failure);

// The same with a child that shares our memory until it executes the program: to give a copy back
// takes the kernel longer than all else that the child does. The thread that calls fl_share_held does
// not go on before that; another one awaits the child, which is the first one's. `setting` must not
// change the child's credentials (a user namespace does), which would change whose our memory is.
void fl_share_held(struct fl_start *start, struct fl_child_setting *setting);
pid_t fl_await_held(struct fl_start *start, struct fl_child_setting *setting, int *release,
                    int *failure);

void fl_release_held(int release);

// Of which thread fl_wait would tell next, without taking the news; 0: of none. `*has_ended`:
// whether it is of an end.
pid_t fl_peek(int *has_ended);

// Whether a child has ended; it stays to be waited for. 1 or 0.
int fl_has_ended(pid_t pid);

// How a child has ended, and what it and the children that it waited for have used.
struct fl_end {
    int is_signal;          // 1: a signal ended it
    int code;               // that signal's number, or the exit status
    int64_t minor_faults, major_faults;
    int64_t blocks_read;    // of 512 bytes, from disks
};
// The same; it stays to be waited for. 1, 0: it has not ended, or -errno.
int fl_end_of(pid_t pid, struct fl_end *end);
// Takes note of a child's stop, or a traced thread's: its status as of wait4(2), 0 when there is
// none, or -errno. Ends stay to be waited for.
int fl_take_stop(pid_t tid, int *is_traced);

// Descendants that lose their parent become our children from now on, or no longer do
// (prctl(2), PR_SET_CHILD_SUBREAPER). 0 or -errno.
int fl_adopt_orphans(int on);
// Deletes the timer that fl_ptrace_seize has made for the calling thread, which is about to end.
void fl_ptrace_leave(void);

// The CPU time of all of a process's threads, those that ended included, in nanoseconds; also of
// a process that ended and was not waited for yet. -1 when it is gone.
int64_t fl_process_cpu_ns(pid_t pid);

// The soft limits that a process runs under, in bytes; UINT64_MAX: none, or not known.
uint64_t fl_address_space_limit(pid_t pid);
uint64_t fl_file_size_limit(pid_t pid);
uint64_t fl_stack_limit(pid_t pid);

// read(2) of an int with EINTR retried: 1 read, 0 end of file, or -errno.
int fl_read_int(int descriptor, int *value);

// Closes all descriptors from `first` on. For a process of ours that is not the program.
void fl_close_from(unsigned first);

// memmem(3): the offset of the first occurrence, or -1.
ssize_t fl_find(const void *bytes, size_t count, const void *wanted, size_t wanted_count);

// A CLOCK_MONOTONIC timer that, once it is started, queues `signal` for this process every
// `interval_ns`, first at `first_ns`; the id is passed back for fl_timer_delete. 0 or -errno.
int fl_timer_make(int signal, timer_t *timer);
void fl_timer_start(timer_t timer, int64_t first_ns, int64_t interval_ns);
void fl_timer_delete(timer_t timer);

// What sigwaitinfo(2) took from the queue.
struct fl_signal {
    int number;
    int code;       // SI_USER, SI_KERNEL, SI_TIMER …
    int overrun;    // for SI_TIMER: expirations since, beyond the one reported
};
int fl_wait_signal(const sigset_t *set, struct fl_signal *signal);
// The same for `nanoseconds` at most: -EAGAIN when none came.
int fl_wait_signal_for(const sigset_t *set, int64_t nanoseconds, struct fl_signal *signal);
int fl_tick_signal(void);  // the real-time signal that the recorder's timer uses
int fl_finish_signal(void);  // that by which `firstlight stop` asks a recorder

// Asks the scheduler for short turns (0.1 ms) of the calling thread, which brings them sooner
// where others compute (Linux 6.12 and later; elsewhere nothing changes). 0 or -errno.
int fl_ask_for_short_turns(void);

// Sends `signal` to one thread with a value, as sigqueue(3) does to a process. 0 or -errno.
int fl_signal_thread(pid_t pid, pid_t tid, int signal, uint64_t value);

// A file in memory of that size, for good: the descriptor, or -errno.
int fl_make_memory(const char *name, size_t size);
// Opens such a file of another process, which may lie about it: what is no nameless file in memory
// of that size, for good, is refused. The descriptor, or -errno.
int fl_open_memory(const char *path, size_t size);
// Maps it shared, for reading and writing. NULL when that fails.
void *fl_map_memory(int descriptor, size_t size);
// Has our own code and data in memory, and lets the allocator keep what was given back, and take more
// at once: to have memory mapped takes time, and keeps all threads from it.
void fl_keep_memory(void);
// A number from `least` on under which nothing is open, and something may be; -1: none.
int fl_free_descriptor(int least);
void fl_unmap(void *start, size_t size);
// Frees the pages of shared memory; all who map it find zeros (madvise(2), MADV_REMOVE). 0 or -errno.
int fl_release_shared(void *start, size_t size);

ssize_t fl_read_memory(pid_t pid, uint64_t address, void *buffer, size_t length);
// `count` pieces of `size` bytes, from each of the addresses, one behind the other in `buffer`; zeros of
// those that cannot be read. 0 or -errno, where there is no such process.
int fl_read_pieces(pid_t pid, const uint64_t *addresses, size_t count, void *buffer, size_t size);
ssize_t fl_write_memory(pid_t pid, uint64_t address, const void *bytes, size_t length);

// What is known of a file without asking the file system's server, which may not answer.
struct fl_file {
    uint32_t mode;
    uint64_t device;  // that it is
    uint64_t inode;
    uint64_t holder;  // the device that it is on
};
// Of `path`, from `folder` on. 0 or -errno.
int fl_known_file(int folder, const char *path, struct fl_file *file);

// stat(2)'s st_mode tests, which are macros. 1 or 0.
int fl_is_endless(uint32_t mode, uint64_t device);
int fl_is_random(uint64_t device);  // of those that are endless
ssize_t fl_get_random(void *buffer, size_t length);  // getrandom(2)
int fl_is_directory(uint32_t mode);
int fl_is_regular(uint32_t mode);

// A file capability (security.capability) stands on the file. 1 or 0.
int fl_has_file_capabilities(const char *path);

#include "Build.h"
#include "Conditions.h"
#include "DisplayRelay.h"
#include "Doctor.h"
#include "Files.h"
#include "LinkLine.h"
#include "Notify.h"
#include "Passage.h"
#include "ProcessEvents.h"
#include "Processes.h"
#include "Relay.h"
#include "Schedule.h"
#include "Sockets.h"
#include "Terminal.h"
#include "WaylandWire.h"
#include "Witness.h"
