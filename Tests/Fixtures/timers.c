// timers MODE: signals that come of themselves, while the program computes.
//   profile    SIGPROF every 10 ms of CPU time, as a sampling profiler has it
//   posix      SIGUSR1 every 5 ms, by a POSIX timer; those that it counts as overrun, too
//   thread     a POSIX timer whose expiries the C library turns into threads
//   children   SIGCHLD for ten children that compute, all collected in the handler
// Exits with 0 if as many came as should have; how many exactly is up to the machine, and is not
// printed.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "fixture.h"

#define CHILDREN 10

static atomic_llong received;

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

static void install(int number, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (sigaction(number, &action, NULL) != 0) fail("sigaction");
}

/// 0 if `count` periods are about `time`: from a half to one and a half times.
static int judge(const char *name, int64_t count, int64_t period, int64_t time) {
    int is_near = count * period * 2 >= time && count * period * 2 <= 3 * time;
    printf("%s: %s\n", name, is_near ? "as many as there should be" : "wrong");
    if (!is_near)
        fprintf(stderr, "%lld of %lld\n", (long long)count, (long long)(time / period));
    return is_near ? 0 : 1;
}

static void count_signal(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    atomic_fetch_add(&received, 1 + (info->si_code == SI_TIMER ? info->si_overrun : 0));
}

static int run_profile(void) {
    install(SIGPROF, count_signal);
    struct itimerval timer = {{0, 10000}, {0, 10000}};
    int64_t start = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    if (setitimer(ITIMER_PROF, &timer, NULL) != 0) fail("setitimer");
    uint64_t checksum = compute(1, 400);
    int64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_PROF, &timer, NULL);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return judge("SIGPROF", atomic_load(&received), 10000000, cpu);
}

static void count_expiry(union sigval unused) {
    (void)unused;
    atomic_fetch_add(&received, 1);
}

static int run_timer(const char *name, struct sigevent *event) {
    timer_t timer;
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    if (timer_create(CLOCK_MONOTONIC, event, &timer) != 0) fail("timer_create");
    struct itimerspec period = {{0, 5000000}, {0, 5000000}};
    if (timer_settime(timer, 0, &period, NULL) != 0) fail("timer_settime");
    uint64_t checksum = compute(1, 300);
    int64_t count = atomic_load(&received);
    int64_t wall = nanoseconds(CLOCK_MONOTONIC) - start;
    timer_delete(timer);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return judge(name, count, 5000000, wall);
}

static int run_posix(void) {
    install(SIGUSR1, count_signal);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    return run_timer("SIGUSR1", &event);
}

static int run_thread(void) {
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = count_expiry};
    return run_timer("threads", &event);
}

static atomic_int statuses;

static void collect(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    (void)context;
    int before = errno, status;
    while (waitpid(-1, &status, WNOHANG) > 0) {
        atomic_fetch_add(&statuses, WIFEXITED(status) ? WEXITSTATUS(status) : 1000);
        atomic_fetch_add(&received, 1);
    }
    errno = before;
}

static int run_children(void) {
    install(SIGCHLD, collect);
    uint64_t checksum = 1;
    for (int number = 0; number < CHILDREN; number++) {
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child == 0) _exit(compute(1, 5) == 0 ? 100 : number);
        checksum = compute(checksum, 20);
    }
    sigset_t chld, before;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, &before);
    while (atomic_load(&received) < CHILDREN) sigsuspend(&before);
    printf("children %lld statuses %d checksum %016llx\n", atomic_load(&received),
           atomic_load(&statuses), (unsigned long long)checksum);
    return atomic_load(&statuses) == CHILDREN * (CHILDREN - 1) / 2 ? 0 : 1;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "profile") == 0) return run_profile();
    if (strcmp(mode, "posix") == 0) return run_posix();
    if (strcmp(mode, "thread") == 0) return run_thread();
    if (strcmp(mode, "children") == 0) return run_children();
    fprintf(stderr, "usage: timers profile | posix | thread | children\n");
    return 125;
}
