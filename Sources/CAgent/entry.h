// How a thread enters the area, and returns to where the recorder stopped it. This is the first of
// the area's code.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

    // Shorter than a mov, where the stack may be used.
    ".macro fl_set value, register\n"
    "  push $\\value\n"
    "  pop \\register\n"
    ".endm\n"

    // These pieces run in place of the instruction at which the recorder stopped a thread. Then the
    // thread resumes at that instruction, with every register, the red zone and the signal mask
    // unchanged. The recorder leaves the mask and the address below the red zone (struct
    // fl_diversion). Then it only has to change stack pointer and program counter, which is one
    // atomic step: whenever the recorder dies, the program goes on correctly. Mask and address are
    // on the stack and nowhere else, because the recorder may redirect a thread again before it has
    // begun.
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
    ".macro fl_restore\n"
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
    ".endm\n"
    ".macro fl_resume\n"
    "  fl_set 14, %rax\n"  // rt_sigprocmask
    "  fl_set 2, %rdi\n"   // SIG_SETMASK
    "  lea 80(%rsp), %rsi\n"
    "  xor %edx, %edx\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "  fl_restore\n"
    "  lea 8(%rsp), %rsp\n"  // past the mask; changes no flag
    "  ret $128\n"
    ".endm\n"

    // The time of a clock in rax; changes rcx, rsi, rdi, r11. Uses 16 bytes at the stack's top.
    ".macro fl_time clock\n"
    "  mov $228, %eax\n"  // clock_gettime
    "  mov $\\clock, %edi\n"
    "  mov %rsp, %rsi\n"
    "  syscall\n"
    "  imul $1000000000, (%rsp), %rax\n"
    "  add 8(%rsp), %rax\n"
    ".endm\n"

    // Naps for about 0.03 ms; changes rax, rcx, rsi, rdi and r11. A thread that waits for the
    // recorder takes a bounded number of these naps: the recorder may have been killed.
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

    // The beginning of the area, where the bootstrap continues: the memory's descriptor in r8, the
    // area's address in r9. A thread that has made the memory itself has this part already, and
    // waits for the rest.
    ".macro fl_arrival\n"
    "  mov $" NUMBER(NAPS) ", %r10d\n"
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
    "  mov %rbp, %r10\n"  // the stack may have any alignment
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
    ".previous\n");
