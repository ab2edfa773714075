// unexecutable FILE: a thread waits on a mutex, and main tries to execute FILE, which the kernel
// refuses. Then it prints `refused`, waits for the end of its input, prints `over`, and exits with
// status 3.
#include <pthread.h>

#include "fixture.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_main(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv) {
    if (argc < 2) return 125;
    pthread_mutex_lock(&mutex);
    pthread_t thread;
    errno = pthread_create(&thread, NULL, wait_for_main, NULL);
    if (errno != 0) fail("pthread_create");
    execv(argv[1], argv + 1);
    if (errno != ENOEXEC) fail(argv[1]);
    puts("refused");
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {}
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    puts("over");
    return 3;
}
