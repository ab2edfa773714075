// deadlock: two threads, each of which holds a lock that the other wants.
// Truth, written before: main_thread and second_thread, their ids; first_lock and second_lock, the
// addresses of the locks that they wait for.
#include "fixture.h"

#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold_one;

FUNCTION void take_second(void) {
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both_hold_one);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
}

FUNCTION void take_first(void) {
    pthread_mutex_lock(&second);
    pthread_setname_np(pthread_self(), "other");
    truth_set("second_thread", gettid());
    truth_write();
    pthread_barrier_wait(&both_hold_one);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
}

static void *other(void *unused) {
    take_first();
    return unused;
}

int main(void) {
    pthread_t thread;
    truth_set("main_thread", gettid());
    truth_set("first_lock", (int64_t)(uintptr_t)&first);
    truth_set("second_lock", (int64_t)(uintptr_t)&second);
    pthread_barrier_init(&both_hold_one, NULL, 2);
    if (pthread_create(&thread, NULL, other, NULL) != 0) fail("pthread_create");
    take_second();
    pthread_join(thread, NULL);
    return 0;
}
