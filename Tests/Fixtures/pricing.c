// pricing ROUNDS: the cost of one call of a signpost, each measured over ROUNDS rounds; the truth
// has picoseconds of CPU time, as the machine may have other work. The program records itself: a
// thread of its own empties the ring.
//
// empty: a function that does nothing, called where the compiler cannot see it.
// unrecorded: emit an event without a recorder.
// event, interval (begin and end, so two calls' worth): the same with a recorder.
// two_threads: an event, by two threads at once; each one's time for its own.
// full: an event that finds the ring full.
// usdt, lttng: as unrecorded, with sys/sdt.h (whose probe is not in use), and with LTTng-UST (which
// is not recorded); each only where the compiler finds its header.
#include <firstlight/signpost.h>
#include <pthread.h>
#include <sys/mman.h>

#include "fixture.h"

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define HAS_USDT 1
#endif
#ifdef HAS_LTTNG
#include <lttng/tracef.h>
#endif

enum { SHIFT = 14 };

static const firstlight_signposter poster = {"org.firstlight.fixture", "cost"};
static uint64_t rounds;
static struct firstlight_signpost_ring *ring;
static atomic_int is_over;

FUNCTION static void nothing(void) { __asm__ volatile(""); }

// Nothing of one round may be done before the other.
#define MEASURE(name, call)                                                           \
    do {                                                                              \
        int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);                                 \
        for (uint64_t round = 0; round < rounds; round++) {                           \
            call;                                                                     \
            __asm__ volatile("" ::: "memory");                                        \
        }                                                                             \
        int64_t took = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;                          \
        truth_set(name, (int64_t)((double)took * 1000 / (double)rounds));             \
    } while (0)

static void *read_all(void *unused) {
    (void)unused;
    struct firstlight_signpost_slot *slots = (struct firstlight_signpost_slot *)(ring + 1);
    while (!atomic_load(&is_over)) {
        uint64_t given = __atomic_load_n(&ring->given, __ATOMIC_ACQUIRE);
        uint64_t taken = ring->taken;
        for (; taken != given; taken++) {
            struct firstlight_signpost_slot *slot = &slots[taken & ((1 << SHIFT) - 1)];
            uint64_t complete = 2 * (taken >> SHIFT) + 1;
            while (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != complete) {}
            __atomic_store_n(&slot->turn, complete + 1, __ATOMIC_RELEASE);
        }
        __atomic_store_n(&ring->taken, taken, __ATOMIC_RELEASE);
        // As a recorder does, which looks a thousand times a second.
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return NULL;
}

// The ring must not overflow in these measurements: so the rounds come in bursts, and the time
// between them does not count.
#define MEASURE_BURSTS(name, call)                                                    \
    do {                                                                              \
        int64_t took = 0;                                                             \
        uint64_t done = 0;                                                            \
        while (done < rounds) {                                                       \
            while (__atomic_load_n(&ring->given, __ATOMIC_RELAXED) !=                 \
                   __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE))                   \
                nanosleep(&(struct timespec){0, 100000}, NULL);                       \
            int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);                             \
            for (int round = 0; round < 4000; round++) call;                          \
            took += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;                             \
            done += 4000;                                                             \
        }                                                                             \
        truth_set(name, (int64_t)((double)took * 1000 / (double)done));               \
    } while (0)

static pthread_barrier_t barrier;

static void *one_of_two(void *name) {
    pthread_barrier_wait(&barrier);
    MEASURE_BURSTS(name, firstlight_emit_event(&poster, "Point"));
    return NULL;
}

static void two_threads(void) {
    pthread_t other;
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&other, NULL, one_of_two, "two_threads_other") != 0) fail("pthread_create");
    one_of_two("two_threads");
    pthread_join(other, NULL);
}

static void record(void) {
    size_t size = sizeof *ring + (sizeof(struct firstlight_signpost_slot) << SHIFT);
    ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED) fail("mmap");
    memset(ring, 0, size);
    ring->version = FIRSTLIGHT_SIGNPOST_VERSION;
    ring->process = (uint32_t)getpid();
    ring->shift = SHIFT;
    ring->first_id = 1;
    firstlight_signpost_state.ring = (uint64_t)(uintptr_t)ring;
    __atomic_store_n(&firstlight_signpost_state.active, 1, __ATOMIC_RELEASE);
}

int main(int argc, char **argv) {
    rounds = count_argument(argc, argv, 1, 1000000);
    MEASURE("warm_up", nothing());
    MEASURE("empty", nothing());
    MEASURE("unrecorded", firstlight_emit_event(&poster, "Point"));
#ifdef HAS_USDT
    MEASURE("usdt", DTRACE_PROBE1(firstlight, point, "Point"));
#endif
#ifdef HAS_LTTNG
    MEASURE("lttng", tracef("Point"));
#endif
    record();
    pthread_t reader;
    if (pthread_create(&reader, NULL, read_all, NULL) != 0) fail("pthread_create");
    MEASURE_BURSTS("warm_up", firstlight_emit_event(&poster, "Point"));
    MEASURE_BURSTS("event", firstlight_emit_event(&poster, "Point"));
    MEASURE_BURSTS("interval", {
        firstlight_interval interval = firstlight_begin_interval(&poster, "Interval");
        firstlight_end_interval(&poster, "Interval", interval);
    });
    two_threads();
    truth_set("dropped", (int64_t)ring->dropped);
    atomic_store(&is_over, 1);
    pthread_join(reader, NULL);
    for (int index = 0; index <= 1 << SHIFT; index++) firstlight_emit_event(&poster, "Point");
    MEASURE("full", firstlight_emit_event(&poster, "Point"));
    truth_write();
    return 0;
}
