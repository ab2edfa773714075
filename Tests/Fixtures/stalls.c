// stalls FILE: notes when a thread of the highest priority had no core for more than a millisecond, a line
// each: the beginning (CLOCK_MONOTONIC) and the length, in nanoseconds. The hypervisor had the core, or
// the kernel's own work. Runs until it is killed; without the privilege for such a priority it says so and
// ends.
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static FILE *file;
static const int64_t second = 1000000000, interval = 4000000, stall = 1000000;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

static void *watch(void *argument) {
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET((int)(intptr_t)argument, &core);
    if (pthread_setaffinity_np(pthread_self(), sizeof core, &core) != 0) return NULL;
    for (;;) {
        const int64_t due = now() + interval;
        const struct timespec time = {due / second, due % second};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {}
        const int64_t late = now() - due;
        if (late > stall) {
            fprintf(file, "%lld %lld\n", (long long)due, (long long)late);
            fflush(file);
        }
    }
}

int main(int count, char **words) {
    const struct sched_param highest = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
    file = count == 2 ? fopen(words[1], "we") : NULL;
    if (file == NULL || sched_setscheduler(0, SCHED_FIFO, &highest) != 0) {
        perror("stalls");
        return 1;
    }
    for (long core = 0; core < sysconf(_SC_NPROCESSORS_CONF); core++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, watch, (void *)core) != 0) return 1;
    }
    for (;;) pause();
}
