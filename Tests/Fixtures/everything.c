// everything [urgent]: threads that constantly do things that a sampler's signals could disturb:
// masks, actions, alternate stacks, timers, waits for signals, jumps out of handlers, forks. Each
// checks its results. `urgent`: SIGURG is among the signals that they use. For attaching to: prints
// `ready`, answers every byte on standard input when each thread has been round once more: `on`, or
// the name of a stuck thread, and how many errors there were. Ends with its input; 1: errors.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"

static atomic_int errors;
static int is_urgent;

#define CHECK(truth)                                                                   \
    do {                                                                               \
        if (!(truth) && atomic_fetch_add(&errors, 1) < 100)                            \
            fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #truth, errno);      \
    } while (0)

static sigset_t set_of(int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    if (first) sigaddset(&set, first);
    if (second) sigaddset(&set, second);
    return set;
}

static void send_to_self(int number) { syscall(SYS_tgkill, getpid(), gettid(), number); }

static void turn_masks(void) {
    sigset_t all, before, now;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    CHECK(sigismember(&before, SIGUSR1) == 0 && sigismember(&before, SIGURG) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    CHECK(sigismember(&now, SIGURG) == 1 && sigismember(&now, SIGPROF) == 1);
    sigset_t pending;
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 0);
    CHECK(sigismember(&pending, SIGURG) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    CHECK(sigismember(&now, SIGURG) == 0 && sigismember(&now, SIGALRM) == 0);
}

// The handlers are called within `syscall`, which a compiler takes for a leaf.
static _Thread_local volatile int handled;
static void count(int number, siginfo_t *information, void *context) {
    (void)context;
    if (information->si_signo == number) handled++;
}

static void turn_actions(void) {
    const int numbers[] = {SIGUSR1, SIGRTMIN + 4, is_urgent ? SIGURG : SIGXFSZ, SIGTRAP};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        const int number = numbers[index];
        struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART};
        struct sigaction seen, before;
        action.sa_mask = set_of(SIGHUP, SIGURG);
        CHECK(sigaction(number, &action, &before) == 0 && before.sa_handler == SIG_DFL);
        CHECK(sigaction(number, NULL, &seen) == 0 && seen.sa_sigaction == count);
        CHECK((seen.sa_flags & ~0x04000000) == action.sa_flags && sigismember(&seen.sa_mask, SIGURG) == 1 &&
              sigismember(&seen.sa_mask, SIGINT) == 0);
        handled = 0;
        send_to_self(number);
        CHECK(handled == 1);
        CHECK(sigaction(number, &before, &seen) == 0 && seen.sa_sigaction == count);
    }
}

static _Thread_local char *stack_low;
static _Thread_local volatile int was_on_stack;
enum { STACK = 65536 };
static void look_at_stack(int number) {
    (void)number;
    char *here = __builtin_frame_address(0);
    was_on_stack = here >= stack_low && here < stack_low + STACK;
}

static void turn_stacks(void) {
    static _Thread_local char memory[STACK];
    stack_low = memory;
    stack_t stack = {.ss_sp = memory, .ss_size = STACK}, seen;
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaltstack(NULL, &seen) == 0);
    CHECK(seen.ss_sp == memory && seen.ss_size == STACK && seen.ss_flags == 0);
    was_on_stack = 0;
    send_to_self(SIGRTMIN + 5);
    CHECK(was_on_stack);
    stack.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaltstack(NULL, &seen) == 0);
    CHECK(seen.ss_flags == SS_DISABLE);
    was_on_stack = 1;
    send_to_self(SIGRTMIN + 5);
    CHECK(!was_on_stack);
}

static void turn_timers(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 6};
    event._sigev_un._tid = gettid();
    sigset_t wanted = set_of(SIGRTMIN + 6, 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &wanted, NULL) == 0);
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    struct itimerspec soon = {.it_value = {0, 500000}};
    CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
    siginfo_t information;
    CHECK(sigwaitinfo(&wanted, &information) == SIGRTMIN + 6 && information.si_code == SI_TIMER);
    CHECK(timer_delete(timer) == 0);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &wanted, NULL) == 0);
}

static void turn_waits(void) {
    sigset_t wanted = set_of(SIGRTMIN + 7, 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &wanted, NULL) == 0);
    int descriptor = signalfd(-1, &wanted, SFD_CLOEXEC);
    struct signalfd_siginfo read_of;
    CHECK(descriptor >= 0);
    pthread_sigqueue(pthread_self(), SIGRTMIN + 7, (union sigval){.sival_int = 77});
    CHECK(read(descriptor, &read_of, sizeof read_of) == sizeof read_of && read_of.ssi_int == 77);
    close(descriptor);
    pthread_sigqueue(pthread_self(), SIGRTMIN + 7, (union sigval){.sival_int = 78});
    struct timespec none = {0, 0}, little = {0, 300000};
    siginfo_t information;
    CHECK(sigtimedwait(&wanted, &information, &none) == SIGRTMIN + 7);
    CHECK(information.si_value.sival_int == 78);
    CHECK(sigtimedwait(&wanted, &information, &little) == -1 && errno == EAGAIN);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &wanted, NULL) == 0);
}

static _Thread_local sigjmp_buf place;
static void jump(int number) { siglongjmp(place, number); }

static void turn_jumps(void) {
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    const int number = sigsetjmp(place, 1);
    if (number == 0) {
        send_to_self(SIGRTMIN + 8);
        CHECK(0);
    }
    CHECK(number == SIGRTMIN + 8);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int other = 1; other < 32; other++)
        CHECK(sigismember(&before, other) == sigismember(&after, other));
}

static void turn_forks(void) {
    pid_t child = fork();
    if (child == 0) {
        struct sigaction urgent;
        const int is_right = sigaction(SIGWINCH, NULL, &urgent) == 0 &&
                             urgent.sa_handler == SIG_DFL;
        _exit(is_right ? 33 : 34);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 33);
}

static struct work {
    const char *name;
    void (*turn)(void);
    atomic_uint turns;
} works[] = {
    {"masks", turn_masks, 0},   {"actions", turn_actions, 0}, {"stacks", turn_stacks, 0},
    {"timers", turn_timers, 0}, {"waits", turn_waits, 0},     {"jumps", turn_jumps, 0},
    {"forks", turn_forks, 0},
};
enum { WORKS = sizeof works / sizeof *works };

static void *go_on(void *argument) {
    struct work *work = argument;
    uint64_t state = 88172645463325252;
    struct timespec pause = {0, 300000};
    for (;;) {
        work->turn();
        BURN(state, ROUNDS_PER_MS / 10);
        atomic_fetch_add(&work->turns, 1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

int main(int argc, char **argv) {
    is_urgent = argc > 1 && strcmp(argv[1], "urgent") == 0;
    struct sigaction on_stack = {.sa_handler = look_at_stack, .sa_flags = SA_ONSTACK};
    struct sigaction jumping = {.sa_handler = jump};
    sigaction(SIGRTMIN + 5, &on_stack, NULL);
    sigaction(SIGRTMIN + 8, &jumping, NULL);
    for (int index = 0; index < WORKS; index++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, go_on, &works[index]) != 0) fail("pthread_create");
    }
    puts("ready");
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) == 1) {
        // Each gets ten seconds for one more round.
        const char *stuck = "";
        for (int index = 0; index < WORKS; index++) {
            const unsigned before = atomic_load(&works[index].turns);
            struct timespec pause = {0, 200000};
            int looks = 0;
            while (atomic_load(&works[index].turns) == before && looks++ < 50000)
                nanosleep(&pause, NULL);
            if (atomic_load(&works[index].turns) == before) stuck = works[index].name;
        }
        printf("%s %d\n", *stuck ? stuck : "on", atomic_load(&errors));
        fflush(stdout);
    }
    return atomic_load(&errors) == 0 ? 0 : 1;
}
