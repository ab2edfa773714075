// The rest of a call that moves data and that we cut short. The kernel returns the number of bytes
// moved as soon as a signal, or a stop, is pending; without us, the call would have gone on. So the
// thread moves the rest here, and resumes where it was with the sum.

__asm__(
    ".section fl_code,\"ax\",@progbits\n"

    // Between files: makes the same call once more; its registers are set. A struct fl_rest is on
    // the stack. A failure now would have come after some bytes were moved without us, too: their
    // number is the result.
    "fl_make_rest:\n"
    "  syscall\n"
    "fl_rest_made:\n"
    "  test %rax, %rax\n"
    "  js fl_rest_over\n"
    "  add %rax, (%rsp)\n"
    "  jmp fl_rest_over\n"

    // To a pipe or a socket. The kernel would restart the same call after a handler of the
    // program's if it had moved nothing yet; the first call would have returned its number of
    // bytes. So the thread waits here in a call that the kernel never restarts. A thread that does
    // not wait, or only for a while, has all that it would have got.
    "fl_stream_rest:\n"
    "  mov 88(%rsp), %edi\n"
    "  mov $3, %esi\n"  // F_GETFL
    "  mov $72, %eax\n"  // fcntl
    "  syscall\n"
    "  test %eax, %eax\n"
    "  js fl_rest_over\n"
    "  test $0x800, %eax\n"  // O_NONBLOCK
    "  jne fl_rest_over\n"
    "  cmpl $0, 112(%rsp)\n"
    "  je 1f\n"
    "  mov $1, %esi\n"  // SOL_SOCKET
    "  mov $21, %edx\n"  // SO_SNDTIMEO
    "  lea 120(%rsp), %r10\n"
    "  lea 116(%rsp), %r8\n"
    "  movl $16, (%r8)\n"
    "  mov $55, %eax\n"  // getsockopt
    "  syscall\n"
    "  test %eax, %eax\n"
    "  jne fl_rest_over\n"
    "  mov 120(%rsp), %rax\n"
    "  or 128(%rsp), %rax\n"
    "  jne fl_rest_over\n"
    "1:\n"
    "  lea 88(%rsp), %rdi\n"
    "  mov $1, %esi\n"
    "  xor %edx, %edx\n"
    "  xor %r10d, %r10d\n"
    "  mov $8, %r8d\n"
    "  mov $271, %eax\n"  // ppoll
    "  syscall\n"
    "  cmp $1, %eax\n"
    "  jne fl_rest_over\n"
    "  mov 88(%rsp), %edi\n"
    "  mov 96(%rsp), %rsi\n"
    "  mov 104(%rsp), %rdx\n"
    "  movzwl 94(%rsp), %ecx\n"
    "  cmpl $0, 112(%rsp)\n"
    "  je 2f\n"
    // The next call has to report a pending error, and no signal comes with a result.
    "  test $0x38, %ecx\n"  // POLLERR | POLLHUP | POLLNVAL
    "  jne fl_rest_over\n"
    "  mov $0x4040, %r10d\n"  // MSG_DONTWAIT | MSG_NOSIGNAL
    "  xor %r8d, %r8d\n"
    "  xor %r9d, %r9d\n"
    "  mov $44, %eax\n"  // sendto
    "  syscall\n"
    "  cmp $-11, %rax\n"  // EAGAIN
    "  je 1b\n"
    "  jmp 4f\n"
    // A write to a pipe without readers raises SIGPIPE, no matter how much was moved. A write of
    // one page at most does not wait.
    "2:\n"
    "  test $0x8, %ecx\n"  // POLLERR
    "  jne 3f\n"
    "  cmp $4096, %rdx\n"
    "  jbe 3f\n"
    "  mov $4096, %edx\n"
    "3:\n"
    "  mov $1, %eax\n"  // write
    "  syscall\n"
    "4:\n"
    "  test %rax, %rax\n"
    "  js fl_rest_over\n"
    "  add %rax, (%rsp)\n"
    "  add %rax, 96(%rsp)\n"
    "  sub %rax, 104(%rsp)\n"
    "  jne 1b\n"
    // The next part that is not empty.
    "5:\n"
    "  mov 136(%rsp), %ecx\n"
    "  cmp 140(%rsp), %ecx\n"
    "  jae fl_rest_over\n"
    "  incl 136(%rsp)\n"
    "  shl $4, %rcx\n"
    "  add 16(%rsp), %rcx\n"
    "  mov (%rcx), %rax\n"
    "  mov %rax, 96(%rsp)\n"
    "  mov 8(%rcx), %rax\n"
    "  mov %rax, 104(%rsp)\n"
    "  test %rax, %rax\n"
    "  je 5b\n"
    "  jmp 1b\n"

    "fl_rest_over:\n"
    "  mov (%rsp), %rax\n"
    "  mov 8(%rsp), %rdi\n"
    "  mov 16(%rsp), %rsi\n"
    "  mov 24(%rsp), %rdx\n"
    "  mov 32(%rsp), %r10\n"
    "  mov 40(%rsp), %r8\n"
    "  mov 48(%rsp), %r9\n"
    "  mov 56(%rsp), %rcx\n"
    "  push 80(%rsp)\n"
    "  popfq\n"
    "  mov 72(%rsp), %rsp\n"
    "  jmp *%rcx\n"
    "fl_rest_end:\n"
    ".previous\n");

#define CHECK_REST(field, offset) \
    _Static_assert(offsetof(struct fl_rest, field) == offset, "the code above counts on it")
CHECK_REST(rdi, 8);
CHECK_REST(r9, 48);
CHECK_REST(resume, 56);
CHECK_REST(stack_pointer, 72);
CHECK_REST(flags, 80);
CHECK_REST(descriptor, 88);
CHECK_REST(told, 94);
CHECK_REST(start, 96);
CHECK_REST(left, 104);
CHECK_REST(is_socket, 112);
CHECK_REST(length, 116);
CHECK_REST(limit, 120);
CHECK_REST(part, 136);
CHECK_REST(parts, 140);
