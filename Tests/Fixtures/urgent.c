// urgent MODE: uses SIGURG for itself, and must get exactly the signals that it was sent.
//   handler [N]          sets a handler at once, and sends itself N (default 50)
//   late [MS [THREADS]]  sets it after computing for MS milliseconds (default 300) while THREADS
//                        threads (default 3) compute, too
//   dispositions         sets and asks for one action after another, with work between
//   raw [MS]             asks for the action, and after MS milliseconds (default 100) sets a
//                        handler, both by the system call itself, without the C library
//   signalfd [MS]        blocks the signal after MS milliseconds (default 20), and reads it from a
//                        descriptor
//   oob                  gets it for a socket's out-of-band data
//   window [MS]          sets a handler for it, and after MS milliseconds (default 60) one for
//                        SIGWINCH, of which it sends itself some, too
// Exits with 0 if every signal came once, no other came, and every old action was the right one.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "fixture.h"

#define SENT 20

static atomic_int received;
static atomic_int foreign;
/// The `si_code` of the expected signals.
static atomic_int expected_code = SI_USER;
static int wrong;

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

/// Prints a figure and counts it if it is not as it should be.
static void check(const char *name, long actual, long expected) {
    printf("%s %ld of %ld\n", name, actual, expected);
    if (actual != expected) wrong++;
}

static void handler(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    atomic_int *count = info->si_code == atomic_load(&expected_code) ? &received : &foreign;
    atomic_fetch_add(count, 1);
}

/// The handler as sigaction returns it. Cast through a number: it has more parameters than it says.
#define OUR_HANDLER ((void (*)(int))(uintptr_t)handler)

static const char *name_of(void (*action)(int)) {
    if (action == SIG_DFL) return "default";
    if (action == SIG_IGN) return "ignored";
    return action == OUR_HANDLER ? "our handler" : "another handler";
}

static void expect_action(const char *when, void (*actual)(int), void (*expected)(int)) {
    printf("%s: %s\n", when, name_of(actual));
    if (actual != expected) wrong++;
}

static void (*action_of(int number))(int) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0) fail("sigaction");
    return action.sa_handler;
}

static void (*current_action(void))(int) { return action_of(SIGURG); }

/// Returns the earlier handler.
static void (*set_handler_of(int number))(int) {
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (sigaction(number, &action, &old) != 0) fail("sigaction");
    return old.sa_handler;
}

static void (*set_handler(void))(int) { return set_handler_of(SIGURG); }

/// Waits until `count` have come; gives up after 5 s, so that a lost one does not block us for ever.
static void await(int count) {
    int64_t deadline = nanoseconds(CLOCK_MONOTONIC) + 5000000000;
    while (atomic_load(&received) < count && nanoseconds(CLOCK_MONOTONIC) < deadline) continue;
}

/// One after the other: a second one would be merged with one that is still pending.
static uint64_t send_and_compute(int number, int count) {
    uint64_t state = 1;
    for (int sent = 1; sent <= count; sent++) {
        int before = atomic_load(&received);
        if (kill(getpid(), number) != 0) fail("kill");
        await(before + 1);
        state = compute(state, 2);
    }
    return state;
}

static void finish(uint64_t checksum) {
    printf("checksum %016llx\n", (unsigned long long)checksum);
    check("foreign signals", atomic_load(&foreign), 0);
}

static void run_handler(uint64_t count) {
    expect_action("before", set_handler(), SIG_DFL);
    uint64_t checksum = send_and_compute(SIGURG, (int)count);
    expect_action("after", current_action(), OUR_HANDLER);
    check("signals", atomic_load(&received), (long)count);
    finish(checksum);
}

static void *compute_for(void *milliseconds) {
    return (void *)(uintptr_t)compute(1, (uintptr_t)milliseconds);
}

static void run_late(uint64_t milliseconds, uint64_t count) {
    pthread_t threads[16];
    if (count > sizeof threads / sizeof *threads) exit(125);
    for (uint64_t index = 0; index < count; index++) {
        errno = pthread_create(
            &threads[index], NULL, compute_for, (void *)(uintptr_t)(milliseconds + 60));
        if (errno != 0) fail("pthread_create");
    }
    uint64_t checksum = compute(1, milliseconds);
    expect_action("asked", current_action(), SIG_DFL);
    expect_action("set", set_handler(), SIG_DFL);
    checksum += send_and_compute(SIGURG, SENT);
    for (uint64_t index = 0; index < count; index++) {
        void *result;
        pthread_join(threads[index], &result);
        checksum += (uintptr_t)result;
    }
    check("signals", atomic_load(&received), SENT);
    finish(checksum);
}

static void run_dispositions(void) {
    uint64_t checksum = compute(1, 50);
    expect_action("default set", signal(SIGURG, SIG_DFL), SIG_DFL);
    kill(getpid(), SIGURG);
    checksum = compute(checksum, 50);
    expect_action("ignored set", signal(SIGURG, SIG_IGN), SIG_DFL);
    kill(getpid(), SIGURG);
    checksum = compute(checksum, 50);
    expect_action("asked", current_action(), SIG_IGN);
    expect_action("handler set", set_handler(), SIG_IGN);
    checksum += send_and_compute(SIGURG, SENT);
    expect_action("default set", signal(SIGURG, SIG_DFL), OUR_HANDLER);
    kill(getpid(), SIGURG);
    checksum = compute(checksum, 20);
    expect_action("asked", current_action(), SIG_DFL);
    check("signals", atomic_load(&received), SENT);
    finish(checksum);
}

/// As <asm/signal.h> has it, whose names clash with the C library's.
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

#ifdef __x86_64__
void return_from_handler(void);
__asm__("return_from_handler: mov $15, %eax\n syscall\n");
#define KERNEL_FLAGS (SA_SIGINFO | SA_RESTART | 0x04000000)  // SA_RESTORER
#else
static void return_from_handler(void) {}
#define KERNEL_FLAGS (SA_SIGINFO | SA_RESTART)
#endif

static void (*swap_action(struct kernel_action *action))(int) {
    struct kernel_action old;
    if (syscall(SYS_rt_sigaction, SIGURG, action, &old, 8) != 0) fail("rt_sigaction");
    return old.handler;
}

static void run_raw(uint64_t milliseconds) {
    expect_action("asked", swap_action(NULL), SIG_DFL);
    uint64_t checksum = compute(1, milliseconds);
    struct kernel_action action = {
        OUR_HANDLER, KERNEL_FLAGS, return_from_handler, 0};
    expect_action("set", swap_action(&action), SIG_DFL);
    checksum += compute(1, 50);
    checksum += send_and_compute(SIGURG, SENT);
    check("signals", atomic_load(&received), SENT);
    finish(checksum);
}

static void run_signalfd(uint64_t milliseconds) {
    uint64_t checksum = compute(1, milliseconds);
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    if (sigprocmask(SIG_BLOCK, &urgent, NULL) != 0) fail("sigprocmask");
    int descriptor = signalfd(-1, &urgent, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor < 0) fail("signalfd");
    checksum = compute(checksum, 30);
    struct signalfd_siginfo info;
    while (read(descriptor, &info, sizeof info) == sizeof info) atomic_fetch_add(&foreign, 1);
    for (int sent = 0; sent < SENT; sent++) {
        kill(getpid(), SIGURG);
        if (read(descriptor, &info, sizeof info) == sizeof info)
            atomic_fetch_add(info.ssi_code == SI_USER ? &received : &foreign, 1);
        checksum = compute(checksum, 2);
    }
    while (read(descriptor, &info, sizeof info) == sizeof info) atomic_fetch_add(&foreign, 1);
    check("signals", atomic_load(&received), SENT);
    finish(checksum);
}

/// Two connected sockets of the loopback device.
static void connect_sockets(int ends[2]) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || ends[0] < 0) fail("socket");
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        listen(listener, 1) != 0)
        fail("listening");
    if (connect(ends[0], (struct sockaddr *)&address, length) != 0) fail("connect");
    ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (ends[1] < 0) fail("accept");
    close(listener);
}

static void run_oob(void) {
    int ends[2];
    connect_sockets(ends);
    expect_action("before", set_handler(), SIG_DFL);
    atomic_store(&expected_code, SI_KERNEL);
    if (fcntl(ends[1], F_SETOWN, getpid()) != 0) fail("F_SETOWN");
    uint64_t checksum = 1;
    for (int sent = 1; sent <= SENT; sent++) {
        char byte = (char)sent, got = 0;
        if (send(ends[0], &byte, 1, MSG_OOB) != 1) fail("send");
        await(sent);
        if (recv(ends[1], &got, 1, MSG_OOB) != 1 || got != byte) wrong++;
        checksum = compute(checksum, 5);
    }
    check("signals", atomic_load(&received), SENT);
    finish(checksum);
}

static void run_window(uint64_t milliseconds) {
    expect_action("before", set_handler(), SIG_DFL);
    uint64_t checksum = send_and_compute(SIGURG, SENT);
    checksum += compute(checksum, milliseconds);
    expect_action("window asked", action_of(SIGWINCH), SIG_DFL);
    expect_action("window set", set_handler_of(SIGWINCH), SIG_DFL);
    expect_action("window asked", action_of(SIGWINCH), OUR_HANDLER);
    checksum += send_and_compute(SIGWINCH, SENT);
    checksum += send_and_compute(SIGURG, SENT);
    check("signals", atomic_load(&received), 3 * SENT);
    finish(checksum);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "handler") == 0)
        run_handler(count_argument(argc, argv, 2, 50));
    else if (strcmp(mode, "late") == 0)
        run_late(count_argument(argc, argv, 2, 300), count_argument(argc, argv, 3, 3));
    else if (strcmp(mode, "dispositions") == 0)
        run_dispositions();
    else if (strcmp(mode, "raw") == 0)
        run_raw(count_argument(argc, argv, 2, 100));
    else if (strcmp(mode, "signalfd") == 0)
        run_signalfd(count_argument(argc, argv, 2, 20));
    else if (strcmp(mode, "oob") == 0)
        run_oob();
    else if (strcmp(mode, "window") == 0)
        run_window(count_argument(argc, argv, 2, 60));
    else {
        fprintf(stderr,
                "usage: urgent handler | late | dispositions | raw | signalfd | oob | window\n");
        return 125;
    }
    return wrong == 0 ? 0 : 1;
}
