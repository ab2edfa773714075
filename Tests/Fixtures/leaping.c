// leaping FILE PROGRAM: tries to execute FILE, which is no program, again and again, until an alarm's
// handler jumps away: that 200 times. Prints how often that was, and how many more files are open
// then, and becomes PROGRAM.
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "fixture.h"

#define ROUNDS 200

static sigjmp_buf place;

static void leap(int number) { siglongjmp(place, number); }

static int open_files(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) fail("opendir");
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count;
}

static void attempt(char *path) {
    execv(path, (char *[]){path, NULL});
    if (errno != ENOEXEC) fail(path);
}

int main(int argc, char **argv) {
    if (argc != 3) return 125;
    int before = open_files();
    if (signal(SIGALRM, leap) == SIG_ERR) fail("signal");
    volatile int left = 0;
    while (left < ROUNDS) {
        // From the first instructions of an attempt to the midst of one of the next.
        struct itimerval soon = {.it_value.tv_usec = 1 + left * 37 % 1500};
        if (sigsetjmp(place, 1) != 0) {
            left++;
            continue;
        }
        if (setitimer(ITIMER_REAL, &soon, NULL) != 0) fail("setitimer");
        for (;;) attempt(argv[1]);
    }
    attempt(argv[1]);
    printf("left %d open %d\n", left, open_files() - before);
    fflush(stdout);
    execv(argv[2], argv + 2);
    fail(argv[2]);
}
