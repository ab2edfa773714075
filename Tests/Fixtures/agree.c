// agree [ROUNDS]: computes in a call tree of known shares, ROUNDS times (default 100, about 1.5 s
// in all), with no threads, recursion or waiting; every function is called from one place.
// Truth: for each function how many thousandths of all its own work is, without its callees'.
#include "fixture.h"

/// Thousandths of the whole, which add up to 1000: the one place where the shares are said.
#define SHARES(SHARE) \
    SHARE(load, 10)   \
    SHARE(open_book, 40) \
    SHARE(read_page, 120) \
    SHARE(split_words, 90) \
    SHARE(fold_case, 60) \
    SHARE(resolve, 20) \
    SHARE(look_up, 80) \
    SHARE(hash_in_look_up, 110) \
    SHARE(insert, 30) \
    SHARE(hash_in_insert, 50) \
    SHARE(grow, 70) \
    SHARE(render, 20) \
    SHARE(measure, 100) \
    SHARE(place, 40) \
    SHARE(paint, 30) \
    SHARE(blend, 130)

/// Rounds of MIX for a thousandth of one round of all.
#define UNIT (ROUNDS_PER_MS * 15 / 1000)

#define SHARE_NAME(name, share) static const uint64_t name##_share = share;
SHARES(SHARE_NAME)

/// A function that does its own work first and then calls others, each with the result so far.
#define NODE(name, ...)                                        \
    FUNCTION static uint64_t name(uint64_t state) {            \
        BURN(state, name##_share * UNIT);                      \
        uint64_t (*const callees[])(uint64_t) = {__VA_ARGS__}; \
        for (size_t index = 0; index < sizeof callees / sizeof *callees; index++) \
            state = callees[index](state);                     \
        /* Something to do after the calls, lest the last become a jump. */ \
        MIX(state);                                            \
        return state;                                          \
    }
#define LEAF(name)                                  \
    FUNCTION static uint64_t name(uint64_t state) { \
        BURN(state, name##_share * UNIT);           \
        return state;                               \
    }

LEAF(open_book)
LEAF(fold_case)
LEAF(hash_in_look_up)
LEAF(hash_in_insert)
LEAF(grow)
LEAF(measure)
LEAF(place)
LEAF(blend)
NODE(split_words, fold_case)
NODE(read_page, split_words)
NODE(load, open_book, read_page)
NODE(look_up, hash_in_look_up)
NODE(insert, hash_in_insert, grow)
NODE(resolve, look_up, insert)
NODE(paint, blend)
NODE(render, measure, place, paint)

int main(int argc, char **argv) {
    uint64_t rounds = count_argument(argc, argv, 1, 100);
    uint64_t checksum = 1;
    for (uint64_t round = 0; round < rounds; round++) checksum = render(resolve(load(checksum)));
    printf("checksum %016llx\n", (unsigned long long)checksum);
#define SHARE_TRUTH(name, share) truth_set(#name, share);
    SHARES(SHARE_TRUTH)
    truth_write();
    return 0;
}
