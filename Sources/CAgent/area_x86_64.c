#include "CAgent.h"

#if !defined(__x86_64__)
#error "Firstlight captures x86-64 programs only so far."
#endif

// The area's code is one section of one object: assembly where registers and stacks matter, C where
// lists are followed. It is copied to the place where it runs, so nothing in it may refer to
// anything outside: no library, no compiler constants, no thread-local memory.
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
// A word of struct fl_state, or another place in the area, relative to the code.
#define STATE(offset) "fl_begin+" NUMBER(FL_STATE) "+" NUMBER(offset) "(%rip)"
#define AREA(offset) "fl_begin+" NUMBER(offset) "(%rip)"

// How often a thread naps while it waits for the recorder: some 34 ms in all. MOST_NAPS is for a
// recorder that lives: on a busy machine it may have no core for a while.
#define NAPS 400
#define MOST_NAPS 3000

// Offsets of fields that the assembly uses; checked below.
#define PHASE 0
#define DISPLACED 4
#define FILTERED 8
#define OUTSTANDING 12
#define EXECUTION 16
#define MASKS 20
#define NEXT_AREA 24
#define PID 32
#define RECORDER 36
#define SIZE 40
#define COOKIE 48
#define SAMPLE_SIGNAL 56
#define ORIGINAL_HANDLER 72
#define AFTER_SIGACTION 2240
#define AFTER_SIGMASK 2248
#define AFTER_EXECVE 2256
#define AFTER_PRCTL 2264
#define AFTER_MLOCKALL 2272
#define AFTER_SYSCALL 2280
#define AFTER_STACK 2288
#define AFTER_THREAD 2296
#define REAL_START 2304
#define REAL_MAIN 2312
#define REAL_INIT 2320
#define RECORDS 2340
#define RING 2352
#define SPARE_SIGNAL 2368
#define SPARE 2372
#define SPARE_ORIGINAL 2376
#define SENDING 2384
#define EXECUTOR 2392
#define MAY_GAIN_PRIVILEGES 2400
#define UNANNOUNCED 2404
#define AHEAD_NS 2592
#define FOLLOWED_NS 2600
#define ENTRY_POINTER 2640
#define REAL_ENTRY 2648
#define TIMERS 2720
#define MASKING 3232

__asm__(
    ".section fl_code,\"ax\",@progbits\n"
    ".balign 4096\n"
    "fl_begin:\n"
    ".previous\n");

#include "entry.h"
#include "handler.h"
#include "rest.h"
#include "stand_ins.h"
#include "launch.h"
#include "initializers.h"
#include "marks.h"

__asm__(
    ".section fl_code,\"ax\",@progbits\n"
    "fl_name: .asciz \"firstlight\"\n"
    "fl_capability: .asciz \"security.capability\"\n"
    "fl_memory_path: .asciz \"/proc/self/mem\"\n"
    "fl_mappings_path: .asciz \"/proc/self/maps\"\n"
    ".balign 16\n"
    ".previous\n");

#include "code.h"
#include "signals.h"
#include "cut_calls.h"
#include "alternates.h"
#include "frames.h"
#include "words.h"
#include "linking.h"
#include "pieces.h"

#define CHECK(field, offset) \
    _Static_assert(offsetof(struct fl_state, field) == offset, "the code above counts on it")
CHECK(phase, PHASE);
CHECK(displaced, DISPLACED);
CHECK(filtered, FILTERED);
CHECK(outstanding, OUTSTANDING);
CHECK(execution, EXECUTION);
CHECK(masks, MASKS);
CHECK(next_area, NEXT_AREA);
CHECK(pid, PID);
CHECK(recorder, RECORDER);
CHECK(size, SIZE);
CHECK(cookie, COOKIE);
CHECK(sample_signal, SAMPLE_SIGNAL);
CHECK(original_handler, ORIGINAL_HANDLER);
CHECK(after[FL_SITE_SIGACTION], AFTER_SIGACTION);
CHECK(after[FL_SITE_SIGMASK], AFTER_SIGMASK);
CHECK(after[FL_SITE_EXECVE], AFTER_EXECVE);
CHECK(after[FL_SITE_PRCTL], AFTER_PRCTL);
CHECK(after[FL_SITE_MLOCKALL], AFTER_MLOCKALL);
CHECK(after[FL_SITE_SYSCALL], AFTER_SYSCALL);
CHECK(after[FL_SITE_STACK], AFTER_STACK);
CHECK(after[FL_SITE_THREAD], AFTER_THREAD);
CHECK(real_start, REAL_START);
CHECK(real_main, REAL_MAIN);
CHECK(real_init, REAL_INIT);
CHECK(records, RECORDS);
CHECK(ring, RING);
CHECK(spare_signal, SPARE_SIGNAL);
CHECK(spare, SPARE);
CHECK(spare_original, SPARE_ORIGINAL);
CHECK(sending, SENDING);
CHECK(executor, EXECUTOR);
CHECK(may_gain_privileges, MAY_GAIN_PRIVILEGES);
CHECK(unannounced, UNANNOUNCED);
CHECK(ahead_ns, AHEAD_NS);
CHECK(followed_ns, FOLLOWED_NS);
CHECK(entry_pointer, ENTRY_POINTER);
CHECK(real_entry, REAL_ENTRY);
CHECK(timers, TIMERS);
CHECK(masking, MASKING);
#define CHECK_SLOT(field, offset) \
    _Static_assert(offsetof(struct fl_slot, field) == offset, "the code above counts on it")
CHECK_SLOT(alternate, 4);
CHECK_SLOT(stack_low, 8);
CHECK_SLOT(stack_high, 16);
CHECK_SLOT(capacity, 24);
CHECK_SLOT(buffer, 32);
CHECK_SLOT(time_ns, 40);
CHECK_SLOT(cpu_ns, 48);
CHECK_SLOT(copied_start, 56);
CHECK_SLOT(copied_size, 64);
CHECK_SLOT(registers, 72);
CHECK_SLOT(vectors, 208);
CHECK_SLOT(thread, 240);
#define CHECK_SIZE(type, size) _Static_assert(sizeof(struct type) == size, "places are multiples")
CHECK_SIZE(fl_slot, FL_SLOT_SIZE);
_Static_assert(FL_SLOT_SIZE == 1 << 8, "the handler shifts by that");
_Static_assert(FL_MOST_SLOTS * FL_SLOT_SIZE <= FL_RECORDS - FL_SLOTS, "they have that much room");
CHECK_SIZE(fl_initializer, 64);
CHECK_SIZE(fl_library, 192);
CHECK_SIZE(fl_open, 256);
CHECK_SIZE(fl_mark, 256);
CHECK_SIZE(fl_timer, FL_TIMER_SIZE);
_Static_assert(offsetof(struct fl_timer, descriptor) == 4, "the code above counts on it");
_Static_assert(offsetof(struct fl_timer, slots) == 8, "the code above counts on it");
_Static_assert(offsetof(struct interrupted, rdx) == 136, "the code above counts on it");
_Static_assert(offsetof(struct interrupted, rax) == 144, "the code above counts on it");
_Static_assert(offsetof(struct interrupted, rip) == 168, "the code above counts on it");
// The kernel keeps the mask behind the field that the C library declares as uc_mcontext.
_Static_assert(offsetof(struct interrupted, mask) == 296, "the code above counts on it");
_Static_assert(sizeof(struct fl_state) <= FL_OWN - FL_STATE, "it has that much room");
_Static_assert(offsetof(struct fl_initializer, state) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, tid) == 12, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, start_ns) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, end_ns) == 24, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, start_cpu_ns) == 32, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, end_cpu_ns) == 40, "the code above counts on it");
_Static_assert(offsetof(struct fl_initializer, library) == 48, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, initializer) == 8, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, array) == 16, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, count) == 24, "the code above counts on it");
_Static_assert(offsetof(struct fl_library, runs) == 152, "the code above counts on it");
_Static_assert(FL_MOST_LIBRARIES * 4 <= FL_SLOTS - FL_CURSORS, "they have that much room");
_Static_assert(FL_MOST_ENTRIES * 8 <= FL_RING - FL_ENTRIES, "they have that much room");
_Static_assert(offsetof(struct fl_mark, words) == 4, "the code above counts on it");
_Static_assert(offsetof(struct fl_mark, text) == 8, "the code above counts on it");

extern const uint8_t fl_begin[], __start_fl_code[], __stop_fl_code[], fl_arrive_end[],
    fl_debug_state[], fl_mark[],
    fl_sigaction[], fl_sigmask[], fl_execve[], fl_prctl[], fl_mlockall[], fl_syscall[],
    fl_stack[], fl_thread[], fl_make_rest[], fl_rest_made[],
    fl_stream_rest[], fl_rest_end[],
    fl_stand_ins_end[], fl_sample_handler[], fl_restorer[],
    fl_main[], fl_entry[], fl_thunks[], fl_boot[], fl_boot_words[], fl_boot_end[], fl_away[], fl_away_words[],
    fl_away_end[], fl_away_waiting[], fl_away_waiting_end[];

static uint32_t place(const uint8_t *symbol) { return (uint32_t)(symbol - fl_begin); }

struct fl_code fl_code_describe(void) {
    return (struct fl_code){
        .code = fl_begin,
        .length = place(__stop_fl_code),
        .boot = {fl_boot, (uint32_t)(fl_boot_end - fl_boot), (uint32_t)(fl_boot_words - fl_boot)},
        .away = {fl_away, (uint32_t)(fl_away_end - fl_away), (uint32_t)(fl_away_words - fl_away)},
        .away_waiting = (uint32_t)(fl_away_waiting - fl_away),
        .away_waiting_end = (uint32_t)(fl_away_waiting_end - fl_away),
        .arrival = place(fl_arrive_end),
        .debug_state = place(fl_debug_state),
        .mark = place(fl_mark),
        .stand_ins = {place(fl_sigaction), place(fl_sigmask), place(fl_execve), place(fl_prctl),
                      place(fl_mlockall), place(fl_syscall), place(fl_stack), place(fl_thread)},
        .stand_ins_end = place(fl_stand_ins_end),
        .sample_handler = place(fl_sample_handler),
        .restorer = place(fl_restorer),
        .rest = place(fl_make_rest),
        .rest_made = place(fl_rest_made),
        .rest_of_stream = place(fl_stream_rest),
        .rest_end = place(fl_rest_end),
        .main = place(fl_main),
        .entry = place(fl_entry),
        .thunks = place(fl_thunks),
    };
}
