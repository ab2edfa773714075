// divided: the first of 1,000 constructors forks; parent and child run the others at the same time,
// and each says for itself how many came out of order, and how many there were.
#include <sys/wait.h>

#include "fixture.h"

#define COUNT 1000

// Entry number N calls step(N).
__asm__(
    ".text\n"
    ".balign 16\n"
    "entries:\n"
    ".set number, 0\n"
    ".rept 1000\n"
    "  mov $number, %edi\n"
    "  jmp step\n"
    "  .balign 16\n"
    "  .set number, number+1\n"
    ".endr\n"
    ".section .init_array,\"aw\"\n"
    ".set number, 0\n"
    ".rept 1000\n"
    "  .quad entries+16*number\n"
    "  .set number, number+1\n"
    ".endr\n"
    ".text\n");

static int expected, wrong;
static pid_t child;

__attribute__((used)) void step(int number) {
    if (number != expected++) wrong++;
    if (number == 0) child = fork();
    // One of the two is always a little behind the other.
    for (volatile int round = 0; round < (child == 0 ? 150 : 0); round++) {}
}

int main(void) {
    if (child < 0) fail("fork");
    if (child > 0 && waitpid(child, NULL, 0) != child) fail("waitpid");
    printf("%s: %d of %d, %d wrong\n", child == 0 ? "child" : "parent", expected, COUNT, wrong);
    return 0;
}
