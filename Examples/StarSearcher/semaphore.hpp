// A counting semaphore; C++17 has none.
#pragma once

#include <semaphore.h>

#include "noinline.hpp"

class Semaphore {
public:
    Semaphore();
    ~Semaphore();
    Semaphore(const Semaphore &) = delete;
    Semaphore &operator=(const Semaphore &) = delete;

    /// Blocks until `signal` was called once more than `wait` returned.
    NOINLINE void wait();
    NOINLINE void signal();

private:
    sem_t semaphore_;
};
