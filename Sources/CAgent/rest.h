// The rest of a call that moves data and was cut short by us. The kernel returns what it has moved as
// soon as a signal, or a stop, is pending; alone, the call would have gone on. So the thread makes it once
// more for the rest, here, and comes back to where it was with the sum. All that can happen to a call can
// happen to this one: it waits, it is interrupted, it fails.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

    // The call's registers are set, and a struct fl_rest is on the stack. What fails now would have failed
    // behind what was moved, which is then the result.
    "fl_make_rest:\n"
    "  syscall\n"
    "fl_rest_made:\n"
    "  test %rax, %rax\n"
    "  js 1f\n"
    "  add (%rsp), %rax\n"
    "  jmp 2f\n"
    "1:\n"
    "  mov (%rsp), %rax\n"
    "2:\n"
    "  mov 8(%rsp), %rsi\n"
    "  mov 16(%rsp), %rdx\n"
    "  mov 24(%rsp), %r10\n"
    "  mov 32(%rsp), %r8\n"
    "  mov 40(%rsp), %rcx\n"
    "  mov 56(%rsp), %rsp\n"
    "  jmp *%rcx\n"
    "fl_rest_end:\n"
    ".previous\n");

_Static_assert(offsetof(struct fl_rest, resume) == 40, "the code above counts on it");
_Static_assert(offsetof(struct fl_rest, stack_pointer) == 56, "the code above counts on it");
