#include "CAgent.h"

#if !defined(__x86_64__)
#error "Firstlight captures x86-64 programs only so far."
#endif

// Code that runs around the program's initialisers and in the dynamic linker's own hook, in memory
// that the program shares with the recorder. Nobody waits for the recorder, and nothing here can
// fault where the dynamic linker would not: what may be read-only is written by the kernel.
//
// Assembly, because it is copied to where it runs: no relocations, no stack protector. Everything
// keeps a frame record, for whoever unwinds.
__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    "fl_hooks_begin:\n"

    // The time of a clock in rax; changes rcx, rsi, rdi, r11. 16 bytes at the stack's top are used.
    ".macro fl_hooks_clock clock\n"
    "  mov $228, %eax\n"  // clock_gettime
    "  mov $\\clock, %edi\n"
    "  mov %rsp, %rsi\n"
    "  syscall\n"
    "  imul $1000000000, (%rsp), %rax\n"
    "  add 8(%rsp), %rax\n"
    ".endm\n"
    // Whether this is the observed process (equal), and not a child that it forked; and whether
    // calls of ours are permitted there. Where the slots are, the agent knows, whose words each
    // process has for itself: a child that was forked before they were made does not have them.
    ".macro fl_hooks_is_parent\n"
    "  mov fl_hooks_slots(%rip), %rax\n"
    "  mov (%rax), %rax\n"
    "  test %rax, %rax\n"
    "  cmove fl_hooks_head(%rip), %rax\n"
    "  cmpl $0, 4(%rax)\n"  // filtered
    "  jne 8f\n"
    "  mov $39, %eax\n"  // getpid
    "  syscall\n"
    "  cmp fl_hooks_pid(%rip), %eax\n"
    "8:\n"
    ".endm\n"
    ".macro fl_hooks_enter\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  push %rbx\n"
    "  push %r12\n"
    "  push %r13\n"
    "  push %r14\n"
    "  push %r15\n"
    ".endm\n"
    "fl_hooks_leave:\n"
    "  lea -40(%rbp), %rsp\n"
    "  pop %r15\n"
    "  pop %r14\n"
    "  pop %r13\n"
    "  pop %r12\n"
    "  pop %rbx\n"
    "  pop %rbp\n"
    "  ret\n"

    // What an initialiser's thunk jumps to, with its record's number in eax: notes the thread, its
    // CPU clock and the time around the original, which gets the linker's arguments.
    "fl_hooks_initializer:\n"
    "  fl_hooks_enter\n"
    "  sub $24, %rsp\n"
    "  mov %eax, %ebx\n"
    "  shl $6, %rbx\n"
    "  add fl_hooks_records(%rip), %rbx\n"
    "  mov %edi, %r12d\n"
    "  mov %rsi, %r13\n"
    "  mov %rdx, %r14\n"
    "  fl_hooks_is_parent\n"
    "  jne 2f\n"
    "  mov $186, %eax\n"  // gettid
    "  syscall\n"
    "  mov %eax, 12(%rbx)\n"
    "  fl_hooks_clock 3\n"  // CLOCK_THREAD_CPUTIME_ID
    "  mov %rax, 32(%rbx)\n"
    "  fl_hooks_clock 1\n"  // CLOCK_MONOTONIC
    "  mov %rax, 16(%rbx)\n"
    "  movl $1, 8(%rbx)\n"  // FL_INITIALIZER_RUNNING
    "2:\n"
    "  mov %r12d, %edi\n"
    "  mov %r13, %rsi\n"
    "  mov %r14, %rdx\n"
    "  call *(%rbx)\n"
    "  fl_hooks_is_parent\n"
    "  jne fl_hooks_leave\n"
    "  fl_hooks_clock 1\n"
    "  mov %rax, 24(%rbx)\n"
    "  fl_hooks_clock 3\n"
    "  mov %rax, 40(%rbx)\n"
    "  movl $2, 8(%rbx)\n"  // FL_INITIALIZER_RETURNED; x86-64 keeps the stores in order
    "  jmp fl_hooks_leave\n"

    // What a loaded library's thunk jumps to in place of its initialisers, with twice the library's
    // number in eax, and 1 more for the array: runs each of them as above.
    "fl_hooks_driver:\n"
    "  fl_hooks_enter\n"
    "  sub $24, %rsp\n"
    "  mov %edi, (%rsp)\n"
    "  mov %rsi, 8(%rsp)\n"
    "  mov %rdx, %r14\n"
    "  mov %eax, %ebx\n"
    "  shr $1, %ebx\n"
    "  mov %ebx, %r15d\n"
    "  shl $6, %rbx\n"
    "  add fl_hooks_libraries(%rip), %rbx\n"
    "  lea 8(%rbx), %r12\n"  // init, alone
    "  mov $1, %r13d\n"
    "  test $1, %eax\n"
    "  je 1f\n"
    "  mov 16(%rbx), %r12\n"  // array
    "  mov 24(%rbx), %r13\n"  // count
    "1:\n"
    "  test %r13, %r13\n"
    "  je fl_hooks_leave\n"
    "  mov fl_hooks_counts(%rip), %rcx\n"
    "  mov 8(%rcx), %eax\n"  // records
    "  cmp fl_hooks_most_records(%rip), %eax\n"
    "  jae 2f\n"
    "  incl 8(%rcx)\n"
    "  mov %eax, %ecx\n"
    "  shl $6, %rcx\n"
    "  add fl_hooks_records(%rip), %rcx\n"
    "  mov (%r12), %rdx\n"
    "  mov %rdx, (%rcx)\n"
    "  lea 1(%r15), %edx\n"
    "  mov %rdx, 48(%rcx)\n"  // library
    "  mov (%rsp), %edi\n"
    "  mov 8(%rsp), %rsi\n"
    "  mov %r14, %rdx\n"
    "  call fl_hooks_initializer\n"
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

    // In place of _dl_debug_state, which does nothing. The linker calls it with its lock held.
    "fl_hooks_debug_state:\n"
    "  fl_hooks_enter\n"
    "  sub $72, %rsp\n"
    "  fl_hooks_is_parent\n"
    "  jne fl_hooks_leave\n"
    "  mov fl_hooks_counts(%rip), %r13\n"
    "  mov fl_hooks_debug(%rip), %r14\n"
    "  mov 24(%r14), %eax\n"  // r_debug.r_state
    "  cmp $1, %eax\n"        // RT_ADD
    "  je fl_hooks_adding\n"
    "  test %eax, %eax\n"  // RT_CONSISTENT
    "  jne fl_hooks_leave\n"
    // Counts the list, and notes what came to its end since it was counted last.
    "  xor %r12d, %r12d\n"
    "  mov 8(%r14), %rbx\n"  // r_map
    "1:\n"
    "  test %rbx, %rbx\n"
    "  je 3f\n"
    "  cmpl $0, 12(%r13)\n"  // is_adding
    "  je 2f\n"
    "  cmp 16(%r13), %r12d\n"  // known
    "  jb 2f\n"
    "  call fl_hooks_note_library\n"
    "2:\n"
    "  inc %r12d\n"
    "  mov 24(%rbx), %rbx\n"  // l_next
    "  jmp 1b\n"
    "3:\n"
    "  mov %r12d, 16(%r13)\n"
    "  movl $0, 12(%r13)\n"
    "  jmp fl_hooks_leave\n"

    // Notes the time, and copies the stack of whoever asked.
    "fl_hooks_adding:\n"
    "  mov (%r13), %r12d\n"  // opens
    "  cmp fl_hooks_most_opens(%rip), %r12d\n"
    "  jae fl_hooks_leave\n"
    "  mov %r12, %rbx\n"
    "  shl $7, %rbx\n"
    "  add fl_hooks_opens(%rip), %rbx\n"
    "  fl_hooks_clock 1\n"
    "  mov %rax, (%rbx)\n"
    "  mov $186, %eax\n"  // gettid
    "  syscall\n"
    "  mov %eax, 8(%rbx)\n"
    // The registers as they are at the return, but for those that a call may change.
    "  lea 16(%rbp), %rax\n"
    "  mov %rax, 16(%rbx)\n"  // stack pointer
    "  mov 8(%rbp), %rax\n"
    "  mov %rax, 24(%rbx)\n"  // program counter
    "  mov (%rbp), %rax\n"
    "  mov %rax, 32(%rbx)\n"  // rbp
    "  mov -8(%rbp), %rax\n"
    "  mov %rax, 40(%rbx)\n"  // rbx
    "  mov -16(%rbp), %rax\n"
    "  mov %rax, 48(%rbx)\n"  // r12
    "  mov -24(%rbp), %rax\n"
    "  mov %rax, 56(%rbx)\n"  // r13
    "  mov -32(%rbp), %rax\n"
    "  mov %rax, 64(%rbx)\n"  // r14
    "  mov -40(%rbp), %rax\n"
    "  mov %rax, 72(%rbx)\n"  // r15
    "  mov %r12, %rax\n"
    "  shl $16, %rax\n"
    "  add fl_hooks_stacks(%rip), %rax\n"
    "  mov %rax, 16(%rsp)\n"
    "  movq $65536, 24(%rsp)\n"
    "  lea 16(%rbp), %rax\n"
    "  mov %rax, 32(%rsp)\n"
    "  movq $65536, 40(%rsp)\n"
    "  mov $310, %eax\n"  // process_vm_readv
    "  mov fl_hooks_pid(%rip), %edi\n"
    "  lea 16(%rsp), %rsi\n"
    "  mov $1, %edx\n"
    "  lea 32(%rsp), %r10\n"
    "  mov $1, %r8d\n"
    "  xor %r9d, %r9d\n"
    "  syscall\n"
    "  mov %rax, 80(%rbx)\n"  // copied_size
    "  incl (%r13)\n"
    "  movl $1, 12(%r13)\n"
    "  jmp fl_hooks_leave\n"

    // For the library of the struct link_map at rbx, not relocated yet: leads the linker to a thunk
    // in place of its initialisers. Keeps rbx, r12, r13, rbp.
    "fl_hooks_note_library:\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  push %r12\n"
    "  push %r14\n"
    "  push %r15\n"
    "  sub $72, %rsp\n"
    "  mov 4(%r13), %r12d\n"  // libraries
    "  cmp fl_hooks_most_libraries(%rip), %r12d\n"
    "  jae 9f\n"
    "  mov %r12, %r14\n"
    "  shl $6, %r14\n"
    "  add fl_hooks_libraries(%rip), %r14\n"
    "  mov (%r13), %eax\n"
    "  dec %eax\n"
    "  mov %rax, 32(%r14)\n"  // open
    "  xor %edi, %edi\n"      // where the tags' values are: init
    "  xor %esi, %esi\n"      // init_array
    "  xor %edx, %edx\n"      // init_arraysz
    "  mov 16(%rbx), %rcx\n"  // l_ld
    "1:\n"
    "  mov (%rcx), %rax\n"
    "  test %rax, %rax\n"
    "  je 2f\n"
    "  lea 8(%rcx), %r15\n"
    "  cmp $12, %rax\n"
    "  cmove %r15, %rdi\n"
    "  cmp $25, %rax\n"
    "  cmove %r15, %rsi\n"
    "  cmp $27, %rax\n"
    "  cmove %r15, %rdx\n"
    "  add $16, %rcx\n"
    "  jmp 1b\n"
    "2:\n"
    "  lea (%r12,%r12), %ecx\n"
    "  shl $4, %rcx\n"
    "  add fl_hooks_thunks(%rip), %rcx\n"  // the library's first thunk; 16 bytes each
    "  test %rdi, %rdi\n"
    "  je 3f\n"
    "  mov (%rdi), %rax\n"
    "  add (%rbx), %rax\n"
    "  mov %rax, 8(%r14)\n"  // init
    "  mov %rcx, %rax\n"
    "  sub (%rbx), %rax\n"
    "  mov %rax, (%rsp)\n"
    "  mov %rsp, 16(%rsp)\n"
    "  movq $8, 24(%rsp)\n"
    "  mov %rdi, 32(%rsp)\n"
    "  movq $8, 40(%rsp)\n"
    "  mov $1, %r8d\n"
    "  push %rcx\n"
    "  push %rdx\n"
    "  push %rsi\n"
    "  push %rsi\n"
    "  lea 48(%rsp), %rsi\n"
    "  lea 64(%rsp), %r10\n"
    "  mov $1, %edx\n"
    "  call fl_hooks_write\n"
    "  pop %rsi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %rcx\n"
    "3:\n"
    "  test %rsi, %rsi\n"
    "  je 4f\n"
    "  test %rdx, %rdx\n"
    "  je 4f\n"
    "  mov (%rdx), %rax\n"
    "  shr $3, %rax\n"
    "  je 4f\n"
    "  mov %rax, 24(%r14)\n"  // count
    "  mov (%rsi), %rax\n"
    "  add (%rbx), %rax\n"
    "  mov %rax, 16(%r14)\n"  // array
    "  add $16, %rcx\n"
    "  mov %rcx, 40(%r14)\n"  // the array of one that the linker finds instead
    "  lea 40(%r14), %rax\n"
    "  sub (%rbx), %rax\n"
    "  mov %rax, (%rsp)\n"
    "  movq $8, 8(%rsp)\n"
    "  mov %rsp, 16(%rsp)\n"
    "  movq $16, 24(%rsp)\n"
    "  mov %rsi, 32(%rsp)\n"
    "  movq $8, 40(%rsp)\n"
    "  mov %rdx, 48(%rsp)\n"
    "  movq $8, 56(%rsp)\n"
    "  lea 16(%rsp), %rsi\n"
    "  mov $1, %edx\n"
    "  lea 32(%rsp), %r10\n"
    "  mov $2, %r8d\n"
    "  call fl_hooks_write\n"
    "4:\n"
    "  mov %rbx, (%r14)\n"
    "  incl 4(%r13)\n"
    "9:\n"
    "  lea -24(%rbp), %rsp\n"
    "  pop %r15\n"
    "  pop %r14\n"
    "  pop %r12\n"
    "  pop %rbp\n"
    "  ret\n"

    // process_vm_writev on its own process: fails where a store would fault.
    "fl_hooks_write:\n"
    "  mov $311, %eax\n"
    "  mov fl_hooks_pid(%rip), %edi\n"
    "  xor %r9d, %r9d\n"
    "  syscall\n"
    "  ret\n"

    // What a mark's trampoline calls, with its record's number (16 bits) above the return address:
    // writes one event into the ring, by the rules of firstlight/signpost.h. Changes no register, no
    // flag.
    "fl_hooks_mark:\n"
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
    "  mov fl_hooks_ring(%rip), %r12\n"
    "  test %r12, %r12\n"  // nobody records
    "  je 9f\n"
    "  fl_hooks_is_parent\n"
    "  jne 9f\n"
    "  movzwl 16(%rbp), %ebx\n"
    "  shl $8, %rbx\n"
    "  add fl_hooks_marks(%rip), %rbx\n"
    // What we need ourselves should not count to the interval: ends are early, beginnings late.
    "  xor %r13d, %r13d\n"
    "  cmpb $2, (%rbx)\n"  // FIRSTLIGHT_SIGNPOST_BEGIN
    "  je 1f\n"
    "  fl_hooks_clock 1\n"
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
    "  fl_hooks_clock 1\n"
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

    ".balign 8\n"
    "fl_hooks_records: .quad 0\n"
    "fl_hooks_pid: .quad 0\n"
    "fl_hooks_slots: .quad 0\n"
    "fl_hooks_head: .quad 0\n"
    "fl_hooks_debug: .quad 0\n"
    "fl_hooks_counts: .quad 0\n"
    "fl_hooks_opens: .quad 0\n"
    "fl_hooks_libraries: .quad 0\n"
    "fl_hooks_thunks: .quad 0\n"
    "fl_hooks_stacks: .quad 0\n"
    "fl_hooks_most_records: .quad 0\n"
    "fl_hooks_most_opens: .quad 0\n"
    "fl_hooks_most_libraries: .quad 0\n"
    "fl_hooks_ring: .quad 0\n"
    "fl_hooks_marks: .quad 0\n"
    "fl_hooks_end:\n"
    ".previous\n");

_Static_assert(offsetof(struct fl_shared, filtered) == 4, "the code above counts on it");
_Static_assert(sizeof(struct fl_initializer) == 64, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, state) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, tid) == 12, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, start_ns) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, end_ns) == 24, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, start_cpu_ns) == 32, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, end_cpu_ns) == 40, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, library) == 48, "the code above counts on it");
_Static_assert(sizeof(struct fl_library) == 64, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, initializer) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, array) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, count) == 24, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, open) == 32, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, only) == 40, "the code above counts on it");
_Static_assert(sizeof(struct fl_open) == 128, "the code above counts on it");
_Static_assert(offsetof(struct fl_open, tid) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_open, registers) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_open, copied_size) == 80, "the code above counts on it");
_Static_assert(offsetof(struct fl_loads, libraries) == 4, "the code above counts on it");
_Static_assert(offsetof(struct fl_loads, records) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_loads, is_adding) == 12, "the code above counts on it");
_Static_assert(offsetof(struct fl_loads, known) == 16, "the code above counts on it");
_Static_assert(FL_OPEN_STACK == 1 << 16, "the code above counts on it");
_Static_assert(sizeof(struct fl_mark) == 256, "the code above counts on it");
_Static_assert(offsetof(struct fl_mark, words) == 4, "the code above counts on it");
_Static_assert(offsetof(struct fl_mark, text) == 8, "the code above counts on it");

extern const uint8_t fl_hooks_begin[], fl_hooks_end[], fl_hooks_initializer[], fl_hooks_driver[],
    fl_hooks_debug_state[], fl_hooks_mark[], fl_hooks_records[];

static uint32_t offset(const uint8_t *symbol) { return (uint32_t)(symbol - fl_hooks_begin); }

struct fl_hooks fl_hooks_describe(void) {
    return (struct fl_hooks){
        .code = fl_hooks_begin,
        .length = offset(fl_hooks_end),
        .initializer = offset(fl_hooks_initializer),
        .driver = offset(fl_hooks_driver),
        .debug_state = offset(fl_hooks_debug_state),
        .mark = offset(fl_hooks_mark),
        .words = offset(fl_hooks_records),
    };
}
