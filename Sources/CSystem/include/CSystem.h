// One system call each, without policy: those that Swift cannot see (variadics, macros, headers
// outside its Glibc module). Results are the kernel's; failures are returned as -errno, so that
// nothing can clobber errno between the call and its reader.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// General registers in DWARF's order (x86-64 psABI): rax rdx rcx rbx rsi rdi rbp rsp r8 … r15 rip,
// then those that only the tracer needs.
struct fl_registers {
    uint64_t dwarf[17];
    uint64_t flags;
    uint64_t call_number;  // of the call that it is in; -1: none
    uint64_t code_segment;
};

// Whether a thread is stopped for the signal of an fl_open_interruption. 1 or 0.
int fl_ptrace_is_interruption(pid_t tid, int descriptor);

// ptrace(2), one function for each request.
int fl_ptrace_seize(pid_t tid, uint64_t options);
int fl_ptrace_interrupt(pid_t tid);
int fl_ptrace_continue(pid_t tid, int signal);
int fl_ptrace_continue_to_call(pid_t tid);
int fl_ptrace_step(pid_t tid, int signal);
int fl_ptrace_listen(pid_t tid);
int fl_ptrace_detach(pid_t tid, int signal);
int fl_ptrace_event_message(pid_t tid, uint64_t *message);
int fl_ptrace_get_registers(pid_t tid, struct fl_registers *registers);
// Restarts, when the thread resumes, the call that a stopped thread has just been in. If a handler
// is called first, the call ends with EINTR.
int fl_ptrace_restart_call(pid_t tid);
// Sets the result of the call that a stopped thread has just been in.
int fl_ptrace_set_result(pid_t tid, uint64_t value);
// Sets a stopped thread's registers, in DWARF's order. It resumes there, and is in no call any more.
int fl_ptrace_set_registers(pid_t tid, const uint64_t *dwarf);
// Where a stopped thread resumes: where it was, or, if it was in a system call that must be
// restarted, the address that restarts it.
int fl_ptrace_resume_address(pid_t tid, uint64_t *resume);
// All thread state that a diversion changes.
struct fl_thread_state {
    uint64_t registers[27];  // struct user_regs_struct
    uint64_t mask;
};
// Writes a word to a stopped thread's memory, ignoring its protection.
int fl_ptrace_write(pid_t tid, uint64_t address, uint64_t word);
// Makes a stopped thread resume at `address`, with all signals blocked. Its stack pointer then
// points to two words below its red zone: its signal mask, and the address where it would have
// resumed. `*state` is its former state.
int fl_ptrace_divert(pid_t tid, uint64_t address, struct fl_thread_state *state);
// Restores the state of a thread that is stopped again. A call that it was in is restarted or not,
// as it would be without the diversion.
int fl_ptrace_restore(pid_t tid, const struct fl_thread_state *state);
// Whether a stopped thread is within a restartable sequence (rseq(2)). When the thread resumes, the
// kernel aborts the sequence, but only if the thread is still within it. 1 or 0.
int fl_ptrace_in_sequence(pid_t tid);
// 1 if a stopped thread has the kernel allow system calls by their address
// (PR_SET_SYSCALL_USER_DISPATCH); 0 if not, or if the kernel does not say (before Linux 6.4).
int fl_ptrace_dispatches_calls(pid_t tid);
// Whether a stopped thread comes from a system call. 1 or 0.
int fl_ptrace_in_call(pid_t tid);
int fl_ptrace_poke(pid_t tid, uint64_t address, uint64_t word);

extern const uint64_t fl_trace_options;   // clone, exec and exit events
extern const uint64_t fl_trace_exec;      // exec events only
extern const uint64_t fl_trace_ends;      // of the first: exit events
extern const uint64_t fl_trace_children;  // fork and vfork events

// wait4(2) with __WALL. The thread's id, 0 when nothing is there (no_hang), or -errno.
pid_t fl_wait(pid_t tid, int no_hang, int *status);
// The same for a child that is about to end by itself; waits for a while. 0: it has not ended.
pid_t fl_wait_briefly(pid_t pid, int *status);

// Whether two processes share their memory: 1, 0, or -errno.
int fl_shares_memory(pid_t pid, pid_t other);

// The signals that this process ignores, as bits from signal 1 on, including those that the C
// library uses itself once threads exist. So call it before that.
uint64_t fl_ignored_signals(void);

// Stops the timers that were set by setitimer(2) before we were executed: exec keeps them, fork
// does not. The next held child gets their remaining time when it executes its program.
void fl_take_timers(void);

// Whether we were started without this standard stream. Another file may be open under its number
// now; it is not an output. 1 or 0.
int fl_is_missing_stream(int number);

// All data for starting a child that becomes a program: `path`, with the given mask of blocked
// signals and set of ignored ones. `streams` are its standard output and error; -1: ours. It
// inherits `memory` under `memory_number`; -1: none. NULL with `*error` set.
struct fl_start;
struct fl_start *fl_make_start(const char *path, char *const argv[], char *const envp[],
                               const int streams[2], const sigset_t *mask, uint64_t ignored,
                               int memory, int memory_number, int *error);
void fl_free_start(struct fl_start *start);

// Forks a child, once for each start. The child enters `setting` (NULL: none; see Conditions.h),
// waits until fl_release_held releases it through `*release`, and then executes the program. If we
// end before that, the child ends, too. It is the calling thread's child: PR_SET_PDEATHSIG refers
// to that thread's end. A file that is neither a binary nor a `#!` script is passed to /bin/sh, as
// by execvp(3). `*failure` is a pipe's read end: empty if exec worked, otherwise it has the errno
// as an int. Returns when the child has entered its setting; -errno also if it could not.
struct fl_child_setting;
pid_t fl_fork_held(struct fl_start *start, struct fl_child_setting *setting, int *release,
                   int *failure);

// The same with a child that shares our memory until it executes the program: freeing a copy takes
// the kernel longer than everything else that the child does. The thread that calls fl_share_held
// continues only then. Another thread awaits the child, which is a child of the first. `setting`
// must not change the child's credentials (a user namespace does), since this would change the
// owner of our memory.
void fl_share_held(struct fl_start *start, struct fl_child_setting *setting);
pid_t fl_await_held(struct fl_start *start, struct fl_child_setting *setting, int *release,
                    int *failure);

void fl_release_held(int release);

// The thread whose status fl_wait would return next, without taking it; 0: none. `*has_ended`: 1 if
// the thread has ended.
pid_t fl_peek(int *has_ended);

// Whether a child has ended; its status is not taken. 1 or 0.
int fl_has_ended(pid_t pid);

// How a child ended, and the resources used by it and by the children that it waited for.
struct fl_end {
    int is_signal;          // 1: a signal ended it
    int code;               // the signal's number, or the exit status
    int64_t minor_faults, major_faults;
    int64_t blocks_read;    // of 512 bytes, from disks
};
// The same; its status is not taken. 1, 0: it has not ended, or -errno.
int fl_end_of(pid_t pid, struct fl_end *end);
// Takes a stop of a child or of a traced thread: the status of wait4(2), 0 if there is none, or
// -errno. Does not take the status of an end.
int fl_take_stop(pid_t tid, int *is_traced);

// From now on, orphaned descendants become our children, or no longer do (prctl(2),
// PR_SET_CHILD_SUBREAPER). 0 or -errno.
int fl_adopt_orphans(int on);
// Deletes the timer that fl_ptrace_seize made for the calling thread. Call it before the thread
// ends.
void fl_ptrace_leave(void);

// The CPU time of all threads of a process, ended ones included, in nanoseconds; also for a process
// that has ended but was not waited for. -1 if it is gone.
int64_t fl_process_cpu_ns(pid_t pid);

// The soft limits of a process, in bytes; UINT64_MAX: none, or unknown.
uint64_t fl_address_space_limit(pid_t pid);
uint64_t fl_file_size_limit(pid_t pid);
uint64_t fl_stack_limit(pid_t pid);
// Where a thread has its list of robust mutexes (get_robust_list(2)); 0: nowhere, or not known.
uint64_t fl_robust_list(pid_t tid);

// read(2) of an int with EINTR retried: 1 read, 0 end of file, or -errno.
int fl_read_int(int descriptor, int *value);

// Closes all descriptors from `first` on. For our own helper processes.
void fl_close_from(unsigned first);

// memmem(3): the offset of the first occurrence, or -1.
ssize_t fl_find(const void *bytes, size_t count, const void *wanted, size_t wanted_count);

// A CLOCK_MONOTONIC timer. Once started, it queues `signal` for this process every `interval_ns`,
// first at `first_ns`. Pass the id to fl_timer_delete. 0 or -errno.
int fl_timer_make(int signal, timer_t *timer);
void fl_timer_start(timer_t timer, int64_t first_ns, int64_t interval_ns);
void fl_timer_delete(timer_t timer);

// A signal that sigwaitinfo(2) took from the queue.
struct fl_signal {
    int number;
    int code;       // SI_USER, SI_KERNEL, SI_TIMER …
    int overrun;    // for SI_TIMER: further expirations since then
};
int fl_wait_signal(const sigset_t *set, struct fl_signal *signal);
// The same, waiting at most `nanoseconds`: -EAGAIN if none came.
int fl_wait_signal_for(const sigset_t *set, int64_t nanoseconds, struct fl_signal *signal);
int fl_tick_signal(void);  // the real-time signal that the recorder's timer uses
int fl_finish_signal(void);  // the signal that `firstlight stop` sends

// Asks the scheduler for short turns (0.1 ms) of the calling thread. They come sooner while other
// threads compute (Linux 6.12 and later; otherwise nothing changes). 0 or -errno.
int fl_ask_for_short_turns(void);

// The core that the calling thread runs on, or -errno.
int fl_own_core(void);

// Moves the calling thread to another core. Afterwards it may run on all cores that it might run on
// at the call, but not on those that come later. 0 or -errno: it may run on no other core.
int fl_leave_core(int core);

// From now on the calling thread takes no core from another thread by waking up, but waits for its
// turn. Its share of the cores stays the same. 0 or -errno.
int fl_push_nobody_off(void);

// Sends `signal` to one thread with a value, as sigqueue(3) does to a process. 0 or -errno.
int fl_signal_thread(pid_t pid, pid_t tid, int signal, uint64_t value);

// A file in memory with a permanent size: the descriptor, or -errno.
int fl_make_memory(const char *name, size_t size);
// Opens such a file of another process, which may give a wrong one: only a nameless file in memory
// with this permanent size is accepted. The descriptor, or -errno.
int fl_open_memory(const char *path, size_t size);
// Maps it shared, for reading and writing. NULL if that fails.
void *fl_map_memory(int descriptor, size_t size);
// Loads our own code and data into memory, and makes the allocator keep freed memory and take more
// at once. Mapping memory takes time, and blocks all other threads from doing the same.
void fl_keep_memory(void);

// Threads started later allocate from the heap of the others. Otherwise each reserves 64 MiB of
// address space for its own, which counts against a limit even if it is empty.
void fl_use_one_heap(void);
// A descriptor number from `least` on that is free and allowed; -1: none.
int fl_free_descriptor(int least);
void fl_unmap(void *start, size_t size);
// Frees the pages of shared memory; all processes that map it find zeros (madvise(2), MADV_REMOVE).
// 0 or -errno.
int fl_release_shared(void *start, size_t size);

ssize_t fl_read_memory(pid_t pid, uint64_t address, void *buffer, size_t length);
// `count` pieces of `size` bytes, one from each address, one after another in `buffer`; unreadable
// ones are zeros. 0, or -errno if there is no such process.
int fl_read_pieces(pid_t pid, const uint64_t *addresses, size_t count, void *buffer, size_t size);
ssize_t fl_write_memory(pid_t pid, uint64_t address, const void *bytes, size_t length);

// The properties of a file known without asking the file system's server, which may not answer.
struct fl_file {
    uint32_t mode;
    uint64_t device;  // if it is a device
    uint64_t inode;
    uint64_t holder;  // the device that holds it
};
// For `path`, relative to `folder`. 0 or -errno.
int fl_known_file(int folder, const char *path, struct fl_file *file);

// stat(2)'s st_mode tests, which are macros. 1 or 0.
int fl_is_endless(uint32_t mode, uint64_t device);
int fl_is_random(uint64_t device);  // for endless files
ssize_t fl_get_random(void *buffer, size_t length);  // getrandom(2)
int fl_is_directory(uint32_t mode);
int fl_is_regular(uint32_t mode);

// Whether the file has a file capability (security.capability). 1 or 0.
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
