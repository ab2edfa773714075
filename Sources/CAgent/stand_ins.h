// What the C library's system calls that concern us are led past.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

    // The following are reached from the C library's system call of that number, in place of the
    // instruction that loads it.

    // Waits until a word is 0: bounded, and once only, for the recorder may have been killed. What
    // was waited for in vain is forgotten. Changes rax, rcx and r11.
    ".macro fl_await word\n"
    "  lea -128(%rsp), %rsp\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %r9\n"
    "  mov $400, %r9d\n"
    "11:\n"
    "  cmpl $0, \\word\n"
    "  jle 12f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  jnz 11b\n"
    "  movl $0, \\word\n"
    "12:\n"
    "  pop %r9\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  lea 128(%rsp), %rsp\n"
    ".endm\n"
    // Whether this is the observed process's memory (equal), and not that of a child that it forked:
    // such a child may have a filter of its own, of which nobody tells us, so it makes no calls of
    // ours.
    ".macro fl_is_own_memory\n"
    "  cmpl $1, " AREA(FL_OWN) "\n"
    ".endm\n"
    // The same, and no child that shares it (vfork); changes rax, rcx, r11.
    ".macro fl_is_own\n"
    "  fl_is_own_memory\n"
    "  jne 13f\n"
    "  mov $39, %eax\n"  // getpid
    "  syscall\n"
    "  cmp " STATE(PID) ", %eax\n"
    "13:\n"
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
    // A forked child has our handler, and nobody who asks: at its first call of this kind, which it
    // may make then, that is taken back.
    "  cmpl $0, " AREA(FL_OWN) "\n"
    "  jne 2f\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 2f\n"
    "  fl_push_all\n"
    "  call fl_leave_child\n"
    "  fl_pop_all\n"
    "2:\n"
    "  cmp " STATE(SAMPLE_SIGNAL) ", %edi\n"
    "  je 1f\n"
    "  cmp " STATE(SPARE_SIGNAL) ", %edi\n"
    "  jne 5f\n"
    "1:\n"
    "  test %rsi, %rsi\n"
    "  je 5f\n"
    "  fl_is_own_memory\n"
    "  jne 5f\n"
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
    "  jmp *" STATE(AFTER_SIGACTION) "\n"

    // A request that finds its signal blocked would surface in a sigwait or a signalfd: the recorder
    // looks at masks anew, and if it is just sending a signal, that is waited for. What was sent to
    // this thread arrives when its next system call returns; others' requests are no matter here.
    // Who blocks the one signal and not the spare one has a use for it.
    "fl_sigmask:\n"
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
    "  lock incl " STATE(MASKS) "\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 5f\n"
    "  fl_await " STATE(SENDING) "\n"
    "  fl_is_own\n"
    "  jne 5f\n"
    "  cmpl $0, " STATE(SPARE) "\n"  // FL_SPARE_NOT_NEEDED
    "  jne 5f\n"
    "  mov (%rsi), %r11\n"
    "  mov " STATE(SPARE_SIGNAL) ", %ecx\n"
    "  dec %ecx\n"
    "  bt %rcx, %r11\n"
    "  jc 5f\n"
    "  fl_push_all\n"
    "  xor %edi, %edi\n"
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
    "  fl_is_own_memory\n"
    "  jne 2f\n"
    "  mov $1, %eax\n"
    "  xchg %eax, " STATE(FILTERED) "\n"
    "  test %eax, %eax\n"
    "  jne 2f\n"
    "  fl_await " STATE(OUTSTANDING) "\n"
    "2:\n"
    "  mov $157, %eax\n"
    "  syscall\n"
    "  jmp *" STATE(AFTER_PRCTL) "\n"

    // mlockall locks, and makes memory of, whatever is mapped.
    "fl_mlockall:\n"
    "  mov $151, %eax\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jne 9f\n"
    "  fl_is_own_memory\n"
    "  jne 9f\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
    "  jne 9f\n"
    "  fl_push_all\n"
    "  call fl_unlock\n"
    "  fl_pop_all\n"
    "  xor %eax, %eax\n"
    "9:\n"
    "  jmp *" STATE(AFTER_MLOCKALL) "\n"

    // Tells the recorder, makes the memory that the next program's area will be, and gives the
    // recorder the time to trace this thread: then nothing of the next program's launch is missed.
    "fl_execve:\n"
    "  cmpl $0, " STATE(FILTERED) "\n"
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
    // One thread at a time: another one's attempt ends this thread, or fails. It may also hang, or
    // never come back from a handler.
    "  mov $100, %r9d\n"
    "5:\n"
    "  xor %eax, %eax\n"  // FL_EXECUTION_NONE
    "  mov $3, %ecx\n"  // FL_EXECUTION_CLAIMED
    "  lock cmpxchg %ecx, " STATE(EXECUTION) "\n"
    "  je 6f\n"
    "  fl_nap\n"
    "  dec %r9d\n"
    "  jnz 5b\n"
    "  jmp 8f\n"
    "6:\n"
    // Memory beyond the limit of file size would be no error, but a signal that kills.
    "  push $0\n"
    "  push $0\n"
    "  mov $97, %eax\n"  // getrlimit
    "  fl_set 1, %rdi\n"  // RLIMIT_FSIZE
    "  mov %rsp, %rsi\n"
    "  syscall\n"
    "  pop %rcx\n"
    "  pop %rax\n"
    "  movl $-1, " STATE(NEXT_AREA) "\n"
    "  cmp " STATE(SIZE) ", %rcx\n"
    "  jb 0f\n"
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
    // Sixty naps in any case, and as many more as a busy machine may need where the recorder lives.
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
    // Nobody follows, if nobody just began to: the next program must not find what nobody will use.
    "  mov $1, %eax\n"
    "  mov $3, %ecx\n"  // FL_EXECUTION_CLAIMED
    "  lock cmpxchg %ecx, " STATE(EXECUTION) "\n"
    "  jne 2f\n"
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
    // It was not executed: nothing may stay behind, and the next attempt is one of its own. The
    // word is this thread's until here, whatever the recorder has made of it.
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
    "fl_stand_ins_end:\n"
    ".previous\n");
