// locked [wait | number]: how much of its memory is locked once it has locked all that there is and
// will be. `number`: by syscall(2).
// `wait`: does so at once, then prints `ready`, and tells for each byte on standard input how much it
// is now; works meanwhile.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "fixture.h"

static void tell(void) {
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status))
        if (strncmp(line, "VmLck:", 6) == 0) fputs(line, stdout);
    if (status != NULL) fclose(status);
    fflush(stdout);
}

static void *work(void *unused) {
    for (volatile unsigned long turns = 0;; turns++) {}
    return unused;
}

static int lock(int by_number) {
    const int everything = MCL_CURRENT | MCL_FUTURE;
    return by_number ? (int)syscall(SYS_mlockall, everything) : mlockall(everything);
}

int main(int count, char **arguments) {
    const int by_number = count > 1 && strcmp(arguments[1], "number") == 0;
    static char own[1 << 20];
    memset(own, 1, sizeof own);
    pthread_t worker;
    if (count > 1 && !by_number && pthread_create(&worker, NULL, work, NULL) != 0) return 1;
    if (lock(by_number) != 0) {
        perror("mlockall");
        return 1;
    }
    tell();
    if (count == 1 || by_number) return 0;
    puts("ready");
    fflush(stdout);
    for (char byte; read(0, &byte, 1) == 1;) tell();
    return 0;
}
