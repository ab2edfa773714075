// The pieces of code that are placed alone for a while, where the program has no code, followed by
// their words.

__asm__(
    ".section .rodata\n"
    ".balign 16\n"

    // Brings the area in: maps the memory whose descriptor the process inherited, or makes it.
    "fl_boot:\n"
    "  fl_save\n"
    "  mov fl_boot_words(%rip), %r8\n"
    "  test %r8d, %r8d\n"
    "  jns 1f\n"
    "  mov $319, %eax\n"  // memfd_create
    "  lea fl_boot_name(%rip), %rdi\n"
    "  fl_set 3, %rsi\n"  // MFD_CLOEXEC | MFD_ALLOW_SEALING
    "  syscall\n"
    "  mov %eax, %r8d\n"
    "  test %eax, %eax\n"
    "  js 9f\n"
    "  fl_set 77, %rax\n"  // ftruncate
    "  mov %r8d, %edi\n"
    "  mov fl_boot_words+16(%rip), %rsi\n"
    "  syscall\n"
    "  test %eax, %eax\n"
    "  jne 8f\n"
    "1:\n"
    "  fl_set 9, %rax\n"  // mmap
    "  mov fl_boot_words+8(%rip), %rdi\n"
    "  mov fl_boot_words+16(%rip), %rsi\n"
    // The program may have locked all that it maps (mlockall): the kernel then provides memory for
    // everything that is accessible.
    "  xor %edx, %edx\n"  // PROT_NONE
    "  mov $0x100001, %r10d\n"  // MAP_SHARED | MAP_FIXED_NOREPLACE: before Linux 4.17 only a hint
    "  xor %r9d, %r9d\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  js 6f\n"
    "  mov %rax, %r9\n"
    "  mov %rax, %rdi\n"
    "  mov $150, %eax\n"  // munlock
    "  syscall\n"
    "  fl_set 10, %rax\n"  // mprotect
    "  fl_set 3, %rdx\n"  // PROT_READ | PROT_WRITE
    "  syscall\n"
    "  test %eax, %eax\n"
    "  jne 7f\n"
    "  cmpl $0, fl_boot_words(%rip)\n"
    "  jge 2f\n"
    "  lea fl_boot_arrive(%rip), %rsi\n"
    "  mov %r9, %rdi\n"
    "  mov $(fl_boot_arrive_end - fl_boot_arrive), %ecx\n"
    "  cld\n"
    "  rep movsb\n"
    // Until the area is filled in, nothing else tells which recorder will fill it in.
    "  mov fl_boot_words+28(%rip), %eax\n"
    "  mov %eax, " NUMBER(FL_STATE) "+" NUMBER(RECORDER) "(%r9)\n"
    "2:\n"
    "  fl_set 10, %rax\n"  // mprotect
    "  mov %r9, %rdi\n"
    "  mov $" NUMBER(FL_STATE) ", %esi\n"
    "  fl_set 5, %rdx\n"  // PROT_READ | PROT_EXEC
    "  syscall\n"
    "  test %eax, %eax\n"
    "  jne 7f\n"
    "  jmp *%r9\n"
    "7:\n"
    "  fl_set 11, %rax\n"  // munmap
    "  mov %r9, %rdi\n"
    "  mov fl_boot_words+16(%rip), %rsi\n"
    "  syscall\n"
    // The recorder sees the failure in the memory. If no area is wanted (size 0), it does not look.
    "6:\n"
    "  cmpl $0, fl_boot_words+16(%rip)\n"
    "  je 8f\n"
    "  fl_set 18, %rax\n"  // pwrite64
    "  mov %r8d, %edi\n"
    "  push $2\n"  // FL_PHASE_ABANDONED
    "  mov %rsp, %rsi\n"
    "  fl_set 4, %rdx\n"
    "  mov $" NUMBER(FL_STATE) "+" NUMBER(PHASE) ", %r10d\n"
    "  syscall\n"
    "  pop %rax\n"
    "8:\n"
    "  fl_close %r8d\n"
    "9:\n"
    "  cmpl $0, fl_boot_words+24(%rip)\n"
    "  je 0f\n"
    // This code still replaces the one where the thread should resume: the recorder checks and
    // restores it.
    "  mov $2000, %r10d\n"
    "5:\n"
    "  fl_nap\n"
    "  dec %r10d\n"
    "  jnz 5b\n"
    "  int3\n"
    "0:\n"
    "  fl_resume\n"
    "fl_boot_arrive:\n"
    "  fl_arrival\n"
    "fl_boot_arrive_end:\n"
    "fl_boot_name: .asciz \"firstlight\"\n"
    ".balign 8\n"
    "fl_boot_words: .quad -1, 0, 0, 0\n"
    "fl_boot_end:\n"

    // Removes our handler for the sampling signal and the area. Then the recorder restores the
    // thread's state, including the system call that it was in. A nap would overwrite the kernel's
    // restart data for that call; the wait used here does not.
    ".balign 16\n"
    "fl_away:\n"
    "  fl_save\n"
    "  mov fl_away_words(%rip), %rdi\n"
    "  test %rdi, %rdi\n"
    "  je 1f\n"
    // The program may have set an action of its own, unnoticed by us.
    "  sub $32, %rsp\n"
    "  fl_set 13, %rax\n"  // rt_sigaction
    "  xor %esi, %esi\n"
    "  mov %rsp, %rdx\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "  mov (%rsp), %r8\n"
    "  add $32, %rsp\n"
    "  test %eax, %eax\n"
    "  jne 1f\n"
    "  cmp fl_away_words+64(%rip), %r8\n"
    "  jne 1f\n"
    "  fl_set 13, %rax\n"
    "  lea fl_away_words+8(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "1:\n"
    "  mov fl_away_words+48(%rip), %rsi\n"
    "  test %rsi, %rsi\n"
    "  je 2f\n"
    "  fl_set 11, %rax\n"  // munmap
    "  mov fl_away_words+40(%rip), %rdi\n"
    "  syscall\n"
    "2:\n"
    "fl_away_waiting:\n"
    "  mov fl_away_words+56(%rip), %r8\n"
    "3:\n"
    "  dec %r8d\n"
    "  js fl_away_waiting_end\n"
    "  push $30000\n"
    "  push $0\n"
    "  mov %rsp, %rdx\n"
    "  mov %rsp, %rdi\n"  // no signals: its first word is 0
    "  mov $128, %eax\n"  // rt_sigtimedwait
    "  xor %esi, %esi\n"
    "  fl_set 8, %r10\n"
    "  syscall\n"
    "  pop %rax\n"
    "  pop %rax\n"
    "  jmp 3b\n"
    "fl_away_waiting_end:\n"
    "  fl_resume\n"
    ".balign 8\n"
    "fl_away_words: .quad 0, 0, 0, 0, 0, 0, 0, 0, 0\n"
    "fl_away_end:\n"
    ".previous\n");

_Static_assert(sizeof(struct fl_boot_words) == 32, "the code above counts on it");
_Static_assert(offsetof(struct fl_boot_words, is_at_entry) == 24, "the code above counts on it");
_Static_assert(offsetof(struct fl_boot_words, recorder) == 28, "the code above counts on it");
_Static_assert(sizeof(struct fl_away_words) == 72, "the code above counts on it");
_Static_assert(offsetof(struct fl_away_words, address) == 40, "the code above counts on it");
_Static_assert(offsetof(struct fl_away_words, handler) == 64, "the code above counts on it");
