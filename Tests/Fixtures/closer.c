// closer: closes every descriptor from 3 to 1023 at the start of main, as daemons do, computes for
// ~200 ms on two threads, and prints how many there were to close, which number the next file
// gets, and a checksum.
#include <pthread.h>

#include "fixture.h"

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

static void *thread_main(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)compute(2, 200);
}

int main(void) {
    int closed = 0;
    for (int descriptor = 3; descriptor < 1024; descriptor++) closed += close(descriptor) == 0;
    pthread_t thread;
    errno = pthread_create(&thread, NULL, thread_main, NULL);
    if (errno != 0) fail("pthread_create");
    uint64_t checksum = compute(1, 200);
    void *result;
    pthread_join(thread, &result);
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    printf("closed %d next %d checksum %016llx\n", closed, next,
           (unsigned long long)(checksum + (uintptr_t)result));
    return 0;
}
