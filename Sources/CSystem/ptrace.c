// ptrace(2): one function for each request, and the parts of a diversion.
#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

const uint64_t fl_trace_options =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD;

const uint64_t fl_trace_ends = PTRACE_O_TRACEEXIT;

const uint64_t fl_trace_exec = PTRACE_O_TRACEEXEC;

const uint64_t fl_trace_children = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;

static int result(long value) { return value == -1 ? -errno : 0; }

// PTRACE_SEIZE waits in the kernel for an exec that is under way. That exec may wait for threads
// that we trace, and so for us. A signal makes the kernel restart the call. Then we replace it by
// another call, which does nothing. If the call is already over, nothing is changed.
static void give_up_seize(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *next = (const unsigned char *)registers[REG_RIP];
    if (registers[REG_RAX] == SYS_ptrace && next[0] == 0x0F && next[1] == 0x05)
        registers[REG_RAX] = SYS_getpid;
}

// A thread's own timer, as long as the thread lives.
static _Thread_local timer_t seize_own;
static _Thread_local int seize_state;  // 0: not tried yet

static timer_t *seize_timer(void) {
    if (seize_state == 0) {
        const int number = SIGRTMIN + 2;
        struct sigaction action = {.sa_sigaction = give_up_seize, .sa_flags = SA_SIGINFO};
        struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, number);
        event._sigev_un._tid = gettid();
        seize_state = sigaction(number, &action, NULL) == 0 &&
                        pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 &&
                        timer_create(CLOCK_MONOTONIC, &event, &seize_own) == 0
                    ? 1
                    : -1;
    }
    return seize_state == 1 ? &seize_own : NULL;
}

void fl_ptrace_leave(void) {
    if (seize_state == 1) timer_delete(seize_own);
    seize_state = 0;
}

int fl_ptrace_seize(pid_t tid, uint64_t options) {
    timer_t *timer = seize_timer();
    // Repeatedly, because the first signal may come before the call.
    const struct itimerspec limit = {.it_value.tv_nsec = 20000000, .it_interval.tv_nsec = 20000000};
    const struct itimerspec never = {.it_value.tv_nsec = 0};
    if (timer) timer_settime(*timer, 0, &limit, NULL);
    const long value = syscall(SYS_ptrace, PTRACE_SEIZE, tid, 0, options);
    const int status = value > 0 ? -ETIMEDOUT : result(value);
    if (timer) timer_settime(*timer, 0, &never, NULL);
    return status;
}
int fl_ptrace_interrupt(pid_t tid) { return result(ptrace(PTRACE_INTERRUPT, tid, 0, 0)); }
int fl_ptrace_continue(pid_t tid, int signal) {
    return result(ptrace(PTRACE_CONT, tid, 0, (long)signal));
}
int fl_ptrace_continue_to_call(pid_t tid) { return result(ptrace(PTRACE_SYSCALL, tid, 0, 0)); }
int fl_ptrace_step(pid_t tid, int signal) {
    return result(ptrace(PTRACE_SINGLESTEP, tid, 0, (long)signal));
}
int fl_ptrace_listen(pid_t tid) { return result(ptrace(PTRACE_LISTEN, tid, 0, 0)); }
int fl_ptrace_detach(pid_t tid, int signal) {
    return result(ptrace(PTRACE_DETACH, tid, 0, (long)signal));
}
int fl_ptrace_event_message(pid_t tid, uint64_t *message) {
    unsigned long value = 0;
    int status = result(ptrace(PTRACE_GETEVENTMSG, tid, 0, &value));
    *message = value;
    return status;
}

int fl_ptrace_get_registers(pid_t tid, struct fl_registers *out) {
    struct user_regs_struct in;
    int status = result(ptrace(PTRACE_GETREGS, tid, 0, &in));
    if (status != 0) return status;
    *out = (struct fl_registers){
        .dwarf = {in.rax, in.rdx, in.rcx, in.rbx, in.rsi, in.rdi, in.rbp, in.rsp, in.r8, in.r9,
                  in.r10, in.r11, in.r12, in.r13, in.r14, in.r15, in.rip},
        .flags = in.eflags,
        .call_number = in.orig_rax,
        .code_segment = in.cs,
    };
    return 0;
}

// The kernel restarts a call only if the thread's registers were not changed. If we change them, we
// do the restart here: by returning to the `syscall` instruction, with the call's number (or
// restart_syscall's).
static void leave_call(struct user_regs_struct *registers) {
    if ((long)registers->orig_rax < 0) return;
    long error = -(long)registers->rax;
    if (error == 512 || error == 513 || error == 514) {  // ERESTARTSYS, NOINTR, NOHAND
        registers->rax = registers->orig_rax;
        registers->rip -= 2;
    } else if (error == 516) {  // ERESTART_RESTARTBLOCK
        registers->rax = SYS_restart_syscall;
        registers->rip -= 2;
    }
    registers->orig_rax = (unsigned long)-1;
}

int fl_ptrace_restart_call(pid_t tid) {
    struct user_regs_struct registers;
    int status = result(ptrace(PTRACE_GETREGS, tid, 0, &registers));
    if (status != 0) return status;
    registers.rax = (unsigned long)-514;  // ERESTARTNOHAND
    return result(ptrace(PTRACE_SETREGS, tid, 0, &registers));
}

int fl_ptrace_set_result(pid_t tid, uint64_t value) {
    return result(
        ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rax), value));
}

int fl_ptrace_set_registers(pid_t tid, const uint64_t *dwarf) {
    struct user_regs_struct to;
    const int status = result(ptrace(PTRACE_GETREGS, tid, 0, &to));
    if (status != 0) return status;
    to.rax = dwarf[0], to.rdx = dwarf[1], to.rcx = dwarf[2], to.rbx = dwarf[3];
    to.rsi = dwarf[4], to.rdi = dwarf[5], to.rbp = dwarf[6], to.rsp = dwarf[7];
    to.r8 = dwarf[8], to.r9 = dwarf[9], to.r10 = dwarf[10], to.r11 = dwarf[11];
    to.r12 = dwarf[12], to.r13 = dwarf[13], to.r14 = dwarf[14], to.r15 = dwarf[15];
    to.rip = dwarf[16];
    to.orig_rax = (unsigned long)-1;
    return result(ptrace(PTRACE_SETREGS, tid, 0, &to));
}

int fl_ptrace_resume_address(pid_t tid, uint64_t *resume) {
    struct user_regs_struct registers;
    int status = result(ptrace(PTRACE_GETREGS, tid, 0, &registers));
    if (status != 0) return status;
    leave_call(&registers);
    *resume = registers.rip;
    return 0;
}

_Static_assert(sizeof(struct user_regs_struct) ==
                   sizeof(((struct fl_thread_state *)0)->registers), "all of them are kept");

int fl_ptrace_write(pid_t tid, uint64_t address, uint64_t word) {
    return result(ptrace(PTRACE_POKETEXT, tid, address, word));
}

int fl_ptrace_divert(pid_t tid, uint64_t address, struct fl_thread_state *state) {
    struct user_regs_struct registers;
    int status = result(ptrace(PTRACE_GETREGS, tid, 0, &registers));
    if (status == 0)
        status = result(ptrace(PTRACE_GETSIGMASK, tid, sizeof state->mask, &state->mask));
    if (status != 0) return status;
    memcpy(state->registers, &registers, sizeof registers);
    leave_call(&registers);
    const uint64_t top = registers.rsp - 128;
    status = fl_ptrace_poke(tid, top - 8, registers.rip);
    if (status == 0) status = fl_ptrace_poke(tid, top - 16, state->mask);
    if (status != 0) return status;
    registers.rsp = top - 16;
    registers.rip = address;
    status = result(ptrace(PTRACE_SETREGS, tid, 0, &registers));
    // This must be last: from now on the thread restores the mask itself.
    const uint64_t all = ~(uint64_t)0;
    if (status == 0) ptrace(PTRACE_SETSIGMASK, tid, sizeof all, &all);
    return status;
}

int fl_ptrace_restore(pid_t tid, const struct fl_thread_state *state) {
    // In this order, because after the second step the thread would not restore it itself.
    int status = result(ptrace(PTRACE_SETSIGMASK, tid, sizeof state->mask, &state->mask));
    if (status != 0) return status;
    return result(ptrace(PTRACE_SETREGS, tid, 0, state->registers));
}

int fl_ptrace_is_interruption(pid_t tid, int descriptor) {
    siginfo_t info;
    return ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code == POLL_HUP &&
           info.si_fd == descriptor;
}

int fl_ptrace_in_call(pid_t tid) {
    struct user_regs_struct in;
    return ptrace(PTRACE_GETREGS, tid, 0, &in) != 0 || (long)in.orig_rax >= 0;
}

// A length of 0 means that nothing is registered.
static int has_sequences(void) {
    return syscall(SYS_rseq, NULL, 0, 0, 0) == 0 || errno != ENOSYS;
}

int fl_ptrace_dispatches_calls(pid_t tid) {
    struct {  // struct ptrace_sud_config of <linux/ptrace.h>
        uint64_t mode, selector, offset, length;
    } configuration = {.mode = 0};
    const int get_configuration = 0x4211;  // Linux 6.4 and later
    return ptrace(get_configuration, tid, sizeof configuration, &configuration) == 0
        && configuration.mode != 0;
}

int fl_ptrace_in_sequence(pid_t tid) {
    struct {  // struct ptrace_rseq_configuration of <linux/ptrace.h>
        uint64_t area;
        uint32_t size, signature, flags, pad;
    } configuration = {.area = 0};
    struct user_regs_struct registers;
    struct {  // struct rseq_cs of <linux/rseq.h>
        uint32_t version, flags;
        uint64_t start, length, abort;
    } section;
    uint64_t address = 0;
    const int get_configuration = 0x420F;  // Linux 5.13 and later
    if (ptrace(get_configuration, tid, sizeof configuration, &configuration) <= 0) {
        // An older kernel does not report this. A thread is certainly in no sequence only within a
        // call, or where there are no sequences (before Linux 4.18).
        if (errno != EIO && errno != EINVAL) return 0;
        return !fl_ptrace_in_call(tid) && has_sequences();
    }
    if (configuration.area == 0 || ptrace(PTRACE_GETREGS, tid, 0, &registers) != 0) return 0;
    if (fl_read_memory(tid, configuration.area + 8, &address, 8) != 8 || address == 0) return 0;
    if (fl_read_memory(tid, address, &section, sizeof section) != sizeof section) return 0;
    return registers.rip - section.start < section.length;
}

int fl_ptrace_poke(pid_t tid, uint64_t address, uint64_t word) {
    return result(ptrace(PTRACE_POKETEXT, tid, address, word));
}
