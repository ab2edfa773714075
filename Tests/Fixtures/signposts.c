// signposts [MODE [COUNT]]: says where its time goes.
//
// nested (the default): intervals inside one another on two threads, one that begins on one thread
//   and ends on the other, and points. Each computes for a known time; the truth has each
//   interval's nanoseconds.
// odd: beginnings without an end, ends without a beginning, an end too many, names of 0 bytes and of
//   10,000, the program's own identifiers.
// many: COUNT events from each of two threads (default 500,000), as fast as they go.
// forked: points of a child before any of the parent's; then of the parent, a child, a grandchild,
//   and the parent again.
// handler: points, interrupted COUNT times (default 20,000) by a handler that says an interval of its
//   own; the truth has both numbers.
// endless: events until it is killed; for each byte on standard input, one is written back.
#include <firstlight/signpost.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "fixture.h"
#include "ring.h"

static const firstlight_signposter launch = {"org.firstlight.fixture", "launch"};
static const firstlight_signposter detail = {"org.firstlight.fixture", "detail"};

static firstlight_interval handed_over;
static int64_t handed_over_start;

FUNCTION void compute(uint64_t milliseconds) {
    uint64_t state = 88172645463325252ULL;
    BURN(state, milliseconds * ROUNDS_PER_MS);
}

// An interval, and how long it was.
#define SPAN(poster, name, body)                                                  \
    do {                                                                          \
        int64_t span_start = nanoseconds(CLOCK_MONOTONIC);                        \
        firstlight_interval span = firstlight_begin_interval(poster, name);       \
        body;                                                                     \
        firstlight_end_interval(poster, name, span);                              \
        truth_set(name, nanoseconds(CLOCK_MONOTONIC) - span_start);               \
    } while (0)

FUNCTION void parse(void) { compute(30); }
FUNCTION void index_all(void) { compute(20); }
FUNCTION void load(void) {
    SPAN(&detail, "Parse", parse());
    SPAN(&detail, "Index", index_all());
    compute(10);
}
FUNCTION void draw(void) { compute(25); }
FUNCTION void fetch(void) {
    SPAN(&detail, "Decode", compute(15));
    compute(15);
}

static void *work(void *unused) {
    (void)unused;
    SPAN(&detail, "Fetch", fetch());
    firstlight_end_interval(&detail, "Hand over", handed_over);
    truth_set("Hand over", nanoseconds(CLOCK_MONOTONIC) - handed_over_start);
    return NULL;
}

static void nested(void) {
    pthread_t worker;
    handed_over_start = nanoseconds(CLOCK_MONOTONIC);
    handed_over = firstlight_begin_interval(&detail, "Hand over");
    if (pthread_create(&worker, NULL, work, NULL) != 0) fail("pthread_create");
    SPAN(&launch, "Load", load());
    SPAN(&launch, "Draw", draw());
    pthread_join(worker, NULL);
    firstlight_emit_event(&launch, "First star");
}

static void odd(void) {
    static char name[10001];
    memset(name, 'n', sizeof name - 1);
    firstlight_begin_interval(&detail, "Never ended");
    firstlight_end_interval(&detail, "Never begun", (firstlight_interval){4711});
    firstlight_interval twice = firstlight_begin_interval(&detail, "Ended twice");
    firstlight_end_interval(&detail, "Ended twice", twice);
    firstlight_end_interval(&detail, "Ended twice", twice);
    firstlight_begin_interval_with_id(&detail, "Own", 7);
    firstlight_begin_interval_with_id(&detail, "Own", 8);
    firstlight_end_interval_with_id(&detail, "Own", 7);
    firstlight_end_interval_with_id(&launch, "Own", 8);
    firstlight_emit_event(&detail, name);
    firstlight_emit_event(&detail, "");
    firstlight_emit_event(NULL, NULL);
}

static uint64_t count;

static void *many(void *unused) {
    (void)unused;
    for (uint64_t index = 0; index < count; index++) firstlight_emit_event(&detail, "Event");
    return NULL;
}

static void both(void *(*body)(void *)) {
    pthread_t other;
    if (pthread_create(&other, NULL, body, NULL) != 0) fail("pthread_create");
    body(NULL);
    pthread_join(other, NULL);
}

static void forked(void) {
    firstlight_emit_event(&detail, "Parent");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        firstlight_emit_event(&detail, "Child");
        pid_t grandchild = fork();
        if (grandchild == 0) {
            for (int index = 0; index < 100; index++)
                firstlight_emit_event(&detail, "Grandchild");
            _exit(0);
        }
        waitpid(grandchild, NULL, 0);
        firstlight_emit_event(&detail, "Child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    firstlight_emit_event(&detail, "Parent again");
}

// A child whose first event comes before its parent's.
static void early_child(void) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        firstlight_emit_event(&detail, "Child");
        firstlight_emit_event(&detail, "Child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static atomic_ullong handled;
static atomic_bool is_over;
static pthread_t receiver;

static void handle(int signal) {
    (void)signal;
    int kept = errno;
    firstlight_interval interval = firstlight_begin_interval(&detail, "Handler");
    firstlight_end_interval(&detail, "Handler", interval);
    if (errno != kept) _exit(126);
    atomic_fetch_add(&handled, 1);
}

// Interrupts the other thread wherever it is, again as soon as it was.
static void *interrupt(void *unused) {
    (void)unused;
    for (uint64_t index = 0; index < count; index++) {
        if (pthread_kill(receiver, SIGUSR1) != 0) fail("pthread_kill");
        // Leaves the core to the receiver and to the reader.
        while (atomic_load(&handled) <= index) nanosleep(&(struct timespec){0, 10000}, NULL);
    }
    atomic_store(&is_over, true);
    return NULL;
}

static void handler(void) {
    struct sigaction action = {.sa_handler = handle};
    if (sigaction(SIGUSR1, &action, NULL) != 0) fail("sigaction");
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &interrupts, NULL);
    receiver = pthread_self();
    pthread_t other;
    if (pthread_create(&other, NULL, interrupt, NULL) != 0) fail("pthread_create");
    uint64_t points = 0;
    while (!atomic_load(&is_over)) {
        firstlight_emit_event(&detail, "Point");
        points++;
    }
    pthread_join(other, NULL);
    truth_set("points", (int64_t)points);
    truth_set("handled", (int64_t)atomic_load(&handled));
}

static void endless(void) {
    fcntl(0, F_SETFL, O_NONBLOCK);
    char byte;
    for (;;) {
        for (int index = 0; index < 1000; index++) firstlight_emit_event(&detail, "Event");
        if (read(0, &byte, 1) == 1 && write(1, &byte, 1) != 1) fail("write");
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "nested";
    ring_join();
    if (strcmp(mode, "nested") == 0) {
        nested();
    } else if (strcmp(mode, "odd") == 0) {
        odd();
    } else if (strcmp(mode, "many") == 0) {
        count = count_argument(argc, argv, 2, 500000);
        both(many);
    } else if (strcmp(mode, "forked") == 0) {
        early_child();
        forked();
    } else if (strcmp(mode, "handler") == 0) {
        count = count_argument(argc, argv, 2, 20000);
        handler();
    } else if (strcmp(mode, "endless") == 0) {
        endless();
    } else {
        fprintf(stderr, "%s: no such mode: %s\n", argv[0], mode);
        return 125;
    }
    truth_write();
    return 0;
}
