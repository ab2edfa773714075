// Marks: what their trampolines call.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

    // A mark's trampoline calls this, with its record's number (16 bits) above the return address:
    // writes one event into the ring, by the rules of firstlight/signpost.h. Changes no register
    // and no flag.
    "fl_mark:\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  fl_save\n"
    "  push %rbx\n"
    "  push %r12\n"
    "  push %r13\n"
    "  push %r14\n"
    "  sub $16, %rsp\n"
    "  cld\n"
    "  cmpq $0, " STATE(RING) "\n"  // recording is off
    "  je 9f\n"
    "  lea " AREA(FL_RING) ", %r12\n"
    "  fl_is_parent\n"
    "  jne 9f\n"
    "  movzwl 16(%rbp), %eax\n"
    "  shl $8, %rax\n"
    "  lea " AREA(FL_MARKS) ", %rbx\n"
    "  add %rax, %rbx\n"
    // Our own time should not count towards the interval: ends take the time early, beginnings
    // late.
    "  xor %r13d, %r13d\n"
    "  cmpb $2, (%rbx)\n"  // FIRSTLIGHT_SIGNPOST_BEGIN
    "  je 1f\n"
    "  fl_time 1\n"
    "  mov %rax, %r13\n"
    "1:\n"
    // Takes a slot: its address is in rsi then, the turn that it must have in r10.
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
    "  fl_restore\n"
    "  pop %rbp\n"
    "  ret\n"
    ".previous\n");
