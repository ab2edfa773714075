#include "CAgent.h"

#if !defined(__x86_64__)
#error "Firstlight captures x86-64 programs only so far."
#endif

// Assembly, because it must not depend on what a compiler makes of it at some level of
// optimisation, and because the recorder counts on a few of its details.
//
// The entries (set_action, map_slots, unmap_slots) run in place of the instruction at which the
// recorder stopped a thread, make system calls, and go on where it was with every register, the
// red zone and the signal mask as they were. Those two, mask and address, the recorder leaves below
// the red zone (struct fl_diversion); then it only has to move stack pointer and program counter,
// which is one atomic step: whenever it dies, the program goes on correctly. They are on the stack
// and nowhere else, because a thread may be led away again before it has begun.
//
// Whoever waits for the recorder waits by bounded naps: it may have been killed.
__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    "fl_agent_begin:\n"

    // Shorter than a mov, for what the stack is at hand: the room behind the vdso is small.
    ".macro fl_set value, register\n"
    "  push $\\value\n"
    "  pop \\register\n"
    ".endm\n"

    // Each entry saves what a system call and it itself use.
    ".macro fl_save\n"
    "  pushfq\n"
    "  push %rax\n"
    "  push %rcx\n"
    "  push %rdx\n"
    "  push %rsi\n"
    "  push %rdi\n"
    "  push %r8\n"
    "  push %r9\n"
    "  push %r10\n"
    "  push %r11\n"
    ".endm\n"
    "fl_agent_resume:\n"
    "  fl_set 14, %rax\n"  // rt_sigprocmask
    "  fl_set 2, %rdi\n"   // SIG_SETMASK
    "  lea 80(%rsp), %rsi\n"
    "  xor %edx, %edx\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "  pop %r11\n"
    "  pop %r10\n"
    "  pop %r9\n"
    "  pop %r8\n"
    "  pop %rdi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %rcx\n"
    "  pop %rax\n"
    "  popfq\n"
    "  lea 8(%rsp), %rsp\n"  // past the mask; changes no flag
    "  ret $128\n"

    // Changes rax, rcx, rsi, rdi and r11.
    ".macro fl_nap\n"
    "  mov $35, %eax\n"  // nanosleep
    "  lea fl_agent_nap(%rip), %rdi\n"
    "  xor %esi, %esi\n"
    "  syscall\n"
    ".endm\n"

    "fl_agent_set_action:\n"
    "  fl_save\n"
    "  fl_set 13, %rax\n"  // rt_sigaction
    "  mov fl_agent_signal(%rip), %rdi\n"
    "  lea fl_agent_action(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "  jmp fl_agent_resume\n"

    // The kernel sets the resume flag when a debug register's breakpoint is hit, so that the
    // instruction executes when this returns.
    "fl_agent_trap_handler:\n"
    "  ret\n"

    "fl_agent_restorer:\n"
    "  mov $15, %eax\n"  // rt_sigreturn
    "  syscall\n"

    ".balign 8\n"
    "fl_agent_signal: .quad 0\n"
    "fl_agent_action: .quad 0, 0, 0, 0\n"
    "fl_agent_launch_end:\n"

    // All of the above is what watching a launch needs; the rest is for taking stacks by signal.

    "fl_agent_set_sample_action:\n"
    "  fl_set 13, %rax\n"  // rt_sigaction
    "  mov fl_agent_sample_signal(%rip), %rdi\n"
    "  lea fl_agent_sample_action(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "  ret\n"

    // While it waits, the descriptor is in r8, and the mapping's address in r9.
    "fl_agent_map_slots:\n"
    "  fl_save\n"
    "  mov $319, %eax\n"  // memfd_create
    "  lea fl_agent_name(%rip), %rdi\n"
    "  fl_set 3, %rsi\n"  // MFD_CLOEXEC | MFD_ALLOW_SEALING
    "  syscall\n"
    "  mov %eax, %r8d\n"
    "  test %eax, %eax\n"
    "  js 9f\n"
    "  fl_set 77, %rax\n"  // ftruncate
    "  mov %r8d, %edi\n"
    "  mov fl_agent_slots_size(%rip), %rsi\n"
    "  syscall\n"
    "  test %eax, %eax\n"
    "  jne 8f\n"
    "  fl_set 9, %rax\n"  // mmap
    "  mov fl_agent_old_slots(%rip), %rdi\n"  // the size is still in rsi
    "  mov fl_agent_protection(%rip), %rdx\n"
    "  fl_set 1, %r10\n"  // MAP_SHARED
    "  xor %r9d, %r9d\n"
    "  syscall\n"
    "  cmp $-4096, %rax\n"
    "  ja 8f\n"
    "  mov %rax, %r9\n"
    "  movl $1, 16(%r9)\n"  // FL_PHASE_MAPPED
    "  mov $200, %r10d\n"
    "fl_agent_waiting:\n"
    "1:\n"
    "  cmpl $1, 16(%r9)\n"
    "  jne 2f\n"
    "  fl_nap\n"
    "  dec %r10d\n"
    "  jnz 1b\n"
    "fl_agent_waiting_end:\n"
    "  fl_set 1, %rax\n"
    "  mov $4, %ecx\n"  // FL_PHASE_ABANDONED
    "  lock cmpxchg %ecx, 16(%r9)\n"
    "  jne 2f\n"
    "  fl_set 11, %rax\n"  // munmap
    "  mov %r9, %rdi\n"
    "  mov fl_agent_slots_size(%rip), %rsi\n"
    "  syscall\n"
    "  jmp 8f\n"
    "2:\n"
    "  call fl_agent_set_sample_action\n"
    "  incl 16(%r9)\n"  // FL_PHASE_READY
    "8:\n"
    "  fl_set 3, %rax\n"  // close
    "  mov %r8d, %edi\n"
    "  syscall\n"
    "9:\n"
    "  jmp fl_agent_resume\n"

    "fl_agent_unmap_slots:\n"
    "  fl_save\n"
    "  call fl_agent_set_sample_action\n"
    "  fl_set 11, %rax\n"  // munmap
    "  mov fl_agent_old_slots(%rip), %rdi\n"
    "  mov fl_agent_slots_size(%rip), %rsi\n"
    "  syscall\n"
    // The recorder now gives the thread back all that it had, down to the call that it was in. A
    // nap would take the place of what the kernel keeps for that call; this does not.
    "fl_agent_unmapped:\n"
    "  mov fl_agent_naps(%rip), %r8\n"
    "1:\n"
    "  dec %r8d\n"
    "  js fl_agent_unmapped_end\n"
    "  mov $128, %eax\n"  // rt_sigtimedwait
    "  lea fl_agent_nap(%rip), %rdx\n"
    "  mov %rdx, %rdi\n"  // no signals: its first word is 0
    "  xor %esi, %esi\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "  jmp 1b\n"
    "fl_agent_unmapped_end:\n"
    "  jmp fl_agent_resume\n"

    // (signal, siginfo, ucontext). Only a request of the recorder's names a slot that waits for
    // it; everything else is the program's own business, and ignored as without us. Uses only
    // registers that a function may change.
    "fl_agent_sample_handler:\n"
    "  cmpl $-1, 8(%rsi)\n"  // si_code: SI_QUEUE
    "  jne 9f\n"
    "  mov 24(%rsi), %r8\n"  // si_value
    "  mov fl_agent_slots(%rip), %r9\n"
    "  test %r9, %r9\n"
    "  je 9f\n"
    "  mov %r8, %rax\n"
    "  sub %r9, %rax\n"
    "  je 9f\n"
    "  cmp fl_agent_slots_size(%rip), %rax\n"
    "  jae 9f\n"
    "  test fl_agent_slot_mask(%rip), %rax\n"
    "  jne 9f\n"
    "  mov $1, %eax\n"  // FL_SLOT_REQUESTED
    "  mov $2, %ecx\n"  // FL_SLOT_BUSY
    "  lock cmpxchg %ecx, (%r8)\n"
    "  jne 9f\n"
    "  mov $4, %r10d\n"  // FL_SLOT_DECLINED
    "  cmpl $0, 4(%r9)\n"  // filtered
    "  jne 8f\n"
    "  lea 40(%rdx), %rsi\n"  // uc_mcontext.gregs
    "  lea 48(%r8), %rdi\n"
    "  mov $17, %ecx\n"
    "  rep movsq\n"
    "  push %r8\n"
    "  push %r9\n"
    "  sub $24, %rsp\n"
    ".macro fl_clock clock, to\n"
    "  mov $228, %eax\n"  // clock_gettime
    "  mov $\\clock, %edi\n"
    "  mov %rsp, %rsi\n"
    "  syscall\n"
    "  imul $1000000000, (%rsp), %rax\n"
    "  add 8(%rsp), %rax\n"
    "  mov %rax, \\to(%r8)\n"
    ".endm\n"
    "  fl_clock 3, 40\n"  // CLOCK_THREAD_CPUTIME_ID
    "  fl_clock 1, 32\n"  // CLOCK_MONOTONIC
    "  add $24, %rsp\n"
    // uc_stack: where the alternate stack is, and how large.
    "  mov 168(%r8), %rsi\n"  // rsp
    "  mov %rsi, %rax\n"
    "  sub 16(%rdx), %rax\n"
    "  cmp 32(%rdx), %rax\n"
    "  mov $0, %eax\n"
    "  setb %al\n"
    "  mov %eax, 4(%r8)\n"
    "  test %eax, %eax\n"
    "  jne 7f\n"
    // The stack from the red zone up, as far as it is known to go.
    "  mov 24(%r8), %rcx\n"  // capacity
    "  mov %rsi, %rax\n"
    "  sub $128, %rsi\n"
    "  sub 8(%r8), %rax\n"  // stack_low
    "  jb 2f\n"
    "  mov 16(%r8), %rdi\n"  // stack_high
    "  sub %rsi, %rdi\n"
    "  jbe 2f\n"
    "  cmp %rcx, %rdi\n"
    "  cmovb %rdi, %rcx\n"
    "2:\n"
    "  mov %rsi, 184(%r8)\n"  // copied_start
    "  lea 232(%r8), %rax\n"
    "  mov %rax, 200(%r8)\n"
    "  mov %rcx, 208(%r8)\n"
    "  mov %rsi, 216(%r8)\n"
    "  mov %rcx, 224(%r8)\n"
    "  mov $310, %eax\n"  // process_vm_readv
    "  mov fl_agent_pid(%rip), %rdi\n"
    "  lea 200(%r8), %rsi\n"
    "  mov $1, %edx\n"
    "  lea 216(%r8), %r10\n"
    "  mov $1, %r8d\n"
    "  xor %r9d, %r9d\n"
    "  syscall\n"
    "  mov 8(%rsp), %r8\n"
    "  mov %rax, 192(%r8)\n"  // copied_size
    "7:\n"
    "  pop %r9\n"
    "  pop %r8\n"
    "  mov $3, %r10d\n"  // FL_SLOT_FILLED
    "8:\n"
    "  mov %r10d, (%r8)\n"  // x86-64 keeps the stores in order
    "  lock decl 8(%r9)\n"  // outstanding
    "9:\n"
    "  ret\n"

    // The following are reached from the C library's system call of that number, in place of the
    // instruction that loads it.

    // Waits until no request is under way; changes rax, rcx and r11.
    "fl_agent_settle:\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %r8\n"
    "  push %r9\n"
    "  mov fl_agent_slots(%rip), %r8\n"
    "  mov $400, %r9d\n"
    "1:\n"
    "  cmpl $0, 8(%r8)\n"  // outstanding
    "  jle 2f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  jnz 1b\n"
    "2:\n"
    "  pop %r9\n"
    "  pop %r8\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  ret\n"

    // The program must not notice our handler, nor we displace one of its own unknowingly: asked
    // what the signal does, it gets its own answer; setting another action is noted, and ends
    // the requests. Those that are under way are waited for, lest the program gets them.
    "fl_agent_sigaction:\n"
    "  cmp fl_agent_sample_signal(%rip), %edi\n"
    "  jne 5f\n"
    "  mov fl_agent_slots(%rip), %rcx\n"
    "  test %rcx, %rcx\n"
    "  je 5f\n"
    "  test %rsi, %rsi\n"
    "  je 5f\n"
    "  cmpl $0, 4(%rcx)\n"  // filtered: no calls of ours
    "  jne 3f\n"
    "  mov $39, %eax\n"  // getpid: a child sets its own actions, not ours
    "  syscall\n"
    "  cmp fl_agent_pid(%rip), %eax\n"
    "  jne 5f\n"
    "  mov fl_agent_slots(%rip), %rcx\n"
    "3:\n"
    "  mov $1, %eax\n"
    "  xchg %eax, (%rcx)\n"  // displaced
    "  cmpl $0, 4(%rcx)\n"
    "  jne 5f\n"
    "  lea -128(%rsp), %rsp\n"
    "  call fl_agent_settle\n"
    "  lea 128(%rsp), %rsp\n"
    "5:\n"
    "  mov $13, %eax\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jne 6f\n"
    "  test %rdx, %rdx\n"
    "  je 6f\n"
    "  lea fl_agent_sample_handler(%rip), %rcx\n"
    "  cmp %rcx, (%rdx)\n"
    "  jne 6f\n"
    "  mov fl_agent_original_handler(%rip), %rcx\n"
    "  mov %rcx, (%rdx)\n"
    "  movq $0, 8(%rdx)\n"
    "6:\n"
    "  jmp *fl_agent_after_sigaction(%rip)\n"

    // A request that finds its signal blocked would surface in a sigwait or a signalfd: what is
    // under way is waited for, and the recorder looks at masks anew.
    "fl_agent_sigmask:\n"
    "  test %rsi, %rsi\n"
    "  je 5f\n"
    "  cmp $1, %edi\n"  // SIG_UNBLOCK
    "  je 5f\n"
    "  testb $0x40, 2(%rsi)\n"  // SIGURG
    "  je 5f\n"
    "  mov fl_agent_slots(%rip), %rcx\n"
    "  test %rcx, %rcx\n"
    "  je 5f\n"
    "  lock incl 20(%rcx)\n"  // masks
    "  cmpl $0, 4(%rcx)\n"  // filtered
    "  jne 5f\n"
    "  lea -128(%rsp), %rsp\n"
    "  call fl_agent_settle\n"
    "  lea 128(%rsp), %rsp\n"
    "5:\n"
    "  mov $14, %eax\n"
    "  syscall\n"
    "  jmp *fl_agent_after_sigmask(%rip)\n"

    // A filter may kill for the handler's system calls; whoever installs one has to give up
    // privileges first, or does it here.
    "fl_agent_prctl:\n"
    "  cmp $38, %edi\n"  // PR_SET_NO_NEW_PRIVS
    "  je 1f\n"
    "  cmp $22, %edi\n"  // PR_SET_SECCOMP
    "  jne 2f\n"
    "1:\n"
    "  mov fl_agent_slots(%rip), %rcx\n"
    "  test %rcx, %rcx\n"
    "  je 2f\n"
    "  mov $1, %eax\n"
    "  xchg %eax, 4(%rcx)\n"  // filtered
    "  test %eax, %eax\n"
    "  jne 2f\n"
    "  lea -128(%rsp), %rsp\n"
    "  call fl_agent_settle\n"
    "  lea 128(%rsp), %rsp\n"
    "2:\n"
    "  mov $157, %eax\n"
    "  syscall\n"
    "  jmp *fl_agent_after_prctl(%rip)\n"

    // Tells the recorder, and gives it the time to trace this thread: then nothing of the next
    // program's launch is missed.
    "fl_agent_execve:\n"
    "  mov fl_agent_slots(%rip), %rcx\n"
    "  test %rcx, %rcx\n"
    "  je 9f\n"
    "  cmpl $0, 4(%rcx)\n"  // filtered
    "  jne 9f\n"
    "  cmpl $0, 12(%rcx)\n"  // execution
    "  jne 9f\n"
    "  mov $39, %eax\n"  // getpid: a child is none of our business
    "  syscall\n"
    "  cmp fl_agent_pid(%rip), %eax\n"
    "  jne 9f\n"
    "  lea -128(%rsp), %rsp\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %r8\n"
    "  push %r9\n"
    "  mov fl_agent_slots(%rip), %r8\n"
    "  movl $1, 12(%r8)\n"  // FL_EXECUTION_AHEAD
    "  mov fl_agent_recorder(%rip), %edi\n"
    "  test %edi, %edi\n"
    "  je 0f\n"
    "  mov $62, %eax\n"  // kill
    "  mov $17, %esi\n"  // SIGCHLD: whoever should get it by mistake ignores it
    "  syscall\n"
    "0:\n"
    "  mov $60, %r9d\n"
    "1:\n"
    "  cmpl $1, 12(%r8)\n"
    "  jne 2f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  jnz 1b\n"
    "2:\n"
    "  pop %r9\n"
    "  pop %r8\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  lea 128(%rsp), %rsp\n"
    "9:\n"
    "  mov $59, %eax\n"
    "  syscall\n"
    "  jmp *fl_agent_after_execve(%rip)\n"

    "fl_agent_name: .asciz \"firstlight\"\n"
    ".balign 8\n"
    "fl_agent_nap: .quad 0, 30000\n"
    "fl_agent_slots: .quad 0\n"
    "fl_agent_slots_size: .quad 0\n"
    "fl_agent_slot_mask: .quad 0\n"
    "fl_agent_pid: .quad 0\n"
    "fl_agent_recorder: .quad 0\n"
    "fl_agent_sample_signal: .quad 0\n"
    "fl_agent_sample_action: .quad 0, 0, 0, 0\n"
    "fl_agent_protection: .quad 0\n"
    "fl_agent_old_slots: .quad 0\n"
    "fl_agent_naps: .quad 0\n"
    "fl_agent_original_handler: .quad 0\n"
    "fl_agent_after_sigaction: .quad 0\n"
    "fl_agent_after_prctl: .quad 0\n"
    "fl_agent_after_execve: .quad 0\n"
    "fl_agent_after_sigmask: .quad 0\n"
    "fl_agent_end:\n"
    ".previous\n");

_Static_assert(offsetof(struct fl_slot, alternate) == 4, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, stack_low) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, stack_high) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, capacity) == 24, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, time_ns) == 32, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, cpu_ns) == 40, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, registers) == 48, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, copied_start) == 184, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, copied_size) == 192, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, vectors) == 200, "the code above counts on it");
_Static_assert(offsetof(struct fl_slot, stack) == 232, "the code above counts on it");
_Static_assert(offsetof(struct fl_shared, filtered) == 4, "the code above counts on it");
_Static_assert(offsetof(struct fl_shared, outstanding) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_shared, execution) == 12, "the code above counts on it");
_Static_assert(offsetof(struct fl_shared, phase) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_shared, masks) == 20, "the code above counts on it");

extern const uint8_t fl_agent_begin[], fl_agent_launch_end[], fl_agent_end[], fl_agent_set_action[],
    fl_agent_map_slots[], fl_agent_waiting[], fl_agent_waiting_end[], fl_agent_unmap_slots[], fl_agent_unmapped[],
    fl_agent_unmapped_end[],
    fl_agent_sigaction[], fl_agent_prctl[], fl_agent_execve[], fl_agent_sigmask[],
    fl_agent_trap_handler[], fl_agent_sample_handler[], fl_agent_restorer[], fl_agent_signal[],
    fl_agent_action[], fl_agent_slots[], fl_agent_slots_size[],
    fl_agent_slot_mask[], fl_agent_pid[], fl_agent_recorder[], fl_agent_sample_signal[],
    fl_agent_sample_action[], fl_agent_protection[], fl_agent_old_slots[], fl_agent_naps[],
    fl_agent_original_handler[],
    fl_agent_after_sigaction[], fl_agent_after_prctl[],
    fl_agent_after_execve[], fl_agent_after_sigmask[];

static uint32_t offset(const uint8_t *symbol) { return (uint32_t)(symbol - fl_agent_begin); }

struct fl_agent fl_agent_describe(void) {
    return (struct fl_agent){
        .code = fl_agent_begin,
        .launch_length = offset(fl_agent_launch_end),
        .length = offset(fl_agent_end),
        .set_action = offset(fl_agent_set_action),
        .map_slots = offset(fl_agent_map_slots),
        .waiting = offset(fl_agent_waiting),
        .waiting_end = offset(fl_agent_waiting_end),
        .unmap_slots = offset(fl_agent_unmap_slots),
        .unmapped = offset(fl_agent_unmapped),
        .unmapped_end = offset(fl_agent_unmapped_end),
        .sigaction = offset(fl_agent_sigaction),
        .prctl = offset(fl_agent_prctl),
        .execve = offset(fl_agent_execve),
        .sigmask = offset(fl_agent_sigmask),
        .trap_handler = offset(fl_agent_trap_handler),
        .sample_handler = offset(fl_agent_sample_handler),
        .restorer = offset(fl_agent_restorer),
        .signal = offset(fl_agent_signal),
        .action = offset(fl_agent_action),
        .slots = offset(fl_agent_slots),
        .slots_size = offset(fl_agent_slots_size),
        .slot_mask = offset(fl_agent_slot_mask),
        .pid = offset(fl_agent_pid),
        .recorder = offset(fl_agent_recorder),
        .sample_signal = offset(fl_agent_sample_signal),
        .sample_action = offset(fl_agent_sample_action),
        .protection = offset(fl_agent_protection),
        .old_slots = offset(fl_agent_old_slots),
        .naps = offset(fl_agent_naps),
        .original_handler = offset(fl_agent_original_handler),
        .after_sigaction = offset(fl_agent_after_sigaction),
        .after_prctl = offset(fl_agent_after_prctl),
        .after_execve = offset(fl_agent_after_execve),
        .after_sigmask = offset(fl_agent_after_sigmask),
    };
}
