// guarded PROGRAM [argument …]: executes a program that may make no memory executable (PR_SET_MDWE, as
// systemd's MemoryDenyWriteExecute= does it). Status 77: the kernel cannot do that (before Linux 6.3).
#include <sys/prctl.h>

#include "fixture.h"

enum { set_mdwe = 65, refuse_exec_gain = 1 };

int main(int count, char **words) {
    if (prctl(set_mdwe, refuse_exec_gain, 0, 0, 0) != 0) return 77;
    if (count > 1) execvp(words[1], words + 1);
    perror("guarded");
    return 125;
}
