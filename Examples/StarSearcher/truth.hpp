// What the program itself knows of its launch: two clock reads around each stretch of interest,
// always on. A test compares them with what a profiler claims.
#pragma once

#include <ctime>

/// The stretches that are measured; their names in the file are in truth.cpp.
enum class Measure { loggerInitialiser, workerWait, workerCPU, sky, prewarm, main, total, count };

/// Nanoseconds of `clock`; 0 if it cannot be read.
inline long long nanoseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// Keeps a measured stretch, in nanoseconds.
void recordTruth(Measure measure, long long nanoseconds);

/// Measures its own lifetime: `CLOCK_THREAD_CPUTIME_ID` for computing, `CLOCK_MONOTONIC` for
/// waiting.
class Stopwatch {
public:
    Stopwatch(Measure measure, clockid_t clock)
        : measure_(measure), clock_(clock), start_(nanoseconds(clock)) {}
    ~Stopwatch() { recordTruth(measure_, nanoseconds(clock_) - start_); }
    Stopwatch(const Stopwatch &) = delete;
    Stopwatch &operator=(const Stopwatch &) = delete;

private:
    Measure measure_;
    clockid_t clock_;
    long long start_;
};

/// Writes one `name nanoseconds` line for each stretch to the file that the environment variable
/// STARSEARCHER_TRUTH names; does nothing without it. False if the file cannot be written.
bool writeTruth();
