// The code that runs in place of the C library's system calls that concern us.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

    // Each of these stands in for a system call of the C library: a jump leads here, in place of the
    // instruction that loads the call's number. The parts shared with syscall(2), which may be given
    // any number, are macros: a call would leave a return address on the stack, as if a thread were
    // still here.

    // Waits until a word is 0. The wait is bounded, and happens only once, because the recorder may
    // have been killed: a word that is not 0 by then is set to 0. Changes rax, rcx and r11.
    ".macro fl_await word\n"
    "  lea -128(%rsp), %rsp\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %r9\n"
    "  mov $" NUMBER(MOST_NAPS) ", %r9d\n"
    "11:\n"
    "  cmpl $0, \\word\n"
    "  jle 12f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  je 14f\n"
    "  cmp $" NUMBER(MOST_NAPS) "-" NUMBER(NAPS) ", %r9d\n"
    "  ja 11b\n"
    "  mov " STATE(RECORDER) ", %edi\n"
    "  test %edi, %edi\n"
    "  je 14f\n"
    "  mov $62, %eax\n"  // kill, with no signal
    "  xor %esi, %esi\n"
    "  syscall\n"
    "  cmp $-3, %eax\n"  // ESRCH
    "  jne 11b\n"
    "14:\n"
    "  movl $0, \\word\n"
    "12:\n"
    "  pop %r9\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  lea 128(%rsp), %rsp\n"
    ".endm\n"
    // Whether this is the observed process's memory (equal), and not that of a child that it
    // forked: such a child may have a filter of its own that we do not notice, so it makes no calls
    // of ours.
    ".macro fl_is_own_memory\n"
    "  cmpl $1, " AREA(FL_OWN) "\n"
    ".endm\n"
    // The same, and not a child that shares the memory (vfork); changes rax, rcx, r11.
    ".macro fl_is_own\n"
    "  fl_is_own_memory\n"
    "  jne 13f\n"
    "  mov $39, %eax\n"  // getpid
    "  syscall\n"
    "  cmp " STATE(PID) ", %eax\n"
    "13:\n"
    ".endm\n"

    // Saves the registers that a C function may change; the system call may change rcx and r11.
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

    // The program has the kernel allow calls by their address (user dispatch): the call is made at
    // its original place. Changes rax and rcx.
    ".macro fl_unless_dispatched number, after\n"
    "  cmpl $" NUMBER(FL_DISPATCHED) ", " STATE(FILTERED) "\n"
    "  jne 18f\n"
    "  mov $\\number, %eax\n"
    "  mov \\after, %rcx\n"
    "  sub $2, %rcx\n"
    "  jmp *%rcx\n"
    "18:\n"
    ".endm\n"

    // The program must not notice our handler, and we must not replace one of its own unknowingly.
    // If the program queries the action of a signal of ours, it gets its own answer. If it sets
    // another action, requests by that signal end.
    ".macro fl_act\n"
    // A forked child has our handler, but no recorder that asks. We remove the handler at the
    // child's first call of this kind, when the child may make such calls.
    "  cmpl $0, " AREA(FL_OWN) "\n"
    "  jne 2f\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 2f\n"
    "  fl_push_all\n"
    "  call fl_leave_child\n"
    "  fl_pop_all\n"
    "2:\n"
    "  test %rsi, %rsi\n"
    "  je 5f\n"
    "  fl_is_own_memory\n"
    "  jne 5f\n"
    "  cmp " STATE(SAMPLE_SIGNAL) ", %edi\n"
    "  je 1f\n"
    "  cmp " STATE(SPARE_SIGNAL) ", %edi\n"
    "  je 1f\n"
    // A process that makes no calls of ours repeats none either, and its argument may not be
    // readable.
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 5f\n"
    "  fl_push_all\n"
    "  mov %rsi, %rdi\n"
    "  call fl_see_handler\n"
    "  movq $0, -8(%rsp)\n"  // erases our return address
    "  fl_pop_all\n"
    "  jmp 5f\n"
    "1:\n"
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
    "  movq $0, 16(%rdx)\n"
    "  movq $0, 24(%rdx)\n"
    "7:\n"
    ".endm\n"
    "fl_sigaction:\n"
    "  fl_unless_dispatched 13, " STATE(AFTER_SIGACTION) "\n"
    "  fl_act\n"
    "  jmp *" STATE(AFTER_SIGACTION) "\n"

    // A request that finds its signal blocked would surface in a sigwait or a signalfd. So the
    // recorder checks the masks again, and if it is just sending a signal, we wait for that. A
    // signal sent to this thread arrives when its next system call returns; requests to other
    // threads do not matter here. We wait for the thread's timer, too. A program that blocks the
    // first signal and not the spare one has a use for the first.
    ".macro fl_mask after\n"
    "  test %rsi, %rsi\n"
    "  je 5f\n"
    "  cmp $1, %edi\n"  // SIG_UNBLOCK
    "  je 5f\n"
    "  fl_is_own_memory\n"
    "  jne 5f\n"
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
    "  lock incl " STATE(MASKING) "\n"
    "  lock incl " STATE(MASKS) "\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 6f\n"
    "  fl_await " STATE(SENDING) "\n"
    "  fl_is_own\n"
    "  jne 6f\n"
    "  fl_push_all\n"
    "  call fl_await_own_timer\n"
    "  movq $0, -8(%rsp)\n"  // erases our return address
    "  fl_pop_all\n"
    "  cmpl $0, " STATE(SPARE) "\n"  // FL_SPARE_NOT_NEEDED
    "  jne 6f\n"
    "  mov (%rsi), %r11\n"
    "  mov " STATE(SPARE_SIGNAL) ", %ecx\n"
    "  dec %ecx\n"
    "  bt %rcx, %r11\n"
    "  jc 6f\n"
    "  fl_push_all\n"
    "  xor %edi, %edi\n"
    "  call fl_take_spare\n"
    "  fl_pop_all\n"
    "6:\n"
    "  mov $14, %eax\n"
    "  syscall\n"
    "  lock decl " STATE(MASKING) "\n"
    "  jmp *\\after\n"
    "5:\n"
    "  mov $14, %eax\n"
    "  syscall\n"
    "  jmp *\\after\n"
    ".endm\n"
    "fl_sigmask:\n"
    "  fl_unless_dispatched 14, " STATE(AFTER_SIGMASK) "\n"
    "  fl_mask " STATE(AFTER_SIGMASK) "\n"

    // A filter may kill the process for the handler's system calls. A program that installs one has
    // to give up privileges first, or does it here.
    ".macro fl_before_prctl\n"
    "  cmp $38, %edi\n"  // PR_SET_NO_NEW_PRIVS
    "  je 1f\n"
    "  cmp $22, %edi\n"  // PR_SET_SECCOMP
    "  je 1f\n"
    "  cmp $59, %edi\n"  // PR_SET_SYSCALL_USER_DISPATCH
    "  jne 2f\n"
    "1:\n"
    "  fl_before_filter\n"
    "  cmp $59, %edi\n"
    "  jne 2f\n"
    // Also for a forked child, whose calls come here, too.
    "  fl_push_all\n"
    "  call fl_dispatch\n"
    "  fl_pop_all\n"
    "2:\n"
    ".endm\n"
    ".macro fl_before_filter\n"
    // A child that shares the memory (vfork) filters its own calls.
    "  fl_is_own_memory\n"
    "  jne 3f\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 3f\n"
    "  fl_is_own\n"
    "  jne 3f\n"
    "  mov $1, %eax\n"
    "  xchg %eax, " STATE(FILTERED) "\n"
    "  test %eax, %eax\n"
    "  jne 3f\n"
    "  fl_push_all\n"
    "  call fl_await_timers\n"
    "  movq $0, -8(%rsp)\n"  // erases our return address
    "  fl_pop_all\n"
    "  fl_await " STATE(OUTSTANDING) "\n"
    "3:\n"
    ".endm\n"
    "fl_prctl:\n"
    "  fl_unless_dispatched 157, " STATE(AFTER_PRCTL) "\n"
    "  fl_before_prctl\n"
    "  mov $157, %eax\n"
    "  syscall\n"
    "  jmp *" STATE(AFTER_PRCTL) "\n"

    // mlockall locks all mappings, provides memory for them, and fails where that is too much.
    ".macro fl_lock\n"
    "  mov $151, %eax\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  je 8f\n"
    "  cmp $-12, %rax\n"  // ENOMEM
    "  jne 9f\n"
    "8:\n"
    "  fl_is_own_memory\n"
    "  jne 9f\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 9f\n"
    "  fl_push_all\n"
    "  mov %rax, %rsi\n"
    "  call fl_locked\n"
    "  fl_pop_all\n"
    "9:\n"
    ".endm\n"
    "fl_mlockall:\n"
    "  fl_unless_dispatched 151, " STATE(AFTER_MLOCKALL) "\n"
    "  fl_lock\n"
    "  jmp *" STATE(AFTER_MLOCKALL) "\n"

    // The program does not see an alternate stack of ours, which gives way to one of its own.
    ".macro fl_change_stack\n"
    "  fl_push_all\n"
    "  call fl_alternate\n"
    "  movq $0, -8(%rsp)\n"  // erases our return address
    "  fl_pop_all\n"
    ".endm\n"
    "fl_stack:\n"
    "  fl_unless_dispatched 131, " STATE(AFTER_STACK) "\n"
    "  fl_change_stack\n"
    "  jmp *" STATE(AFTER_STACK) "\n"

    // A new thread gets an alternate stack.
    "fl_thread:\n"
    "  fl_unless_dispatched 273, " STATE(AFTER_THREAD) "\n"
    "  fl_push_all\n"
    "  call fl_take_alternate\n"
    "  movq $0, -8(%rsp)\n"  // erases our return address
    "  fl_pop_all\n"
    "  mov $273, %eax\n"
    "  syscall\n"
    "  jmp *" STATE(AFTER_THREAD) "\n"

    // In place of the last instruction of syscall(2) before its call, with the number in rax. All
    // but these few calls are made at their original place: threads may wait in them. If the
    // program passes an address that cannot be read, the kernel reports that, and our code does not
    // fault.
    "fl_syscall:\n"
    "  mov 8(%rsp), %r9\n"
    "  cmpl $" NUMBER(FL_DISPATCHED) ", " STATE(FILTERED) "\n"
    "  je 20f\n"
    "  cmp $13, %eax\n"  // rt_sigaction
    "  je 21f\n"
    "  cmp $14, %eax\n"  // rt_sigprocmask
    "  je 21f\n"
    "  cmp $157, %eax\n"  // prctl
    "  je 25f\n"
    "  cmp $317, %eax\n"  // seccomp
    "  je 26f\n"
    "  cmp $59, %eax\n"  // execve
    "  je 27f\n"
    "  cmp $322, %eax\n"  // execveat
    "  je 27f\n"
    "  cmp $151, %eax\n"  // mlockall
    "  je 28f\n"
    "  cmp $131, %eax\n"  // sigaltstack
    "  je 29f\n"
    "20:\n"
    // Our handler reads the number at the far end of the red zone: no register would keep it. Our
    // secret goes with it, because a thread may have reached the call's instruction before our code
    // was there.
    "  mov " STATE(COOKIE) ", %rcx\n"
    "  shl $16, %rcx\n"
    "  add %rax, %rcx\n"
    "  mov %rcx, -128(%rsp)\n"
    "  mov " STATE(AFTER_SYSCALL) ", %rcx\n"
    "  sub $2, %rcx\n"
    "  jmp *%rcx\n"
    "21:\n"
    "  test %rsi, %rsi\n"
    "  je 22f\n"
    "  fl_is_own_memory\n"
    "  jne 22f\n"
    // No calls of ours; an action is not read then.
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 23f\n"
    "  lea -128(%rsp), %rsp\n"
    "  push %rax\n"
    "  fl_push_all\n"
    "  mov %rsi, %rdi\n"
    "  mov %eax, %esi\n"
    "  call fl_is_readable\n"
    "  movq $0, -8(%rsp)\n"  // erases our return address
    "  fl_pop_all\n"
    "  mov %eax, %ecx\n"
    "  pop %rax\n"
    "  lea 128(%rsp), %rsp\n"
    "  test %ecx, %ecx\n"
    "  je 20b\n"
    "22:\n"
    "  cmp $13, %eax\n"
    "  je 24f\n"
    "  fl_mask " STATE(AFTER_SYSCALL) "\n"
    "23:\n"
    "  cmp $13, %eax\n"
    "  jne 20b\n"
    "24:\n"
    "  fl_act\n"
    "  jmp *" STATE(AFTER_SYSCALL) "\n"
    "25:\n"
    "  fl_before_prctl\n"
    "  mov $157, %eax\n"
    "  jmp 20b\n"
    "26:\n"
    "  cmp $1, %edi\n"  // SECCOMP_SET_MODE_STRICT, SECCOMP_SET_MODE_FILTER
    "  ja 20b\n"
    "  fl_before_filter\n"
    "  mov $317, %eax\n"
    "  jmp 20b\n"
    "27:\n"
    "  lea -128(%rsp), %rsp\n"
    "  push " STATE(AFTER_SYSCALL) "\n"
    "  push %rax\n"
    "  jmp fl_executes\n"
    "28:\n"
    "  fl_lock\n"
    "  jmp *" STATE(AFTER_SYSCALL) "\n"
    "29:\n"
    "  fl_change_stack\n"
    "  jmp *" STATE(AFTER_SYSCALL) "\n"

    // Between the two, no handler of the program's may run and jump away: half-done work there
    // would stay so for good. The mask is on the stack.
    ".macro fl_block_signals\n"
    "  push $-1\n"
    "  mov $14, %eax\n"  // rt_sigprocmask
    "  fl_set 2, %rdi\n"  // SIG_SETMASK
    "  mov %rsp, %rsi\n"
    "  mov %rsp, %rdx\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    ".endm\n"
    ".macro fl_unblock_signals\n"
    "  mov $14, %eax\n"
    "  fl_set 2, %rdi\n"
    "  mov %rsp, %rsi\n"
    "  xor %edx, %edx\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "  pop %rax\n"
    ".endm\n"
    // Equal: this thread is the one that executes a program. Changes rax, rcx, rdx and r11.
    ".macro fl_claim_execution\n"
    "  mov $186, %eax\n"  // gettid
    "  syscall\n"
    "  mov %eax, %edx\n"
    "  xor %eax, %eax\n"
    "  lock cmpxchg %edx, " STATE(EXECUTOR) "\n"
    "  je 15f\n"
    "  cmp %edx, %eax\n"
    "15:\n"
    ".endm\n"
    // Keeps edi as the descriptor of the next program's area; closes the previous one.
    ".macro fl_keep_descriptor\n"
    "  xchg %edi, " STATE(NEXT_AREA) "\n"
    "  test %edi, %edi\n"
    "  js 14f\n"
    "  mov $3, %eax\n"  // close
    "  syscall\n"
    "14:\n"
    ".endm\n"

    // Notes the time in a word; changes rax, rcx, rsi, rdi, r11.
    ".macro fl_now word\n"
    "  sub $16, %rsp\n"
    "  fl_time 1\n"  // CLOCK_MONOTONIC
    "  add $16, %rsp\n"
    "  mov %rax, \\word\n"
    ".endm\n"

    // Tells the recorder, makes the memory for the next program's area, and gives the recorder time
    // to trace this thread: then it misses nothing of the next program's launch.
    "fl_execve:\n"
    "  fl_unless_dispatched 59, " STATE(AFTER_EXECVE) "\n"
    "  lea -128(%rsp), %rsp\n"
    "  push " STATE(AFTER_EXECVE) "\n"
    "  push $59\n"
    // The call's number and the address where it continues are on the stack.
    "fl_executes:\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 9f\n"
    "  fl_is_own\n"
    "  jne 9f\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %rdx\n"
    "  push %r9\n"
    "  push %r10\n"
    // A search for a program tries one folder after the other: most attempts fail at once. execveat
    // is not used for that, and its path may be below any folder.
    "  cmpl $59, 40(%rsp)\n"
    "  jne 4f\n"
    "  mov $21, %eax\n"  // access
    "  fl_set 1, %rsi\n"  // X_OK
    "  syscall\n"
    "  test %eax, %eax\n"
    "  jne 8f\n"
    // A traced process gains no privileges from a file, unless the tracer has them all: such a
    // program is executed as if there were no recorder.
    "  cmpl $0, " STATE(MAY_GAIN_PRIVILEGES) "\n"
    "  jne 4f\n"
    "  sub $144, %rsp\n"  // struct stat
    "  mov %rdi, %rsi\n"
    "  fl_set -100, %rdi\n"  // AT_FDCWD
    "  mov %rsp, %rdx\n"
    "  xor %r10d, %r10d\n"
    "  mov $262, %eax\n"  // newfstatat
    "  syscall\n"
    "  mov 24(%rsp), %ecx\n"  // st_mode
    "  add $144, %rsp\n"
    "  test %eax, %eax\n"
    "  jne 4f\n"
    "  test $0x800, %ecx\n"  // S_ISUID
    "  jne 16f\n"
    "  and $0x408, %ecx\n"  // S_ISGID, and executable for the group
    "  cmp $0x408, %ecx\n"
    "  je 16f\n"
    "  mov %rsi, %rdi\n"
    "  lea fl_capability(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  mov $191, %eax\n"  // getxattr
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jg 16f\n"
    "4:\n"
    // One thread at a time: another one's attempt ends this thread, or fails. That attempt may also
    // hang, or a jump out of a handler has abandoned it: we wait for it once. If this thread itself
    // abandoned one, it takes over its own.
    "  mov $100, %r9d\n"
    "5:\n"
    "  fl_claim_execution\n"
    "  je 6f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  jnz 5b\n"
    "  movl $0, " STATE(EXECUTOR) "\n"
    "  jmp 8f\n"
    "6:\n"
    "  fl_now " STATE(AHEAD_NS) "\n"
    "  fl_block_signals\n"
    "  movl $0, " STATE(EXECUTION) "\n"  // FL_EXECUTION_NONE
    "  mov $-1, %edi\n"
    "  fl_keep_descriptor\n"
    // Memory beyond the limit on file sizes would not be an error, but a signal that kills.
    "  push $0\n"
    "  push $0\n"
    "  mov $97, %eax\n"  // getrlimit
    "  fl_set 1, %rdi\n"  // RLIMIT_FSIZE
    "  mov %rsp, %rsi\n"
    "  syscall\n"
    "  pop %rcx\n"
    "  pop %rax\n"
    "  cmp " STATE(SIZE) ", %rcx\n"
    "  jb 0f\n"
    "  mov $319, %eax\n"  // memfd_create
    "  lea fl_name(%rip), %rdi\n"
    "  fl_set 3, %rsi\n"  // MFD_CLOEXEC | MFD_ALLOW_SEALING
    "  syscall\n"
    "  test %eax, %eax\n"
    "  js 0f\n"
    "  mov %eax, %edi\n"
    "  mov $77, %eax\n"  // ftruncate
    "  mov " STATE(SIZE) ", %rsi\n"
    "  syscall\n"
    "  fl_keep_descriptor\n"
    "0:\n"
    "  movl $1, " STATE(EXECUTION) "\n"  // FL_EXECUTION_AHEAD
    "  fl_unblock_signals\n"
    "  mov " STATE(RECORDER) ", %edi\n"
    "  test %edi, %edi\n"
    "  je 0f\n"
    "  mov $62, %eax\n"  // kill
    "  mov $17, %esi\n"  // SIGCHLD: a process that gets it by mistake ignores it
    "  syscall\n"
    "0:\n"
    // Sixty naps in any case; up to 1000 if the recorder lives, as a busy machine may need more.
    "  mov $1000, %r9d\n"
    "1:\n"
    "  cmpl $1, " STATE(EXECUTION) "\n"
    "  jne 2f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  je 0f\n"
    "  cmp $940, %r9d\n"
    "  ja 1b\n"
    "  mov " STATE(RECORDER) ", %edi\n"
    "  test %edi, %edi\n"
    "  je 0f\n"
    "  mov $62, %eax\n"  // kill, with no signal
    "  xor %esi, %esi\n"
    "  syscall\n"
    "  test %eax, %eax\n"
    "  je 1b\n"
    "0:\n"
    // Unless the recorder just began to follow, it does not: the next program must not find an
    // unused area.
    "  mov $1, %eax\n"
    "  xor %ecx, %ecx\n"  // FL_EXECUTION_NONE
    "  lock cmpxchg %ecx, " STATE(EXECUTION) "\n"
    "  je 3f\n"
    // Until now, programs that other threads execute do not inherit the descriptor.
    "2:\n"
    "  mov $72, %eax\n"  // fcntl
    "  mov " STATE(NEXT_AREA) ", %edi\n"
    "  fl_set 2, %rsi\n"  // F_SETFD
    "  xor %edx, %edx\n"
    "  syscall\n"
    "3:\n"
    "  fl_now " STATE(FOLLOWED_NS) "\n"
    "  mov (%rsp), %r10\n"
    "  mov 16(%rsp), %rdx\n"
    "  mov 24(%rsp), %rsi\n"
    "  mov 32(%rsp), %rdi\n"
    "  mov 40(%rsp), %eax\n"
    "  syscall\n"
    // execve failed: nothing may stay behind, and the next attempt starts afresh. The words belong
    // to this thread until here, whatever the recorder has written there; unless another thread has
    // waited for them in vain, and makes an attempt of its own.
    "  push %rax\n"
    "  fl_block_signals\n"
    "  fl_claim_execution\n"
    "  jne 7f\n"
    "  mov $-1, %edi\n"
    "  fl_keep_descriptor\n"
    "  movl $0, " STATE(EXECUTION) "\n"
    "  movl $0, " STATE(EXECUTOR) "\n"
    "7:\n"
    "  fl_unblock_signals\n"
    "  pop %rax\n"
    "  pop %r10\n"
    "  pop %r9\n"
    "  pop %rdx\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  jmp 10f\n"
    "16:\n"
    "  movl $1, " STATE(UNANNOUNCED) "\n"
    "  pop %r10\n"
    "  pop %r9\n"
    "  pop %rdx\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  mov (%rsp), %eax\n"
    "  syscall\n"
    "  movl $0, " STATE(UNANNOUNCED) "\n"
    "  jmp 10f\n"
    "8:\n"
    "  pop %r10\n"
    "  pop %r9\n"
    "  pop %rdx\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "9:\n"
    "  mov (%rsp), %eax\n"
    "  syscall\n"
    "10:\n"
    "  pop %rcx\n"
    "  pop %rcx\n"
    "  lea 128(%rsp), %rsp\n"
    "  jmp *%rcx\n"
    "fl_stand_ins_end:\n"
    ".previous\n");
