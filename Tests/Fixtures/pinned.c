// pinned: two threads of different nice values compute and sleep on one core, which both want.
// Truth, for each (first_, second_): tid, and what the kernel's own counters say of its whole life
// but the very end: run and delay (the time for which it waited for its core).
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "fixture.h"

struct worker {
    const char *name;
    int nice;
    pid_t tid;
    int done[2], leave[2];
};

static void *run(void *argument) {
    struct worker *worker = argument;
    worker->tid = syscall(SYS_gettid);
    if (setpriority(PRIO_PROCESS, worker->tid, worker->nice) != 0) fail("setpriority");
    uint64_t state = 88172645463325252;
    for (int round = 0; round < 30; round++) {
        BURN(state, 8 * ROUNDS_PER_MS);
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
    char byte = 0;
    if (write(worker->done[1], &byte, 1) != 1) fail("write");
    if (read(worker->leave[0], &byte, 1) != 1) fail("read");
    return NULL;
}

/// Reads the counters of a worker that waits in its last read: then they are exact.
static void tell(const struct worker *worker) {
    char path[64], name[32], state = 'R';
    long long run = 0, delay = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", worker->tid);
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d %*s %c", &state) != 1) fail(path);
        fclose(file);
        sched_yield();
    }
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", worker->tid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%lld %lld", &run, &delay) != 2) fail(path);
    fclose(file);
    snprintf(name, sizeof name, "%s_tid", worker->name);
    truth_set(name, worker->tid);
    snprintf(name, sizeof name, "%s_run", worker->name);
    truth_set(name, run);
    snprintf(name, sizeof name, "%s_delay", worker->name);
    truth_set(name, delay);
}

int main(void) {
    struct worker workers[2] = {{.name = "first", .nice = 0}, {.name = "second", .nice = 4}};
    pthread_t threads[2];
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) fail("sched_getaffinity");
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed)) {
            CPU_SET(core, &one);
            break;
        }
    if (sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity");
    for (int index = 0; index < 2; index++) {
        if (pipe(workers[index].done) != 0 || pipe(workers[index].leave) != 0) fail("pipe");
        if (pthread_create(&threads[index], NULL, run, &workers[index]) != 0)
            fail("pthread_create");
    }
    char byte = 0;
    for (int index = 0; index < 2; index++) {
        if (read(workers[index].done[0], &byte, 1) != 1) fail("read");
        tell(&workers[index]);
        if (write(workers[index].leave[1], &byte, 1) != 1) fail("write");
    }
    for (int index = 0; index < 2; index++) pthread_join(threads[index], NULL);
    truth_write();
    return 0;
}
