// arrays: initialisers of every kind that a program can have of its own, to be linked in every way: one
// of preinit_array (which musl does not run), two with priorities, two without. Prints the order in which
// they ran. With ARRAYS_MODE=exit in the environment the third ends the program (status 3); with
// ARRAYS_MODE=fork it forks a child that goes on through the rest beside its parent.
// Truth: NAME_wall and NAME_cpu of early (~15 ms), first (~25 ms), second (~10 ms asleep), third
// (~20 ms) and last (~30 ms), and main_wall (~20 ms).
#include <sys/wait.h>

#include "fixture.h"

enum { early, first, second, third, last, count };
static const char *const names[] = {"early", "first", "second", "third", "last"};
static int64_t walls[count], cpus[count];
static char order[32];
static uint64_t checksum = 1;
static pid_t child = -1;

FUNCTION void compute(uint64_t milliseconds) { BURN(checksum, milliseconds * ROUNDS_PER_MS); }

FUNCTION void doze(uint64_t milliseconds) {
    struct timespec left = {0, (long)milliseconds * 1000000};
    while (nanosleep(&left, &left) != 0) {
        if (errno != EINTR) exit(1);
    }
}

static void measure(int which, void (*work)(uint64_t), uint64_t amount) {
    int64_t wall = nanoseconds(CLOCK_MONOTONIC), cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    work(amount);
    cpus[which] = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    walls[which] = nanoseconds(CLOCK_MONOTONIC) - wall;
    strcat(order, names[which]);
    strcat(order, " ");
}

static void run_early(int argc, char **argv, char **environment) {
    if (argc < 1 || argv[argc] != NULL || environment != argv + argc + 1) exit(1);
    measure(early, compute, 15);
}
__attribute__((section(".preinit_array"), used)) static void (*const table[])(int, char **, char **) = {
    run_early};

__attribute__((constructor(101))) static void run_first(void) { measure(first, compute, 25); }
__attribute__((constructor(102))) static void run_second(void) { measure(second, doze, 10); }
__attribute__((constructor)) static void run_third(void) {
    const char *mode = getenv("ARRAYS_MODE");
    measure(third, compute, 20);
    if (mode != NULL && strcmp(mode, "exit") == 0) exit(3);
    if (mode != NULL && strcmp(mode, "fork") == 0) child = fork();
}
__attribute__((constructor)) static void run_last(void) { measure(last, compute, 30); }

int main(void) {
    int64_t wall = nanoseconds(CLOCK_MONOTONIC);
    compute(20);
    truth_set("main_wall", nanoseconds(CLOCK_MONOTONIC) - wall);
    if (child == 0) _exit(strstr(order, "third last ") == NULL);
    int status = 0;
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) return 1;
    for (int which = 0; which < count; which++) {
        char name[32];
        snprintf(name, sizeof name, "%s_wall", names[which]);
        truth_set(name, walls[which]);
        snprintf(name, sizeof name, "%s_cpu", names[which]);
        truth_set(name, cpus[which]);
    }
    puts(order);
    truth_write();
    return 0;
}
