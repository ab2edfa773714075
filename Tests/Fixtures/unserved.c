// unserved [shared]: computes, on a stack above which memory lies whose page faults are never
// served (userfaultfd), until standard input ends. Reading that memory takes for ever. It is the
// process's own, or shared with others.
// Prints "ready", and "done" at the end.
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "fixture.h"

#define STACK (64 << 10)

static void work(void) {
    uint64_t state = 1;
    puts("ready");
    fflush(stdout);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (poll(&input, 1, 0) == 0) BURN(state, ROUNDS_PER_MS);
    puts("done");
}

int main(int count, char **words) {
    // Faults of the kernel's, too, which takes a privilege.
    const int served = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    if (served < 0 || ioctl(served, UFFDIO_API, &api) != 0) fail("userfaultfd");
    const int kind = count > 1 && strcmp(words[1], "shared") == 0 ? MAP_SHARED : MAP_PRIVATE;
    char *memory = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    memset(memory, 1, STACK);
    struct uffdio_register all = {.range = {(uint64_t)(uintptr_t)memory, 2 * STACK},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(served, UFFDIO_REGISTER, &all) != 0) fail("registering");
    static ucontext_t here, there;
    getcontext(&there);
    there.uc_stack.ss_sp = memory;
    there.uc_stack.ss_size = STACK;
    there.uc_link = &here;
    makecontext(&there, work, 0);
    swapcontext(&here, &there);
    return 0;
}
