// percpu [N]: four threads add 1 to a counter of their CPU, N times each (default 200000), in
// restartable sequences (rseq) without locks or atomic instructions: a sequence that was left in
// the middle and not begun anew would lose what another thread added.
// Prints the sum. Exits with 0 if it is right, and says so where the C library has no rseq.
#include <pthread.h>
#include <sys/rseq.h>

#include "fixture.h"

#define THREADS 4
#define CPUS 1024

static struct {
    uint64_t value;
    char padding[56];
} counters[CPUS];
static uint64_t additions;

#ifdef __x86_64__

static volatile struct rseq *area(void) {
    return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/// Adds 1 to the counter of CPU `cpu`; 0 if this is not the CPU or the sequence was interrupted.
/// It dawdles between load and store, so that most interruptions hit it there. See the kernel's
/// tools/testing/selftests/rseq/rseq-x86.h.
static int add_one(uint64_t *counter, uint32_t cpu) {
    volatile struct rseq *mine = area();
    __asm__ goto(
        ".pushsection __rseq_cs, \"aw\"\n"
        ".balign 32\n"
        "3: .long 0, 0\n"
        ".quad 1f, 2f - 1f, 4f\n"
        ".popsection\n"
        "lea 3b(%%rip), %%rax\n"
        "mov %%rax, %[descriptor]\n"
        "1: cmp %[cpu], %[current]\n"
        "jnz %l[aborted]\n"
        "mov %[counter], %%rax\n"
        "mov $1000, %%ecx\n"
        "5: dec %%ecx\n"
        "jnz 5b\n"
        "inc %%rax\n"
        "mov %%rax, %[counter]\n"
        "2:\n"
        ".pushsection __rseq_failure, \"ax\"\n"
        ".byte 0x0f, 0xb9, 0x3d\n"
        ".long 0x53053053\n"  // RSEQ_SIG, with which the C library registered
        "4: jmp %l[aborted]\n"
        ".popsection\n"
        :
        : [cpu] "r"(cpu), [current] "m"(mine->cpu_id), [descriptor] "m"(mine->rseq_cs),
          [counter] "m"(*counter)
        : "memory", "cc", "rax", "rcx"
        : aborted);
    return 1;
aborted:
    return 0;
}

static int has_sequences(void) { return __rseq_size > 0 && (int32_t)area()->cpu_id >= 0; }

static void *thread_main(void *unused) {
    (void)unused;
    for (uint64_t left = additions; left > 0; left--) {
        uint32_t cpu;
        do {
            cpu = area()->cpu_id_start;
            if (cpu >= CPUS) exit(125);
        } while (!add_one(&counters[cpu].value, cpu));
    }
    return NULL;
}

#else
static int has_sequences(void) { return 0; }
static void *thread_main(void *unused) { return unused; }
#endif

int main(int argc, char **argv) {
    additions = count_argument(argc, argv, 1, 200000);
    if (!has_sequences()) {
        printf("no restartable sequences\n");
        return 0;
    }
    pthread_t threads[THREADS];
    for (int index = 0; index < THREADS; index++) {
        errno = pthread_create(&threads[index], NULL, thread_main, NULL);
        if (errno != 0) fail("pthread_create");
    }
    for (int index = 0; index < THREADS; index++) pthread_join(threads[index], NULL);
    uint64_t sum = 0;
    for (int cpu = 0; cpu < CPUS; cpu++) sum += counters[cpu].value;
    printf("sum %llu of %llu\n", (unsigned long long)sum,
           (unsigned long long)(THREADS * additions));
    return sum == THREADS * additions ? 0 : 1;
}
