// family: starts programs in every way, one after the other and at once, each of which computes and
// sleeps for a known time: by fork (twice at once, too), posix_spawn, vfork, and a daemon (forked
// twice, in a session of its own), for the byte of which it waits at the end.
// Each adds to the file that FIRSTLIGHT_TRUTH names: its process's id, its CPU time and, from before
// it was started, its wall time.
#include <spawn.h>
#include <sys/wait.h>

#include "fixture.h"

extern char **environ;
static int64_t started;

static void tell(const char *role) {
    const char *target = getenv("FIRSTLIGHT_TRUTH");
    if (target == NULL) return;
    char lines[256];
    int length = snprintf(
        lines, sizeof lines, "%s_pid %d\n%s_cpu %lld\n%s_wall %lld\n", role, (int)getpid(), role,
        (long long)nanoseconds(CLOCK_PROCESS_CPUTIME_ID), role,
        (long long)(nanoseconds(CLOCK_MONOTONIC) - started));
    int file = open(target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, lines, (size_t)length) != length) fail(target);
    close(file);
}

FUNCTION uint64_t compute(uint64_t milliseconds) {
    uint64_t state = 88172645463325252ULL;
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

static void pause_for(int64_t milliseconds) {
    struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

/// What every one of them does.
static void live(const char *role, uint64_t computing, int64_t sleeping) {
    if (compute(computing) == 0) exit(1);
    pause_for(sleeping);
    tell(role);
}

static void end(int failed) {
    if (failed) fail("starting a process");
}

static pid_t fork_one(const char *role, uint64_t computing, int64_t sleeping) {
    started = nanoseconds(CLOCK_MONOTONIC);
    pid_t child = fork();
    end(child < 0);
    if (child == 0) {
        live(role, computing, sleeping);
        _exit(0);
    }
    return child;
}

static void await(pid_t child) {
    int status;
    end(waitpid(child, &status, 0) != child || status != 0);
}

static char **words(const char *role, const char *computing, const char *sleeping) {
    static char time[32];
    static const char *list[6];
    snprintf(time, sizeof time, "%lld", (long long)nanoseconds(CLOCK_MONOTONIC));
    list[0] = "family";
    list[1] = role;
    list[2] = computing;
    list[3] = sleeping;
    list[4] = time;
    return (char **)list;
}

int main(int argc, char **argv) {
    if (argc == 5) {
        started = atoll(argv[4]);
        live(argv[1], count_argument(argc, argv, 2, 0), atoll(argv[3]));
        return 0;
    }
    await(fork_one("forked", 40, 20));
    pid_t first = fork_one("first", 30, 60), second = fork_one("second", 40, 0);
    await(first);
    await(second);
    pid_t child;
    char **list = words("spawned", "40", "20");
    end(posix_spawn(&child, argv[0], NULL, NULL, list, environ) != 0);
    await(child);
    list = words("executed", "30", "30");
    child = vfork();
    end(child < 0);
    if (child == 0) {
        execv(argv[0], list);
        _exit(127);
    }
    await(child);
    int ends[2];
    end(pipe(ends) != 0);
    started = nanoseconds(CLOCK_MONOTONIC);
    child = fork();
    end(child < 0);
    if (child == 0) {
        child = fork();
        end(child < 0);
        if (child != 0) _exit(0);
        setsid();
        live("daemon", 40, 10);
        _exit(write(ends[1], "x", 1) != 1);
    }
    await(child);
    char byte;
    end(read(ends[0], &byte, 1) != 1);
    return 0;
}
