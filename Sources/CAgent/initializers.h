// Initialisers, timed one by one.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

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
    // A child that an initialiser has forked runs the rest of them beside its parent: it takes none
    // of its records.
    "  fl_is_own_memory\n"
    "  jne 2f\n"
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
    ".previous\n");
