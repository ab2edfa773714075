// Star Searcher: launches, shows its first frame (as one line of text), and ends.
//
//   starsearcher [--log]     --log also logs that the first frame was shown, to stderr

#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "app.hpp"
#include "logger.hpp"
#include "truth.hpp"

namespace {
/// The database lies beside the program. Empty if /proc cannot be read.
std::string databasePath() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) return "";
    const std::string program(path, static_cast<std::size_t>(length));
    return program.substr(0, program.rfind('/') + 1) + "stars.sqlite";
}

/// The launch begins with the logger's initialiser, where that does anything.
void recordTotal(long long mainStart) {
    const SuperfastLogger &logger = SuperfastLogger::shared();
    const long long start = logger.initialiserStart() ? logger.initialiserStart() : mainStart;
    const long long now = nanoseconds(CLOCK_MONOTONIC);
    recordTruth(Measure::loggerInitialiser, logger.initialiserCPU());
    recordTruth(Measure::main, now - mainStart);
    recordTruth(Measure::total, now - start);
}

void logAndShow(const std::string &message) {
    SuperfastLogger::shared().log(message);
    SuperfastLogger::shared().flush(STDERR_FILENO);
}
}  // namespace

int main(int argc, char **argv) {
    const long long start = nanoseconds(CLOCK_MONOTONIC);
    try {
        AppDelegate(databasePath()).didFinishLaunching();
    } catch (const std::exception &error) {
        logAndShow(error.what());
        return 1;
    }
    recordTotal(start);
    if (argc > 1 && std::strcmp(argv[1], "--log") == 0) logAndShow("the first frame was shown");
    if (!writeTruth()) {
        std::perror("starsearcher: STARSEARCHER_TRUTH");
        return 1;
    }
    return 0;
}
