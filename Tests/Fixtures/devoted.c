// devoted: asks to be killed when its parent ends (PR_SET_PDEATHSIG), prints `ready`, and waits for
// the end of standard input. Prints `over` then, and exits with 3.
#include <signal.h>
#include <sys/prctl.h>

#include "fixture.h"

int main(void) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail("prctl");
    if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 125;
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {}
    puts("over");
    return 3;
}
