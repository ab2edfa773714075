#include "CAgent.h"

#if !defined(__x86_64__)
#error "Firstlight captures x86-64 programs only so far."
#endif

// The area's code is one section of one object: assembly where registers and stacks matter, C
// where lists are followed. It is copied to where it runs, so nothing in it may refer to anything
// outside: no library, no constants of the compiler's, no thread-local memory.
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
// A word of struct fl_state, or what lies elsewhere in the area, from where the code is.
#define STATE(offset) "fl_begin+" NUMBER(FL_STATE) "+" NUMBER(offset) "(%rip)"
#define AREA(offset) "fl_begin+" NUMBER(offset) "(%rip)"

// Offsets of fields that the assembly uses; checked below.
#define PHASE 0
#define DISPLACED 4
#define FILTERED 8
#define OUTSTANDING 12
#define EXECUTION 16
#define MASKS 20
#define NEXT_AREA 24
#define PID 32
#define RECORDER 36
#define SIZE 40
#define COOKIE 48
#define SAMPLE_SIGNAL 56
#define ORIGINAL_HANDLER 72
#define AFTER_SIGACTION 1792
#define AFTER_SIGMASK 1800
#define AFTER_EXECVE 1808
#define AFTER_PRCTL 1816
#define REAL_START 1824
#define REAL_MAIN 1832
#define REAL_INIT 1840
#define RECORDS 1860
#define RING 1872
#define SPARE_SIGNAL 1888
#define SPARE 1892
#define SPARE_ORIGINAL 1896

__asm__(
    ".section fl_code,\"ax\",@progbits\n"
    ".balign 4096\n"
    "fl_begin:\n"

    // Shorter than a mov, for what the stack is at hand.
    ".macro fl_set value, register\n"
    "  push $\\value\n"
    "  pop \\register\n"
    ".endm\n"

    // The pieces that run in place of the instruction at which the recorder stopped a thread go
    // on where it was with every register, the red zone and the signal mask as they were. Those
    // two, mask and address, the recorder leaves below the red zone (struct fl_diversion); then it
    // only has to move stack pointer and program counter, which is one atomic step: whenever it
    // dies, the program goes on correctly. They are on the stack and nowhere else, because a thread
    // may be led away again before it has begun.
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
    ".macro fl_resume\n"
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
    ".endm\n"

    // 0.03 ms, more or less; changes rax, rcx, rsi, rdi and r11. Whoever waits for the recorder
    // waits by a bounded number of these: it may have been killed.
    ".macro fl_nap\n"
    "  push $30000\n"
    "  push $0\n"
    "  mov %rsp, %rdi\n"
    "  xor %esi, %esi\n"
    "  mov $35, %eax\n"  // nanosleep
    "  syscall\n"
    "  pop %rax\n"
    "  pop %rax\n"
    ".endm\n"

    ".macro fl_close descriptor\n"
    "  mov \\descriptor, %edi\n"
    "  fl_set 3, %rax\n"
    "  syscall\n"
    ".endm\n"

    // What the area begins with, and where the bootstrap goes on: the memory's descriptor in r8,
    // the area's address in r9. Who has made the memory itself has this part already, and waits
    // for the rest.
    ".macro fl_arrival\n"
    "  mov $200, %r10d\n"
    "1:\n"
    "  cmpl $1, " NUMBER(FL_STATE) "+" NUMBER(PHASE) "(%r9)\n"  // FL_PHASE_FILLED
    "  je 2f\n"
    "  fl_nap\n"
    "  dec %r10d\n"
    "  jnz 1b\n"
    "  xor %eax, %eax\n"
    "  mov $2, %ecx\n"  // FL_PHASE_ABANDONED
    "  lock cmpxchg %ecx, " NUMBER(FL_STATE) "+" NUMBER(PHASE) "(%r9)\n"
    "  je 3f\n"
    "2:\n"
    "  mov %rbp, %r10\n"  // the stack may be anywhere
    "  mov %rsp, %rbp\n"
    "  and $-16, %rsp\n"
    "  push %r10\n"
    "  push %r8\n"
    "  mov %r8d, %edi\n"
    "  lea 0x200(%r9), %rax\n"
    "  call *%rax\n"
    "  pop %r8\n"
    "  pop %r10\n"
    "  mov %rbp, %rsp\n"
    "  mov %r10, %rbp\n"
    "3:\n"
    "  fl_close %r8d\n"
    "  fl_resume\n"
    ".endm\n"
    "fl_arrive:\n"
    "  fl_arrival\n"
    "fl_arrive_end:\n"
    ".org 0x200\n"
    "  jmp fl_settle\n"

    // The restorer of signal frames, as every C library has it.
    ".balign 16\n"
    "fl_restorer:\n"
    "  mov $15, %eax\n"  // rt_sigreturn
    "  syscall\n"

    // (signal, siginfo, ucontext). Only a request of the recorder's names a slot that waits for
    // it; everything else is the program's own business, and ignored as without us. Uses only
    // registers that a function may change.
    "fl_sample_handler:\n"
    "  cmpl $-1, 8(%rsi)\n"  // si_code: SI_QUEUE
    "  jne 9f\n"
    "  mov 24(%rsi), %rax\n"  // si_value
    "  mov %rax, %rcx\n"
    "  shr $16, %rcx\n"
    "  cmp " STATE(COOKIE) ", %rcx\n"
    "  jne 9f\n"
    "  movzwl %ax, %eax\n"
    "  cmp $" NUMBER(FL_MOST_SLOTS) ", %eax\n"
    "  jae 9f\n"
    "  shl $8, %eax\n"
    "  lea " AREA(FL_SLOTS) ", %r8\n"
    "  add %rax, %r8\n"
    "  mov $1, %eax\n"  // FL_SLOT_REQUESTED
    "  mov $2, %ecx\n"  // FL_SLOT_BUSY
    "  lock cmpxchg %ecx, (%r8)\n"
    "  jne 9f\n"
    "  mov $4, %r10d\n"  // FL_SLOT_DECLINED
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 8f\n"
    "  lea 40(%rdx), %rsi\n"  // uc_mcontext.gregs
    "  lea 72(%r8), %rdi\n"
    "  mov $17, %ecx\n"
    "  rep movsq\n"
    "  push %r8\n"
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
    "  fl_clock 3, 48\n"  // CLOCK_THREAD_CPUTIME_ID
    "  fl_clock 1, 40\n"  // CLOCK_MONOTONIC
    "  add $24, %rsp\n"
    // uc_stack: where the alternate stack is, and how large.
    "  mov 192(%r8), %rsi\n"  // rsp
    "  mov %rsi, %rax\n"
    "  sub 16(%rdx), %rax\n"
    "  cmp 32(%rdx), %rax\n"
    "  mov $0, %eax\n"
    "  setb %al\n"
    "  mov %eax, 4(%r8)\n"
    "  test %eax, %eax\n"
    "  jne 7f\n"
    // The stack from the red zone up, as far as it is known to go. The kernel copies: a mapping
    // that has gone meanwhile is an error then, and no fault.
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
    "  mov %rsi, 56(%r8)\n"  // copied_start
    "  lea fl_begin(%rip), %rax\n"
    "  add 32(%r8), %rax\n"  // buffer
    "  mov %rax, 208(%r8)\n"
    "  mov %rcx, 216(%r8)\n"
    "  mov %rsi, 224(%r8)\n"
    "  mov %rcx, 232(%r8)\n"
    "  mov $310, %eax\n"  // process_vm_readv
    "  mov " STATE(PID) ", %edi\n"
    "  lea 208(%r8), %rsi\n"
    "  mov $1, %edx\n"
    "  lea 224(%r8), %r10\n"
    "  mov $1, %r8d\n"
    "  xor %r9d, %r9d\n"
    "  syscall\n"
    "  mov (%rsp), %r8\n"
    "  mov %rax, 64(%r8)\n"  // copied_size
    "7:\n"
    "  pop %r8\n"
    "  mov $3, %r10d\n"  // FL_SLOT_FILLED
    "8:\n"
    "  mov %r10d, (%r8)\n"  // x86-64 keeps the stores in order
    "  lock decl " STATE(OUTSTANDING) "\n"
    "9:\n"
    "  ret\n"

    // The following are reached from the C library's system call of that number, in place of the
    // instruction that loads it.

    // Waits until no request is under way; changes rax, rcx and r11.
    "fl_quiesce:\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %r9\n"
    "  mov $400, %r9d\n"
    "1:\n"
    "  cmpl $0, " STATE(OUTSTANDING) "\n"
    "  jle 2f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  jnz 1b\n"
    "2:\n"
    "  pop %r9\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  ret\n"
    ".macro fl_settle_requests\n"
    "  lea -128(%rsp), %rsp\n"
    "  call fl_quiesce\n"
    "  lea 128(%rsp), %rsp\n"
    ".endm\n"
    // Whether this is the observed process (equal), and not a child that it forked; changes rax,
    // rcx, r11.
    ".macro fl_is_own\n"
    "  mov $39, %eax\n"  // getpid
    "  syscall\n"
    "  cmp " STATE(PID) ", %eax\n"
    ".endm\n"

    // Saves what a C function may change; rcx and r11 are the system call's to change.
    ".macro fl_push_all\n"
    "  lea -128(%rsp), %rsp\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %rdx\n"
    "  push %r8\n"
    "  push %r9\n"
    "  push %r10\n"
    ".endm\n"
    ".macro fl_pop_all\n"
    "  pop %r10\n"
    "  pop %r9\n"
    "  pop %r8\n"
    "  pop %rdx\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  lea 128(%rsp), %rsp\n"
    ".endm\n"

    // The program must not notice our handler, nor we displace one of its own unknowingly: asked
    // what a signal of ours does, it gets its own answer; setting another action ends the requests
    // by that signal.
    "fl_sigaction:\n"
    "  cmp " STATE(SAMPLE_SIGNAL) ", %edi\n"
    "  je 1f\n"
    "  cmp " STATE(SPARE_SIGNAL) ", %edi\n"
    "  jne 5f\n"
    "1:\n"
    "  test %rsi, %rsi\n"
    "  je 5f\n"
    "  cmpl $0, " STATE(FILTERED) "\n"  // no calls of ours
    "  jne 3f\n"
    "  fl_is_own\n"
    "  jne 5f\n"
    "3:\n"
    "  fl_push_all\n"
    "  call fl_displace\n"
    "  fl_pop_all\n"
    "5:\n"
    "  mov $13, %eax\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jne 7f\n"
    "  test %rdx, %rdx\n"
    "  je 7f\n"
    "  lea fl_sample_handler(%rip), %rcx\n"
    "  cmp %rcx, (%rdx)\n"
    "  jne 7f\n"
    "  mov " STATE(ORIGINAL_HANDLER) ", %rcx\n"
    "  cmp " STATE(SAMPLE_SIGNAL) ", %edi\n"
    "  je 6f\n"
    "  mov " STATE(SPARE_ORIGINAL) ", %rcx\n"
    "6:\n"
    "  mov %rcx, (%rdx)\n"
    "  movq $0, 8(%rdx)\n"
    "7:\n"
    "  jmp *" STATE(AFTER_SIGACTION) "\n"

    // A request that finds its signal blocked would surface in a sigwait or a signalfd: what is
    // under way is waited for, and the recorder looks at masks anew. Who blocks the one signal and
    // not the spare one has a use for it.
    "fl_sigmask:\n"
    "  test %rsi, %rsi\n"
    "  je 5f\n"
    "  cmp $1, %edi\n"  // SIG_UNBLOCK
    "  je 5f\n"
    "  mov (%rsi), %r11\n"
    "  mov " STATE(SPARE_SIGNAL) ", %ecx\n"
    "  dec %ecx\n"
    "  bt %rcx, %r11\n"
    "  jnc 1f\n"
    "  cmpl $1, " STATE(SPARE) "\n"  // FL_SPARE_IN_PLACE
    "  je 2f\n"
    "1:\n"
    "  mov " STATE(SAMPLE_SIGNAL) ", %rcx\n"
    "  dec %ecx\n"
    "  bt %rcx, %r11\n"
    "  jnc 5f\n"
    "2:\n"
    "  lock incl " STATE(MASKS) "\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 5f\n"
    "  fl_settle_requests\n"
    "  cmpl $0, " STATE(SPARE) "\n"  // FL_SPARE_NOT_NEEDED
    "  jne 5f\n"
    "  mov (%rsi), %r11\n"
    "  mov " STATE(SPARE_SIGNAL) ", %ecx\n"
    "  dec %ecx\n"
    "  bt %rcx, %r11\n"
    "  jc 5f\n"
    "  fl_is_own\n"
    "  jne 5f\n"
    "  fl_push_all\n"
    "  call fl_take_spare\n"
    "  fl_pop_all\n"
    "5:\n"
    "  mov $14, %eax\n"
    "  syscall\n"
    "  jmp *" STATE(AFTER_SIGMASK) "\n"

    // A filter may kill for the handler's system calls; whoever installs one has to give up
    // privileges first, or does it here.
    "fl_prctl:\n"
    "  cmp $38, %edi\n"  // PR_SET_NO_NEW_PRIVS
    "  je 1f\n"
    "  cmp $22, %edi\n"  // PR_SET_SECCOMP
    "  jne 2f\n"
    "1:\n"
    "  mov $1, %eax\n"
    "  xchg %eax, " STATE(FILTERED) "\n"
    "  test %eax, %eax\n"
    "  jne 2f\n"
    "  fl_settle_requests\n"
    "2:\n"
    "  mov $157, %eax\n"
    "  syscall\n"
    "  jmp *" STATE(AFTER_PRCTL) "\n"

    // Tells the recorder, makes the memory that the next program's area will be, and gives the
    // recorder the time to trace this thread: then nothing of the next program's launch is missed.
    "fl_execve:\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 9f\n"
    "  cmpl $0, " STATE(EXECUTION) "\n"
    "  jne 9f\n"
    "  fl_is_own\n"
    "  jne 9f\n"
    "  lea -128(%rsp), %rsp\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %rdx\n"
    "  push %r9\n"
    // Who looks for a program tries one folder after the other: most attempts fail at once.
    "  mov $21, %eax\n"  // access
    "  fl_set 1, %rsi\n"  // X_OK
    "  syscall\n"
    "  test %eax, %eax\n"
    "  jne 8f\n"
    "  mov $319, %eax\n"  // memfd_create; stays open across the execve
    "  lea fl_name(%rip), %rdi\n"
    "  fl_set 2, %rsi\n"  // MFD_ALLOW_SEALING
    "  syscall\n"
    "  mov %eax, " STATE(NEXT_AREA) "\n"
    "  test %eax, %eax\n"
    "  js 0f\n"
    "  mov %eax, %edi\n"
    "  mov $77, %eax\n"  // ftruncate
    "  mov " STATE(SIZE) ", %rsi\n"
    "  syscall\n"
    "0:\n"
    "  movl $1, " STATE(EXECUTION) "\n"  // FL_EXECUTION_AHEAD
    "  mov " STATE(RECORDER) ", %edi\n"
    "  test %edi, %edi\n"
    "  je 0f\n"
    "  mov $62, %eax\n"  // kill
    "  mov $17, %esi\n"  // SIGCHLD: whoever should get it by mistake ignores it
    "  syscall\n"
    "0:\n"
    "  mov $60, %r9d\n"
    "1:\n"
    "  cmpl $1, " STATE(EXECUTION) "\n"
    "  jne 2f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  jnz 1b\n"
    // Nobody follows: the next program must not find what nobody will use.
    "  mov " STATE(NEXT_AREA) ", %edi\n"
    "  movl $-1, " STATE(NEXT_AREA) "\n"
    "  test %edi, %edi\n"
    "  js 2f\n"
    "  mov $3, %eax\n"  // close
    "  syscall\n"
    "2:\n"
    "  pop %r9\n"
    "  pop %rdx\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  mov $59, %eax\n"
    "  syscall\n"
    // It was not executed: nothing may stay behind, and the next attempt is one of its own.
    "  push %rax\n"
    "  mov " STATE(NEXT_AREA) ", %edi\n"
    "  movl $-1, " STATE(NEXT_AREA) "\n"
    "  movl $0, " STATE(EXECUTION) "\n"  // FL_EXECUTION_NONE
    "  test %edi, %edi\n"
    "  js 3f\n"
    "  mov $3, %eax\n"  // close
    "  syscall\n"
    "3:\n"
    "  pop %rax\n"
    "  lea 128(%rsp), %rsp\n"
    "  jmp *" STATE(AFTER_EXECVE) "\n"
    "8:\n"
    "  pop %r9\n"
    "  pop %rdx\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  lea 128(%rsp), %rsp\n"
    "9:\n"
    "  mov $59, %eax\n"
    "  syscall\n"
    "  jmp *" STATE(AFTER_EXECVE) "\n"

    // MARK: The linker, and main

    // Whether this is the observed process (equal), and calls of ours are permitted there.
    ".macro fl_is_parent\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 8f\n"
    "  fl_is_own\n"
    "8:\n"
    ".endm\n"
    // Everything that program code is called from, or that is called in its place, keeps a frame
    // record, for whoever unwinds.
    ".macro fl_enter\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  push %rbx\n"
    "  push %r12\n"
    "  push %r13\n"
    "  push %r14\n"
    "  push %r15\n"
    ".endm\n"
    "fl_leave:\n"
    "  lea -40(%rbp), %rsp\n"
    "  pop %r15\n"
    "  pop %r14\n"
    "  pop %r13\n"
    "  pop %r12\n"
    "  pop %rbx\n"
    "  pop %rbp\n"
    "  ret\n"

    // In place of _dl_debug_state, which does nothing. The linker calls it with its lock held.
    "fl_debug_state:\n"
    "  fl_enter\n"
    "  sub $8, %rsp\n"
    "  fl_is_parent\n"
    "  jne fl_leave\n"
    "  lea -40(%rbp), %rdi\n"
    "  call fl_linker_tells\n"
    "  jmp fl_leave\n"

    // In place of the C library's start function, whose first argument is main, and whose fourth,
    // in programs that were linked before glibc 2.34, is what runs the program's initialisers.
    "fl_start:\n"
    "  mov %rdi, " STATE(REAL_MAIN) "\n"
    "  lea fl_main(%rip), %rdi\n"
    "  test %rcx, %rcx\n"
    "  je 1f\n"
    "  mov %rcx, " STATE(REAL_INIT) "\n"
    "  lea fl_program_init(%rip), %rcx\n"
    "1:\n"
    "  jmp *" STATE(REAL_START) "\n"

    // In place of main.
    "fl_main:\n"
    "  fl_enter\n"
    "  sub $40, %rsp\n"
    "  mov %edi, (%rsp)\n"
    "  mov %rsi, 8(%rsp)\n"
    "  mov %rdx, 16(%rsp)\n"
    "  fl_is_parent\n"
    "  jne 1f\n"
    "  lea -40(%rbp), %rdi\n"
    "  call fl_main_begins\n"
    "1:\n"
    "  mov (%rsp), %edi\n"
    "  mov 8(%rsp), %rsi\n"
    "  mov 16(%rsp), %rdx\n"
    "  lea -40(%rbp), %rsp\n"
    "  pop %r15\n"
    "  pop %r14\n"
    "  pop %r13\n"
    "  pop %r12\n"
    "  pop %rbx\n"
    "  pop %rbp\n"
    "  jmp *" STATE(REAL_MAIN) "\n"

    // In place of the program's own runner of initialisers: timed as one.
    "fl_program_init:\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  mov " STATE(RECORDS) ", %eax\n"
    "  cmp $" NUMBER(FL_MOST_RECORDS) ", %eax\n"
    "  jae 1f\n"
    "  incl " STATE(RECORDS) "\n"
    "  mov %eax, %r8d\n"
    "  shl $6, %r8\n"
    "  lea " AREA(FL_RECORDS) ", %rcx\n"
    "  add %r8, %rcx\n"
    "  mov " STATE(REAL_INIT) ", %r8\n"
    "  mov %r8, (%rcx)\n"
    "  call fl_initializer\n"
    "  pop %rbp\n"
    "  ret\n"
    "1:\n"
    "  call *" STATE(REAL_INIT) "\n"
    "  pop %rbp\n"
    "  ret\n"

    // MARK: Initialisers

    // The time of a clock in rax; changes rcx, rsi, rdi, r11. 16 bytes at the stack's top are used.
    ".macro fl_time clock\n"
    "  mov $228, %eax\n"  // clock_gettime
    "  mov $\\clock, %edi\n"
    "  mov %rsp, %rsi\n"
    "  syscall\n"
    "  imul $1000000000, (%rsp), %rax\n"
    "  add 8(%rsp), %rax\n"
    ".endm\n"

    // With a record's number in eax: notes the thread, its CPU clock and the time around the
    // original, which gets the linker's arguments.
    "fl_initializer:\n"
    "  fl_enter\n"
    "  sub $24, %rsp\n"
    "  mov %eax, %eax\n"
    "  shl $6, %rax\n"
    "  lea " AREA(FL_RECORDS) ", %rbx\n"
    "  add %rax, %rbx\n"
    "  mov %edi, %r12d\n"
    "  mov %rsi, %r13\n"
    "  mov %rdx, %r14\n"
    "  fl_is_parent\n"
    "  jne 2f\n"
    "  mov $186, %eax\n"  // gettid
    "  syscall\n"
    "  mov %eax, 12(%rbx)\n"
    "  fl_time 3\n"  // CLOCK_THREAD_CPUTIME_ID
    "  mov %rax, 32(%rbx)\n"
    "  fl_time 1\n"  // CLOCK_MONOTONIC
    "  mov %rax, 16(%rbx)\n"
    "  movl $1, 8(%rbx)\n"  // FL_INITIALIZER_RUNNING
    "2:\n"
    "  mov %r12d, %edi\n"
    "  mov %r13, %rsi\n"
    "  mov %r14, %rdx\n"
    "  call *(%rbx)\n"
    "  fl_is_parent\n"
    "  jne fl_leave\n"
    "  fl_time 1\n"
    "  mov %rax, 24(%rbx)\n"
    "  fl_time 3\n"
    "  mov %rax, 40(%rbx)\n"
    "  movl $2, 8(%rbx)\n"  // FL_INITIALIZER_RETURNED; x86-64 keeps the stores in order
    "  jmp fl_leave\n"

    // What a library's thunk jumps to in place of its initialisers, with twice the library's number
    // in eax, and 1 more for the array: runs each of them as above.
    "fl_driver:\n"
    "  fl_enter\n"
    "  sub $24, %rsp\n"
    "  mov %edi, (%rsp)\n"
    "  mov %rsi, 8(%rsp)\n"
    "  mov %rdx, %r14\n"
    "  mov %eax, 16(%rsp)\n"
    "  mov %eax, %r15d\n"
    "  shr $1, %r15d\n"
    "  imul $192, %r15, %rcx\n"
    "  lea " AREA(FL_LIBRARIES) ", %rbx\n"
    "  add %rcx, %rbx\n"
    "  lea 8(%rbx), %r12\n"  // init, alone
    "  mov $1, %r13d\n"
    "  test $1, %eax\n"
    "  je 1f\n"
    "  mov 16(%rbx), %r12\n"  // array
    "  mov 24(%rbx), %r13\n"  // count
    "1:\n"
    "  test %r13, %r13\n"
    "  je 4f\n"
    "  mov " STATE(RECORDS) ", %eax\n"
    "  cmp $" NUMBER(FL_MOST_RECORDS) ", %eax\n"
    "  jae 2f\n"
    "  mov (%r12), %rdx\n"
    "  incl " STATE(RECORDS) "\n"
    "  mov %eax, %esi\n"
    "  shl $6, %rsi\n"
    "  lea " AREA(FL_RECORDS) ", %rcx\n"
    "  add %rsi, %rcx\n"
    "  mov %rdx, (%rcx)\n"
    "  mov %r15, 48(%rcx)\n"  // library
    "  mov (%rsp), %edi\n"
    "  mov 8(%rsp), %rsi\n"
    "  mov %r14, %rdx\n"
    "  call fl_initializer\n"
    "  jmp 3f\n"
    "2:\n"
    "  mov (%rsp), %edi\n"
    "  mov 8(%rsp), %rsi\n"
    "  mov %r14, %rdx\n"
    "  call *(%r12)\n"
    "3:\n"
    "  add $8, %r12\n"
    "  dec %r13\n"
    "  jmp 1b\n"
    "4:\n"
    "  mov %rbx, %rdi\n"
    "  mov 16(%rsp), %esi\n"
    "  call fl_give_back\n"
    "  jmp fl_leave\n"

    ".balign 16\n"
    "fl_thunks:\n"
    ".set fl_number, 0\n"
    ".rept 2*" NUMBER(FL_MOST_LIBRARIES) "\n"
    "  mov $fl_number, %eax\n"
    "  jmp fl_driver\n"
    "  .balign 16\n"
    "  .set fl_number, fl_number+1\n"
    ".endr\n"

    // MARK: Marks

    // What a mark's trampoline calls, with its record's number (16 bits) above the return address:
    // writes one event into the ring, by the rules of firstlight/signpost.h. Changes no register, no
    // flag.
    "fl_mark:\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
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
    "  push %rbx\n"
    "  push %r12\n"
    "  push %r13\n"
    "  push %r14\n"
    "  sub $16, %rsp\n"
    "  cld\n"
    "  cmpq $0, " STATE(RING) "\n"  // nobody records
    "  je 9f\n"
    "  lea " AREA(FL_RING) ", %r12\n"
    "  fl_is_parent\n"
    "  jne 9f\n"
    "  movzwl 16(%rbp), %eax\n"
    "  shl $8, %rax\n"
    "  lea " AREA(FL_MARKS) ", %rbx\n"
    "  add %rax, %rbx\n"
    // What we need ourselves should not count to the interval: ends are early, beginnings late.
    "  xor %r13d, %r13d\n"
    "  cmpb $2, (%rbx)\n"  // FIRSTLIGHT_SIGNPOST_BEGIN
    "  je 1f\n"
    "  fl_time 1\n"
    "  mov %rax, %r13\n"
    "1:\n"
    // Takes a slot: its address is in rsi then, what its turn must be in r10.
    "  mov 8(%r12), %ecx\n"  // shift
    "  and $31, %ecx\n"
    "  mov $1, %edx\n"
    "  shl %cl, %rdx\n"
    "  mov %rdx, %r8\n"
    "  cmpb $3, (%rbx)\n"  // FIRSTLIGHT_SIGNPOST_END
    "  je 2f\n"
    "  shr $3, %r8\n"
    "  neg %r8\n"
    "  add %rdx, %r8\n"
    "2:\n"
    "  mov $1000, %r9d\n"
    "  mov 128(%r12), %rax\n"  // given
    "3:\n"
    "  mov %rax, %rsi\n"
    "  sub 64(%r12), %rsi\n"  // taken
    "  cmp %r8, %rsi\n"
    "  jge 5f\n"
    "  lea 1(%rax), %rdi\n"
    "  lock cmpxchg %rdi, 128(%r12)\n"
    "  jne 4f\n"
    "  lea -1(%rdx), %rsi\n"
    "  and %rax, %rsi\n"
    "  shl $8, %rsi\n"
    "  lea 256(%r12, %rsi), %rsi\n"
    "  mov %rax, %r10\n"
    "  shr %cl, %r10\n"
    "  add %r10, %r10\n"
    "  cmp %r10, (%rsi)\n"
    "  je 6f\n"
    "  mov 128(%r12), %rax\n"
    "4:\n"
    "  dec %r9d\n"
    "  jnz 3b\n"
    "5:\n"
    "  lock incq 192(%r12)\n"  // dropped
    "  jmp 9f\n"
    "6:\n"
    "  mov %rsi, %r14\n"
    "  mov (%rbx), %eax\n"
    "  mov %eax, 28(%r14)\n"  // kind, flags, lengths of name and category
    "  movb $0, 32(%r14)\n"   // no subsystem
    "  mov 4(%rbx), %ecx\n"
    "  lea 8(%rbx), %rsi\n"
    "  lea 40(%r14), %rdi\n"
    "  rep movsq\n"
    "  mov $186, %eax\n"  // gettid
    "  syscall\n"
    "  mov %eax, 24(%r14)\n"
    "  mov %rax, 16(%r14)\n"  // id: spans nest in a thread
    "  test %r13, %r13\n"
    "  jne 7f\n"
    "  fl_time 1\n"
    "  mov %rax, %r13\n"
    "7:\n"
    "  mov %r13, 8(%r14)\n"
    "  inc %r10\n"
    "  mov %r10, (%r14)\n"  // x86-64 keeps the stores in order
    "9:\n"
    "  add $16, %rsp\n"
    "  pop %r14\n"
    "  pop %r13\n"
    "  pop %r12\n"
    "  pop %rbx\n"
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
    "  pop %rbp\n"
    "  ret\n"

    "fl_name: .asciz \"firstlight\"\n"
    "fl_memory_path: .asciz \"/proc/self/mem\"\n"
    ".balign 16\n"
    ".previous\n");

#include "linking.h"
#include "pieces.h"

#define CHECK(field, offset) \
    _Static_assert(offsetof(struct fl_state, field) == offset, "the code above counts on it")
CHECK(phase, PHASE);
CHECK(displaced, DISPLACED);
CHECK(filtered, FILTERED);
CHECK(outstanding, OUTSTANDING);
CHECK(execution, EXECUTION);
CHECK(masks, MASKS);
CHECK(next_area, NEXT_AREA);
CHECK(pid, PID);
CHECK(recorder, RECORDER);
CHECK(size, SIZE);
CHECK(cookie, COOKIE);
CHECK(sample_signal, SAMPLE_SIGNAL);
CHECK(original_handler, ORIGINAL_HANDLER);
CHECK(after[FL_SITE_SIGACTION], AFTER_SIGACTION);
CHECK(after[FL_SITE_SIGMASK], AFTER_SIGMASK);
CHECK(after[FL_SITE_EXECVE], AFTER_EXECVE);
CHECK(after[FL_SITE_PRCTL], AFTER_PRCTL);
CHECK(real_start, REAL_START);
CHECK(real_main, REAL_MAIN);
CHECK(real_init, REAL_INIT);
CHECK(records, RECORDS);
CHECK(ring, RING);
CHECK(spare_signal, SPARE_SIGNAL);
CHECK(spare, SPARE);
CHECK(spare_original, SPARE_ORIGINAL);
#define CHECK_SLOT(field, offset) \
    _Static_assert(offsetof(struct fl_slot, field) == offset, "the code above counts on it")
CHECK_SLOT(alternate, 4);
CHECK_SLOT(stack_low, 8);
CHECK_SLOT(stack_high, 16);
CHECK_SLOT(capacity, 24);
CHECK_SLOT(buffer, 32);
CHECK_SLOT(time_ns, 40);
CHECK_SLOT(cpu_ns, 48);
CHECK_SLOT(copied_start, 56);
CHECK_SLOT(copied_size, 64);
CHECK_SLOT(registers, 72);
CHECK_SLOT(vectors, 208);
#define CHECK_SIZE(type, size) _Static_assert(sizeof(struct type) == size, "places are multiples")
CHECK_SIZE(fl_slot, FL_SLOT_SIZE);
CHECK_SIZE(fl_initializer, 64);
CHECK_SIZE(fl_library, 192);
CHECK_SIZE(fl_open, 256);
CHECK_SIZE(fl_mark, 256);
_Static_assert(sizeof(struct fl_state) <= FL_SLOTS - FL_STATE, "it has that much room");
_Static_assert(offsetof(struct fl_initializer, state) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, tid) == 12, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, start_ns) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, end_ns) == 24, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, start_cpu_ns) == 32, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, end_cpu_ns) == 40, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, library) == 48, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, initializer) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, array) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, count) == 24, "the code above counts on it");
_Static_assert(offsetof(struct fl_mark, words) == 4, "the code above counts on it");
_Static_assert(offsetof(struct fl_mark, text) == 8, "the code above counts on it");

extern const uint8_t fl_begin[], __start_fl_code[], __stop_fl_code[], fl_debug_state[], fl_mark[],
    fl_sigaction[], fl_sigmask[], fl_execve[], fl_prctl[], fl_sample_handler[], fl_restorer[],
    fl_main[], fl_thunks[], fl_boot[], fl_boot_words[], fl_boot_end[], fl_away[], fl_away_words[],
    fl_away_end[], fl_away_waiting[], fl_away_waiting_end[];

static uint32_t place(const uint8_t *symbol) { return (uint32_t)(symbol - fl_begin); }

struct fl_code fl_code_describe(void) {
    return (struct fl_code){
        .code = fl_begin,
        .length = place(__stop_fl_code),
        .boot = {fl_boot, (uint32_t)(fl_boot_end - fl_boot), (uint32_t)(fl_boot_words - fl_boot)},
        .away = {fl_away, (uint32_t)(fl_away_end - fl_away), (uint32_t)(fl_away_words - fl_away)},
        .away_waiting = (uint32_t)(fl_away_waiting - fl_away),
        .away_waiting_end = (uint32_t)(fl_away_waiting_end - fl_away),
        .debug_state = place(fl_debug_state),
        .mark = place(fl_mark),
        .stand_ins = {place(fl_sigaction), place(fl_sigmask), place(fl_execve), place(fl_prctl)},
        .sample_handler = place(fl_sample_handler),
        .restorer = place(fl_restorer),
        .main = place(fl_main),
        .thunks = place(fl_thunks),
    };
}
