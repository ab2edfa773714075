// stages MILLISECONDS [FILE]: eight stages, one after the other, each of which computes for that long by
// the clock. With FILE, says there that the seventh begins. The truth: CPU time of each stage, and how long
// before the end it began.
#include "fixture.h"

static uint64_t state = 88172645463325252ULL;
static volatile uint64_t kept;

static int64_t compute(int64_t milliseconds) {
    const int64_t start = nanoseconds(CLOCK_MONOTONIC);
    const int64_t before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    while (nanoseconds(CLOCK_MONOTONIC) < start + milliseconds * 1000000) BURN(state, 1000);
    return nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before;
}

#define STAGE(number)                                     \
    static FUNCTION int64_t stage##number(int64_t time) { \
        const int64_t took = compute(time);               \
        kept = state + number;                            \
        return took;                                      \
    }
STAGE(0)
STAGE(1)
STAGE(2)
STAGE(3)
STAGE(4)
STAGE(5)
STAGE(6)
STAGE(7)

int main(int argc, char **argv) {
    static int64_t (*const stages[])(int64_t) = {stage0, stage1, stage2, stage3,
                                                 stage4, stage5, stage6, stage7};
    const int64_t time = (int64_t)count_argument(argc, argv, 1, 100);
    char name[32];
    int64_t begun[8];
    for (int stage = 0; stage < 8; stage++) {
        if (stage == 6 && argc > 2) {
            const int file = open(argv[2], O_WRONLY | O_CLOEXEC);
            if (file < 0 || write(file, "\n", 1) != 1) fail(argv[2]);
            close(file);
        }
        begun[stage] = nanoseconds(CLOCK_MONOTONIC);
        snprintf(name, sizeof name, "stage%d", stage);
        truth_set(name, stages[stage](time));
    }
    const int64_t end = nanoseconds(CLOCK_MONOTONIC);
    for (int stage = 0; stage < 8; stage++) {
        snprintf(name, sizeof name, "before%d", stage);
        truth_set(name, end - begun[stage]);
    }
    truth_write();
    return 0;
}
