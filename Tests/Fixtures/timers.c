// timers MODE: signals that timers or other processes send, while the program computes.
//   profile    SIGPROF every 10 ms of CPU time, as a sampling profiler has it
//   posix      SIGUSR1 every 5 ms, by a POSIX timer; those that it counts as overrun, too
//   thread     a POSIX timer whose expiries the C library turns into threads
//   children   SIGCHLD for ten children that compute, all collected in the handler
//   storm      eight signals, each every 4 ms, whose handlers compute for a tenth of that
//   once       waits for one SIGALRM after the other, each asked for only then
//   filled     the same after work, with all other signals blocked meanwhile
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

/// 0 if `count` periods are about `time`: from a half to one and a half times, or no more
/// than twice if they are `rough`.
static int judge(const char *name, int64_t count, int64_t period, int64_t time, int rough) {
    int64_t sum = count * period;
    int is_near = rough ? count > 0 && sum <= 2 * time : sum * 2 >= time && sum * 2 <= 3 * time;
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
    // Its clock counts whole ticks: a thread that wakes up a thousand times a second changes which
    // threads the ticks meet, on a machine where many compute.
    return judge("SIGPROF", atomic_load(&received), 10000000, cpu, 1);
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
    return judge(name, count, 5000000, wall, 0);
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

#define STORMS 8

static atomic_int rounds;
static int rounds_at_burn[STORMS];

static void burn_a_little(int number, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    int before = errno;
    uint64_t state = 1;
    // On a machine that others keep busy the handlers alone would take all there is.
    int now = atomic_load(&rounds), *last = &rounds_at_burn[number - SIGRTMIN];
    if (now - *last >= 20) {
        *last = now;
        BURN(state, ROUNDS_PER_MS * 2 / 5);
    }
    // Fails: there are no children.
    if (state == 0 || waitpid(-1, NULL, 0) != -1) _exit(124);
    errno = before;
    atomic_fetch_add(&received, 1);
}

/// A result that a handler, or anything else that comes between, must not change.
FUNCTION void pass_on(int pipe[2], uint64_t value) {
    uint64_t received_value = 0;
    if (write(pipe[1], &value, sizeof value) != sizeof value) fail("write");
    if (read(pipe[0], &received_value, sizeof value) != sizeof value) fail("read");
    if (received_value != value) fail("another value");
}

static void start_storm(int index) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + index};
    struct itimerspec period = {{0, 4000000}, {0, 4000000 + index * 500000}};
    install(SIGRTMIN + index, burn_a_little);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) fail("timer_create");
    if (timer_settime(timer, 0, &period, NULL) != 0) fail("timer_settime");
}

static int run_storm(void) {
    int ends[2];
    if (pipe(ends) != 0) fail("pipe");
    for (int index = 0; index < STORMS; index++) start_storm(index);
    uint64_t checksum = 1;
    while (atomic_fetch_add(&rounds, 1) < 1000) {
        BURN(checksum, ROUNDS_PER_MS / 100);
        pass_on(ends, checksum);
    }
    printf("storm: %s checksum %016llx\n", atomic_load(&received) > 0 ? "weathered" : "none",
           (unsigned long long)checksum);
    return 0;
}

/// If one of them is swallowed, it waits for ever.
static int run_once(void) {
    sigset_t alarm, before;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, &before);
    install(SIGALRM, count_signal);
    struct itimerval timer = {{0, 0}, {0, 200}};
    for (int round = 0; round < 600; round++) {
        if (setitimer(ITIMER_REAL, &timer, NULL) != 0) fail("setitimer");
        sigsuspend(&before);
    }
    printf("alarms %lld\n", atomic_load(&received));
    return 0;
}

/// Another signal (a recorder's) that came before waits until SIGALRM's handler returns; its
/// handler must not assume that it ended the call.
static int run_filled(uint64_t rounds) {
    sigset_t alarm, others;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    sigfillset(&others);
    sigdelset(&others, SIGALRM);
    install(SIGALRM, count_signal);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec soon = {{0, 0}, {0, 200000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) fail("timer_create");
    uint64_t checksum = 1;
    for (uint64_t round = 0; round < rounds; round++) {
        checksum = compute(checksum, 60);
        if (timer_settime(timer, 0, &soon, NULL) != 0) fail("timer_settime");
        sigsuspend(&others);
    }
    printf("alarms %lld checksum %016llx\n", atomic_load(&received),
           (unsigned long long)checksum);
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "profile") == 0) return run_profile();
    if (strcmp(mode, "posix") == 0) return run_posix();
    if (strcmp(mode, "thread") == 0) return run_thread();
    if (strcmp(mode, "children") == 0) return run_children();
    if (strcmp(mode, "storm") == 0) return run_storm();
    if (strcmp(mode, "once") == 0) return run_once();
    if (strcmp(mode, "filled") == 0) return run_filled(count_argument(argc, argv, 2, 300));
    fprintf(stderr, "usage: timers profile | posix | thread | children | storm | once | filled\n");
    return 125;
}
