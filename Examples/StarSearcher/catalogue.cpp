#include "catalogue.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "database.hpp"
#include "truth.hpp"

void StarCatalogue::loadStars(std::size_t visible) {
#ifdef MENDED
    // Twenty rows cost less than a thread: no hand-over, and nobody to wait for.
    readBrightestStars(visible);
#else
    (void)visible;
    std::thread worker(&StarCatalogue::loadInBackground, this);
    {
        Stopwatch watch(Measure::workerWait, CLOCK_MONOTONIC);
        finished_.wait();
    }
    worker.join();
    if (failure_) std::rethrow_exception(failure_);
#endif
}

void StarCatalogue::loadInBackground() noexcept {
    Stopwatch watch(Measure::workerCPU, CLOCK_THREAD_CPUTIME_ID);
    // "Reading is background work", so it yields to everything else, although the most important
    // thread waits for it. Not by as much as can be: on a busy machine the first frame would take minutes.
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
    try {
        readEveryStar();
        sortByBrightness();
    } catch (...) {
        failure_ = std::current_exception();
    }
    finished_.signal();
}

void StarCatalogue::readEveryStar() {
    Database database(path_);
    database.query("");
    StarRow row;
    while (database.next(row)) stars_.push_back(convertRow(row));
}

void StarCatalogue::readBrightestStars(std::size_t count) {
    Database database(path_);
    database.query("ORDER BY magnitude, id LIMIT " + std::to_string(count));
    StarRow row;
    while (database.next(row)) stars_.push_back(convertRow(row));
}

void StarCatalogue::sortByBrightness() {
    std::sort(stars_.begin(), stars_.end(), [](const Star &left, const Star &right) {
        return left.magnitude != right.magnitude ? left.magnitude < right.magnitude
                                                 : left.id < right.id;
    });
}
