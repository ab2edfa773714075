#include "semaphore.hpp"

#include <cerrno>

Semaphore::Semaphore() { sem_init(&semaphore_, 0, 0); }

Semaphore::~Semaphore() { sem_destroy(&semaphore_); }

void Semaphore::wait() {
    while (sem_wait(&semaphore_) == -1 && errno == EINTR) {
    }
}

void Semaphore::signal() { sem_post(&semaphore_); }
