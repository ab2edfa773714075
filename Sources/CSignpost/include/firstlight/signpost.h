// Signposts: a program reports on its own time to the launch profiler Firstlight.
//
// This file is all that is needed, from C99 and from C++11; there is nothing to link. Without a
// recorder, a call is a load and a branch. With one, it writes one entry of a ring in shared
// memory. It never waits, allocates nothing, leaves errno alone, and may be made from any thread
// and any signal handler. Other systems than Linux on x86-64 compile it to nothing.
//
//     static const firstlight_signposter launch = {"org.example.Stars", "launch"};
//
//     firstlight_interval loading = firstlight_begin_interval(&launch, "Load stars");
//     …
//     firstlight_end_interval(&launch, "Load stars", loading);
//     firstlight_emit_event(&launch, "First star");
//
// and in C++:
//
//     firstlight::Signposter launch{"org.example.Stars", "launch"};
//     firstlight::IntervalSignpost loading{launch, "Load stars"};  // until the scope's end
//
// Names of more than FIRSTLIGHT_NAME_LIMIT bytes are cut, subsystems and categories of more than
// FIRSTLIGHT_LABEL_LIMIT; the recording says so.
#ifndef FIRSTLIGHT_SIGNPOST_H
#define FIRSTLIGHT_SIGNPOST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__) && defined(__LP64__)
#define FIRSTLIGHT_SIGNPOST_WORKS 1
#else
#define FIRSTLIGHT_SIGNPOST_WORKS 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// The protocol: what a program and its recorder share. All of it is in the machine's byte order.

enum {
    FIRSTLIGHT_NAME_LIMIT = 128,    // bytes
    FIRSTLIGHT_LABEL_LIMIT = 40,

    // The note with the place of a module's state: type, and after the owner "Firstlight" a 64-bit
    // distance from the first byte of that distance to the state.
    FIRSTLIGHT_SIGNPOST_NOTE = 1,
    FIRSTLIGHT_SIGNPOST_VERSION = 1,

    FIRSTLIGHT_SIGNPOST_EVENT = 1,
    FIRSTLIGHT_SIGNPOST_BEGIN = 2,
    FIRSTLIGHT_SIGNPOST_END = 3,

    FIRSTLIGHT_SIGNPOST_OWN_ID = 1,     // flag: the identifier is the program's choice
    FIRSTLIGHT_SIGNPOST_TRUNCATED = 2,  // flag: a text was longer than its limit
};

// One for each program or library. The recorder first writes `ring`, then `active`.
struct firstlight_signpost_state {
    uint32_t active;    // 0 while there is no recorder
    uint32_t version;
    uint64_t ring;      // where the ring is; it stays there as long as the process lives
    uint64_t door;      // the program's own: a page that tells a forked child from its parent
};

// One event. `turn` is twice the number of times that the ring went round, plus 1 once the event is
// complete. So memory that is all zero is an empty ring.
struct firstlight_signpost_slot {
    uint64_t turn;
    int64_t time_ns;    // CLOCK_MONOTONIC
    uint64_t id;        // the same for a begin and its end
    uint32_t thread;    // gettid(2)
    uint8_t kind;
    uint8_t flags;
    uint8_t name_length;
    uint8_t category_length;
    uint8_t subsystem_length;
    uint8_t unused[7];
    char text[216];     // name, category, subsystem, without ends
};

// Its slots follow it. Fields that different sides write are in separate cache lines.
struct firstlight_signpost_ring {
    // The recorder, once:
    uint32_t version;
    uint32_t process;   // getpid(2) in the program
    uint32_t shift;     // the number of slots is 2 to this power
    uint32_t unused;
    uint64_t first_id;  // plus a beginning's number, it is the interval's identifier
    uint8_t gap1[40];
    // The recorder: how many events it has finished reading.
    uint64_t taken;
    uint8_t gap2[56];
    // The program: how many events have, or had, a slot; how many were dropped.
    uint64_t given;
    uint8_t gap3[56];
    uint64_t dropped;
    uint8_t gap4[56];
};

// ---------------------------------------------------------------------------------------------
// What a program uses.

/// The source of signposts: the program or library, and their subject. Both may be NULL. Intervals
/// of the category "launch" are phases of the launch, those of "extended" phases after it.
typedef struct firstlight_signposter {
    const char *subsystem;
    const char *category;
} firstlight_signposter;

/// The argument of firstlight_end_interval; any thread may end an interval of another thread.
typedef struct firstlight_interval {
    uint64_t id;
} firstlight_interval;

#if FIRSTLIGHT_SIGNPOST_WORKS

extern struct firstlight_signpost_state firstlight_signpost_state
    __attribute__((visibility("hidden")));
uint64_t firstlight_signpost_record(const firstlight_signposter *signposter, const char *name,
                                    size_t length, int kind, int flags, uint64_t id)
    __attribute__((visibility("hidden")));

/// Whether there is a recorder.
static inline int firstlight_is_enabled(void) {
    return __builtin_expect(__atomic_load_n(&firstlight_signpost_state.active, __ATOMIC_ACQUIRE) != 0,
                            0);
}

#else

static inline int firstlight_is_enabled(void) { return 0; }
static inline uint64_t firstlight_signpost_record(const firstlight_signposter *signposter,
                                                  const char *name, size_t length, int kind,
                                                  int flags, uint64_t id) {
    (void)signposter, (void)name, (void)length, (void)kind, (void)flags, (void)id;
    return 0;
}

#endif

/// A point in time.
static inline void firstlight_emit_event(const firstlight_signposter *signposter,
                                         const char *name) {
    if (firstlight_is_enabled())
        firstlight_signpost_record(signposter, name, SIZE_MAX, FIRSTLIGHT_SIGNPOST_EVENT, 0, 0);
}

/// Begins an interval. Intervals may nest, overlap, and have the same name.
static inline firstlight_interval firstlight_begin_interval(
    const firstlight_signposter *signposter, const char *name) {
    firstlight_interval interval = {0};
    if (firstlight_is_enabled())
        interval.id = firstlight_signpost_record(signposter, name, SIZE_MAX,
                                                 FIRSTLIGHT_SIGNPOST_BEGIN, 0, 0);
    return interval;
}

static inline void firstlight_end_interval(const firstlight_signposter *signposter,
                                           const char *name, firstlight_interval interval) {
    if (firstlight_is_enabled())
        firstlight_signpost_record(signposter, name, SIZE_MAX, FIRSTLIGHT_SIGNPOST_END, 0,
                                   interval.id);
}

/// Begins an interval that is ended by name and `id`, for code that cannot pass on a
/// firstlight_interval. Of several with the same name and id, the one begun last is ended first.
static inline void firstlight_begin_interval_with_id(const firstlight_signposter *signposter,
                                                     const char *name, uint64_t id) {
    if (firstlight_is_enabled())
        firstlight_signpost_record(signposter, name, SIZE_MAX, FIRSTLIGHT_SIGNPOST_BEGIN,
                                   FIRSTLIGHT_SIGNPOST_OWN_ID, id);
}

static inline void firstlight_end_interval_with_id(const firstlight_signposter *signposter,
                                                   const char *name, uint64_t id) {
    if (firstlight_is_enabled())
        firstlight_signpost_record(signposter, name, SIZE_MAX, FIRSTLIGHT_SIGNPOST_END,
                                   FIRSTLIGHT_SIGNPOST_OWN_ID, id);
}

// ---------------------------------------------------------------------------------------------
// The implementation. Weak: of the copies in the files of a program or library, one remains.

#if FIRSTLIGHT_SIGNPOST_WORKS

#define FIRSTLIGHT_SIGNPOST_SHARED __attribute__((weak, used, noinline, visibility("hidden")))

struct firstlight_signpost_state firstlight_signpost_state
    __attribute__((weak, used, visibility("hidden"))) = {0, FIRSTLIGHT_SIGNPOST_VERSION, 0, 0};

// Not in a section group: linkers that remove unused sections keep notes outside of groups only.
__asm__(".pushsection .note.firstlight, \"a\", @note\n"
        ".balign 4\n"
        ".long 11, 8, 1\n"
        ".asciz \"Firstlight\"\n"
        ".balign 4\n"
        ".quad firstlight_signpost_state - .\n"
        ".popsection\n");

// The calling thread's id, and the process in which it was read.
struct firstlight_signpost_thread {
    uint32_t process;
    uint32_t thread;
};
// initial-exec: the first access must not allocate, it may be in a signal handler.
extern __thread struct firstlight_signpost_thread firstlight_signpost_thread
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
__thread struct firstlight_signpost_thread firstlight_signpost_thread
    __attribute__((weak, used, visibility("hidden"), tls_model("initial-exec"))) = {0, 0};

// clock_gettime(2) under another name: its declaration is hidden from strict C99.
extern int firstlight_signpost_clock(int clock, int64_t seconds_and_nanoseconds[2])
    __asm__("clock_gettime");

static inline int64_t firstlight_signpost_now(void) {
    int64_t now[2] = {0, 0};
    firstlight_signpost_clock(1, now);
    return now[0] * 1000000000 + now[1];
}

// A system call that leaves errno alone; negative: an error.
static inline long firstlight_signpost_call(long number, long first, long second, long third,
                                            long fourth) {
    long result;
    register long r10 __asm__("r10") = fourth;
    register long r8 __asm__("r8") = -1;    // mmap's descriptor
    register long r9 __asm__("r9") = 0;     // and offset
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline uint32_t firstlight_signpost_getpid(void) {
    return (uint32_t)firstlight_signpost_call(39, 0, 0, 0, 0);
}

// getpid is a system call that takes half as long as an event may take. So its result is kept in a
// page that the kernel wipes in forked children, however they are forked (MADV_WIPEONFORK, Linux
// 4.14).
static inline void firstlight_signpost_make_door(uint32_t process) {
    uint64_t none = 0, failed = 1;
    long page = firstlight_signpost_call(9, 0, 4096, 3, 0x22);   // mmap, private, anonymous
    if (page > 0 && firstlight_signpost_call(28, page, 4096, 18, 0) != 0) {  // madvise
        firstlight_signpost_call(11, page, 4096, 0, 0);          // munmap
        page = -1;
    }
    uint64_t door = page > 0 ? (uint64_t)page : failed;
    if (door != failed) *(uint32_t *)door = process;
    if (!__atomic_compare_exchange_n(&firstlight_signpost_state.door, &none, door, 0,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) && door != failed)
        firstlight_signpost_call(11, page, 4096, 0, 0);          // another thread was quicker
}

// The thread's id; 0 if this is not the recorded process.
static inline uint32_t firstlight_signpost_enter(uint32_t recorded) {
    uint64_t door = __atomic_load_n(&firstlight_signpost_state.door, __ATOMIC_ACQUIRE);
    uint32_t process = 0;
    if (__builtin_expect(door > 1, 1))
        process = __atomic_load_n((uint32_t *)door, __ATOMIC_RELAXED);
    if (__builtin_expect(process == 0, 0)) {
        process = firstlight_signpost_getpid();
        // A child of vfork shares its parent's memory: it must leave nothing of its own there.
        if (door == 0 && process == recorded) firstlight_signpost_make_door(process);
        if (door > 1) __atomic_store_n((uint32_t *)door, process, __ATOMIC_RELAXED);
    }
    if (process != recorded) return 0;
    struct firstlight_signpost_thread *thread = &firstlight_signpost_thread;
    if (__builtin_expect(__atomic_load_n(&thread->process, __ATOMIC_RELAXED) != process, 0)) {
        __atomic_store_n(&thread->thread, (uint32_t)firstlight_signpost_call(186, 0, 0, 0, 0),
                         __ATOMIC_RELAXED);  // gettid
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        __atomic_store_n(&thread->process, process, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&thread->thread, __ATOMIC_RELAXED);
}

// Copies a text of at most `length` bytes, or up to its end, or up to `limit`.
static inline uint8_t firstlight_signpost_copy(char *to, const char *from, size_t length,
                                               size_t limit, uint8_t *flags) {
    if (from == NULL) return 0;
    size_t bound = length < limit + 1 ? length : limit + 1;
    const char *end = (const char *)memchr(from, 0, bound);
    size_t count = end != NULL ? (size_t)(end - from) : bound;
    if (count > limit) {
        count = limit;
        *flags |= FIRSTLIGHT_SIGNPOST_TRUNCATED;
    }
    memcpy(to, from, count);
    return (uint8_t)count;
}

// Takes a slot of the ring for one event; NULL, and counted, if there is none. An eighth is
// reserved for ends: an interval without its end would be worse than none.
static inline struct firstlight_signpost_slot *firstlight_signpost_take(
    struct firstlight_signpost_ring *ring, int kind, uint64_t *number) {
    const uint32_t shift = ring->shift & 31;
    const uint64_t count = 1ULL << shift;
    const uint64_t limit = kind == FIRSTLIGHT_SIGNPOST_END ? count : count - count / 8;
    struct firstlight_signpost_slot *slots = (struct firstlight_signpost_slot *)(ring + 1);
    uint64_t mine = __atomic_load_n(&ring->given, __ATOMIC_RELAXED);
    for (int attempt = 0; attempt < 1000; attempt++) {
        const int64_t waiting = (int64_t)(mine - __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE));
        if (waiting >= (int64_t)limit) break;
        if (!__atomic_compare_exchange_n(&ring->given, &mine, mine + 1, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        struct firstlight_signpost_slot *slot = &slots[mine & (count - 1)];
        // Otherwise a thread that was stopped midway, one round earlier, still has it.
        if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == 2 * (mine >> shift)) {
            *number = mine;
            return slot;
        }
        mine = __atomic_load_n(&ring->given, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&ring->dropped, 1, __ATOMIC_RELAXED);
    return NULL;
}

// Returns the identifier of the interval that began; 0 if nothing was recorded.
FIRSTLIGHT_SIGNPOST_SHARED uint64_t firstlight_signpost_record(
    const firstlight_signposter *signposter, const char *name, size_t length, int kind, int flags,
    uint64_t id) {
    struct firstlight_signpost_ring *ring = (struct firstlight_signpost_ring *)__atomic_load_n(
        &firstlight_signpost_state.ring, __ATOMIC_ACQUIRE);
    if (ring == NULL) return 0;
    const uint32_t thread = firstlight_signpost_enter(ring->process);
    if (thread == 0) return 0;
    // Our own time should not count towards the interval.
    int64_t time = kind != FIRSTLIGHT_SIGNPOST_BEGIN ? firstlight_signpost_now() : 0;
    uint64_t number = 0;
    struct firstlight_signpost_slot *slot = firstlight_signpost_take(ring, kind, &number);
    if (slot == NULL) return 0;
    if (kind == FIRSTLIGHT_SIGNPOST_BEGIN && !(flags & FIRSTLIGHT_SIGNPOST_OWN_ID))
        id = ring->first_id + number;
    uint8_t marks = (uint8_t)flags;
    char *text = slot->text;
    slot->name_length =
        firstlight_signpost_copy(text, name, length, FIRSTLIGHT_NAME_LIMIT, &marks);
    text += slot->name_length;
    slot->category_length = 0;
    slot->subsystem_length = 0;
    if (signposter != NULL) {
        slot->category_length = firstlight_signpost_copy(text, signposter->category, SIZE_MAX,
                                                         FIRSTLIGHT_LABEL_LIMIT, &marks);
        text += slot->category_length;
        slot->subsystem_length = firstlight_signpost_copy(text, signposter->subsystem, SIZE_MAX,
                                                          FIRSTLIGHT_LABEL_LIMIT, &marks);
    }
    slot->id = id;
    slot->thread = thread;
    slot->kind = (uint8_t)kind;
    slot->flags = marks;
    slot->time_ns = kind == FIRSTLIGHT_SIGNPOST_BEGIN ? firstlight_signpost_now() : time;
    __atomic_store_n(&slot->turn, 2 * (number >> (ring->shift & 31)) + 1, __ATOMIC_RELEASE);
    return id;
}

#endif

#ifdef __cplusplus
}

namespace firstlight {

/// The source of signposts. The texts must outlive it: literals do.
class Signposter {
public:
    constexpr Signposter(const char *subsystem, const char *category)
        : signposter_{subsystem, category} {}

    void emitEvent(const char *name) const { firstlight_emit_event(&signposter_, name); }

    firstlight_interval beginInterval(const char *name) const {
        return firstlight_begin_interval(&signposter_, name);
    }
    void endInterval(const char *name, firstlight_interval interval) const {
        firstlight_end_interval(&signposter_, name, interval);
    }

    void beginInterval(const char *name, uint64_t id) const {
        firstlight_begin_interval_with_id(&signposter_, name, id);
    }
    void endInterval(const char *name, uint64_t id) const {
        firstlight_end_interval_with_id(&signposter_, name, id);
    }

    bool isEnabled() const { return firstlight_is_enabled() != 0; }

    /// Calls `task` within an interval, which also ends when it throws.
    template <typename Task>
    auto withIntervalSignpost(const char *name, Task &&task) const -> decltype(task());

private:
    firstlight_signposter signposter_;
};

/// An interval from here to the end of its scope. Signposter and name must outlive it.
class IntervalSignpost {
public:
    IntervalSignpost(const Signposter &signposter, const char *name)
        : signposter_(&signposter), name_(name), interval_(signposter.beginInterval(name)) {}

    IntervalSignpost(IntervalSignpost &&other) noexcept
        : signposter_(other.signposter_), name_(other.name_), interval_(other.interval_) {
        other.signposter_ = nullptr;
    }
    IntervalSignpost(const IntervalSignpost &) = delete;
    IntervalSignpost &operator=(const IntervalSignpost &) = delete;
    IntervalSignpost &operator=(IntervalSignpost &&) = delete;

    ~IntervalSignpost() { end(); }

    /// Ends it before its scope does. Once is enough.
    void end() noexcept {
        if (signposter_ != nullptr) signposter_->endInterval(name_, interval_);
        signposter_ = nullptr;
    }

private:
    const Signposter *signposter_;
    const char *name_;
    firstlight_interval interval_;
};

template <typename Task>
auto Signposter::withIntervalSignpost(const char *name, Task &&task) const -> decltype(task()) {
    IntervalSignpost interval(*this, name);
    return task();
}

}  // namespace firstlight
#endif

#endif
