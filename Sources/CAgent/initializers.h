// Initialisers, timed one by one.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

    // With a record's number in eax: notes the thread, its CPU clock and the time around the
    // original, which gets its caller's arguments.
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

    // A library's thunk jumps here in place of an initialiser, with twice the library's number in
    // eax, plus 1 for a word of the array. Notes that the previous initialiser is over and that
    // this one begins, and jumps to it. The initialiser finds the stack as without us: its caller
    // is the linker, for exceptions and for all other unwinders. An array's last word is followed
    // by one more of ours, which returns.
    "fl_driver:\n"
    "  fl_enter\n"
    "  sub $40, %rsp\n"
    "  mov %rdi, 16(%rsp)\n"
    "  mov %rsi, 24(%rsp)\n"
    "  mov %rdx, 32(%rsp)\n"
    "  mov %eax, %r15d\n"
    "  shr $1, %r15d\n"
    "  imul $192, %r15, %rcx\n"
    "  lea " AREA(FL_LIBRARIES) ", %rbx\n"
    "  add %rcx, %rbx\n"
    "  mov 8(%rbx), %r12\n"  // init
    "  test $1, %eax\n"
    "  je 2f\n"
    // A child that an initialiser has forked runs the remaining ones beside its parent.
    "  lea " AREA(FL_CURSORS) ", %rcx\n"
    "  mov (%rcx,%r15,4), %eax\n"
    "  incl (%rcx,%r15,4)\n"
    "  xor %r12d, %r12d\n"
    "  cmp 24(%rbx), %rax\n"  // count
    "  jae 2f\n"
    "  mov 16(%rbx), %rdx\n"  // array
    "  mov (%rdx,%rax,8), %r12\n"
    "2:\n"
    // A forked child takes none of its parent's records.
    "  fl_is_parent\n"
    "  jne 4f\n"
    "  fl_time 1\n"  // CLOCK_MONOTONIC
    "  mov %rax, %r14\n"
    "  fl_time 3\n"  // CLOCK_THREAD_CPUTIME_ID
    "  mov %rax, %r13\n"
    "  mov 152(%rbx), %rdx\n"  // runs
    "  mov (%rdx), %rcx\n"
    "  test %rcx, %rcx\n"
    "  je 3f\n"
    "  dec %rcx\n"
    "  shl $6, %rcx\n"
    "  lea " AREA(FL_RECORDS) ", %rax\n"
    "  add %rax, %rcx\n"
    "  mov %r14, 24(%rcx)\n"
    "  mov %r13, 40(%rcx)\n"
    "  movl $2, 8(%rcx)\n"  // FL_INITIALIZER_RETURNED; x86-64 keeps the stores in order
    "  movq $0, (%rdx)\n"
    "3:\n"
    "  test %r12, %r12\n"
    "  je 5f\n"
    "  mov " STATE(RECORDS) ", %eax\n"
    "  cmp $" NUMBER(FL_MOST_RECORDS) ", %eax\n"
    "  jae 4f\n"
    "  incl " STATE(RECORDS) "\n"
    "  lea 1(%rax), %ecx\n"
    "  mov %rcx, (%rdx)\n"
    "  shl $6, %rax\n"
    "  lea " AREA(FL_RECORDS) ", %rbx\n"
    "  add %rax, %rbx\n"
    "  mov %r12, (%rbx)\n"
    "  mov %r15, 48(%rbx)\n"  // library
    "  mov $186, %eax\n"  // gettid
    "  syscall\n"
    "  mov %eax, 12(%rbx)\n"
    "  mov %r13, 32(%rbx)\n"
    "  mov %r14, 16(%rbx)\n"
    "  movl $1, 8(%rbx)\n"  // FL_INITIALIZER_RUNNING
    "4:\n"
    "  test %r12, %r12\n"
    "  je 5f\n"
    "  mov 16(%rsp), %rdi\n"
    "  mov 24(%rsp), %rsi\n"
    "  mov 32(%rsp), %rdx\n"
    "  mov %r12, %rax\n"
    "  fl_exit\n"
    "  jmp *%rax\n"
    "5:\n"
    "  mov %rbx, %rdi\n"
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
    ".previous\n");
