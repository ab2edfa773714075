// preserved [MS]: keeps values for about MS milliseconds (default 200) where an interruption could
// lose them: in vector and mask registers as wide as the machine has them, in the x87 registers,
// in the rounding modes, and in errno; on the main thread and another one.
// Prints a checksum and how many were lost. Exits with 0 if none was.
#include <fenv.h>
#include <pthread.h>

#include "fixture.h"

/// What each is set to, and must be at the end of every millisecond.
#define ERRNO EXFULL
#define ROUNDING FE_UPWARD

static atomic_ullong checksum;
static atomic_uint lost;

#ifdef __x86_64__
#define WIDE(name, target_name, bytes)                                                     \
    typedef uint64_t name##_vector __attribute__((vector_size(bytes), aligned(bytes)));    \
    /* Two sets of four registers that start alike and must end alike. */                  \
    __attribute__((target(target_name))) FUNCTION static uint64_t name(uint64_t seed,      \
                                                                       uint64_t rounds) {  \
        name##_vector zero = {0}, one[4], two[4];                                          \
        for (int index = 0; index < 4; index++)                                            \
            one[index] = two[index] = zero + seed + (uint64_t)index;                       \
        for (uint64_t round = 0; round < rounds; round++) {                                \
            _Pragma("GCC unroll 4") for (int index = 0; index < 4; index++) {              \
                MIX_LANES(one[index]);                                                     \
                MIX_LANES(two[index]);                                                     \
            }                                                                              \
        }                                                                                  \
        uint64_t sum = 0;                                                                  \
        for (int index = 0; index < 4; index++) {                                          \
            if (memcmp(&one[index], &two[index], bytes) != 0) atomic_fetch_add(&lost, 1);  \
            for (int lane = 0; lane < bytes / 8; lane++) sum = sum * 31 + one[index][lane]; \
        }                                                                                  \
        return sum;                                                                        \
    }
/// As MIX, in a vector register.
#define MIX_LANES(state)                        \
    do {                                        \
        (state) ^= (state) << 13;               \
        (state) ^= (state) >> 7;                \
        (state) ^= (state) << 17;               \
        __asm__ volatile("" : "+v"(state));     \
    } while (0)

WIDE(mix_128, "sse2", 16)
WIDE(mix_256, "avx2", 32)
WIDE(mix_512, "avx512f,avx512bw", 64)

/// Keeps a pattern in three mask registers and in the x87 stack while a loop runs.
__attribute__((target("avx512f,avx512bw"))) FUNCTION static void keep_masks(uint64_t rounds) {
    const uint64_t pattern = 0x0123456789abcdef;
    uint64_t first = 0, second = 0, third = 0;
    __asm__ volatile(
        "kmovq %4, %%k1\n knotq %%k1, %%k5\n kmovq %4, %%k7\n"
        "1: dec %3\n jnz 1b\n"
        "kmovq %%k1, %0\n kmovq %%k5, %1\n kmovq %%k7, %2\n"
        : "=&r"(first), "=&r"(second), "=&r"(third), "+&r"(rounds)
        : "r"(pattern)
        : "k1", "k5", "k7", "cc");
    if (first != pattern || second != ~pattern || third != pattern) atomic_fetch_add(&lost, 1);
}

static uint64_t keep_vectors(uint64_t seed, uint64_t rounds) {
    if (__builtin_cpu_supports("avx512bw")) {
        keep_masks(rounds);
        return mix_512(seed, rounds);
    }
    return __builtin_cpu_supports("avx2") ? mix_256(seed, rounds) : mix_128(seed, rounds);
}

/// Keeps two numbers on the x87 stack.
static void keep_x87(uint64_t rounds) {
    double first = 0, second = 0;
    __asm__ volatile(
        "fldpi\n fldl2e\n"
        "1: dec %2\n jnz 1b\n"
        "fstpl %0\n fstpl %1\n"
        : "=m"(first), "=m"(second), "+r"(rounds)
        :
        : "cc", "st", "st(1)");
    if (first < 1.44 || first > 1.45 || second < 3.14 || second > 3.15) atomic_fetch_add(&lost, 1);
}
#else
static uint64_t keep_vectors(uint64_t seed, uint64_t rounds) {
    BURN(seed, rounds);
    return seed;
}
static void keep_x87(uint64_t rounds) { (void)rounds; }
#endif

/// 1 / 3, which is rounded.
static double rounded(void) {
    volatile double one = 1, three = 3;
    return one / three;
}

static void *keep_all(void *milliseconds) {
    uint64_t sum = 0;
    if (fesetround(ROUNDING) != 0) fail("fesetround");
    double third = rounded();
    errno = ERRNO;
    for (uint64_t time = 1; time <= (uintptr_t)milliseconds; time++) {
        sum = sum * 31 + keep_vectors(time, ROUNDS_PER_MS / 5);
        keep_x87(ROUNDS_PER_MS / 2);
        if (errno != ERRNO || fegetround() != ROUNDING || rounded() != third)
            atomic_fetch_add(&lost, 1);
    }
    atomic_fetch_add(&checksum, sum);
    return NULL;
}

int main(int argc, char **argv) {
    uint64_t milliseconds = count_argument(argc, argv, 1, 200);
    pthread_t thread;
    errno = pthread_create(&thread, NULL, keep_all, (void *)(uintptr_t)milliseconds);
    if (errno != 0) fail("pthread_create");
    keep_all((void *)(uintptr_t)milliseconds);
    pthread_join(thread, NULL);
    printf("checksum %016llx lost %u\n", atomic_load(&checksum), atomic_load(&lost));
    return atomic_load(&lost) == 0 ? 0 : 1;
}
