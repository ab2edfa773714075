// The handler of the sampling signals.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

    // The restorer of signal frames, the same as in every C library.
    ".balign 16\n"
    "fl_restorer:\n"
    "  mov $15, %eax\n"  // rt_sigreturn
    "  syscall\n"

    // Puts the slot whose number is in rax into r8; equal if it waited for an answer. Changes rax
    // and rcx.
    ".macro fl_claim_slot\n"
    "  shl $8, %eax\n"  // times FL_SLOT_SIZE
    "  lea " AREA(FL_SLOTS) ", %r8\n"
    "  add %rax, %r8\n"
    "  mov $1, %eax\n"  // FL_SLOT_REQUESTED
    "  mov $2, %ecx\n"  // FL_SLOT_BUSY
    "  lock cmpxchg %ecx, (%r8)\n"
    ".endm\n"

    // (signal, siginfo, ucontext). Only a request of the recorder's names a slot that waits for it,
    // and only a timer of the recorder's is in its list. All other signals are the program's own,
    // and are ignored as without us. Uses only registers that a function may change.
    "fl_sample_handler:\n"
    "  cmpl $1, 8(%rsi)\n"  // si_code: POLL_IN
    "  je fl_find_timer\n"
    "  cmpl $6, 8(%rsi)\n"  // POLL_HUP: the last signal that was requested
    "  je fl_find_timer\n"
    "  cmpl $-1, 8(%rsi)\n"  // SI_QUEUE
    "  jne 9f\n"
    "  mov 24(%rsi), %rax\n"  // si_value
    "  mov %rax, %rcx\n"
    "  shr $16, %rcx\n"
    "  cmp " STATE(COOKIE) ", %rcx\n"
    "  jne 9f\n"
    "  movzwl %ax, %eax\n"
    "  cmp $" NUMBER(FL_MOST_SLOTS) ", %eax\n"
    "  jae 9f\n"
    "  fl_claim_slot\n"
    "  jne 9f\n"
    "  xor %r9d, %r9d\n"
    // r9d: whether it is a timer's signal.
    "fl_answer:\n"
    "  push %r9\n"
    "  mov $4, %r10d\n"  // FL_SLOT_DECLINED
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 8f\n"
    "  lea 40(%rdx), %rsi\n"  // uc_mcontext.gregs
    "  lea 72(%r8), %rdi\n"
    "  mov $17, %ecx\n"
    "  rep movsq\n"
    "  push %rdx\n"
    "  push %r8\n"
    "  sub $24, %rsp\n"
    ".macro fl_clock clock, to\n"
    "  fl_time \\clock\n"
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
    // The stack from the red zone up, to the end of the mapping if that is known. The kernel
    // copies: a mapping that has disappeared is an error then, and no fault.
    "  mov 24(%r8), %ecx\n"  // capacity
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
    "  cmpq $0, 240(%r8)\n"  // thread
    "  je 7f\n"
    "  mov %r8, %rdi\n"
    "  call fl_copy_frames\n"
    "7:\n"
    "  pop %r8\n"
    "  pop %rdx\n"
    "  mov $3, %r10d\n"  // FL_SLOT_FILLED
    "8:\n"
    "  pop %r9\n"
    "  mov %r10d, (%r8)\n"  // x86-64 keeps the stores in order
    "  lock decl " STATE(OUTSTANDING) "\n"
    "  test %r9d, %r9d\n"
    "  jne fl_return\n"
    "9:\n"
    // Perhaps a call ended early because of this signal. (The syscall instruction leaves its return
    // address in rcx, but not with FRED.)
    "  mov %rdx, %rdi\n"
    "  sub $8, %rsp\n"
    "  cmpq $-4, 144(%rdx)\n"  // rax: -EINTR
    "  je 6f\n"
    "  call fl_get_rest\n"
    "  jmp 0f\n"
    "6:\n"
    "  call fl_make_again\n"
    "0:\n"
    "  add $8, %rsp\n"
    "fl_return:\n"
    "  ret\n"

    // Finds the first waiting slot of this thread, for the timer whose descriptor came with the
    // signal. The timer may belong to another thread now, because the signal was pending meanwhile.
    // The signal is counted first, because a thread that prepares a filter waits for us. Such a
    // signal ends no call: a call that has just ended did so by itself.
    "fl_find_timer:\n"
    "  lock incl " STATE(OUTSTANDING) "\n"
    "  cmpl $0, " STATE(FILTERED) "\n"  // no calls of ours
    "  jne 6f\n"
    "  mov 24(%rsi), %ecx\n"  // si_fd
    "  inc %ecx\n"
    "  je 6f\n"
    "  lea " STATE(TIMERS) ", %r9\n"
    "  mov $" NUMBER(FL_MOST_TIMERS) ", %eax\n"
    "1:\n"
    "  cmp %ecx, 4(%r9)\n"
    "  je 2f\n"
    "  add $" NUMBER(FL_TIMER_SIZE) ", %r9\n"
    "  dec %eax\n"
    "  jne 1b\n"
    "  jmp 6f\n"
    "2:\n"
    "  mov $186, %eax\n"  // gettid
    "  syscall\n"
    "  mov %eax, %edi\n"
    "  cmp %edi, (%r9)\n"
    "  jne 6f\n"
    "  xor %r10d, %r10d\n"
    "3:\n"
    "  movzwl 8(%r9, %r10, 2), %eax\n"
    "  cmp $" NUMBER(FL_MOST_SLOTS) ", %eax\n"
    "  jae 4f\n"
    "  fl_claim_slot\n"
    "  je 5f\n"
    "4:\n"
    "  inc %r10d\n"
    "  cmp $" NUMBER(FL_TIMER_SLOTS) ", %r10d\n"
    "  jne 3b\n"
    "6:\n"
    "  lock decl " STATE(OUTSTANDING) "\n"
    "  ret\n"
    // The recorder may have given the entry to another thread, and with it the slot.
    "5:\n"
    "  cmp %edi, (%r9)\n"
    "  mov $1, %r9d\n"
    "  je fl_answer\n"
    "  movl $1, (%r8)\n"  // FL_SLOT_REQUESTED
    "  jmp 6b\n"
    ".previous\n");
