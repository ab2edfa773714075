// inflight [MS]: throws, rethrows and catches for about MS milliseconds of CPU time (default 600),
// through functions whose variables have destructors, and through a library's sort. Prints how many were
// caught.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

#define FUNCTION __attribute__((noinline))

static volatile long sink;

struct Cleanup {
    std::string text;
    FUNCTION ~Cleanup() { sink = sink + (long)text.size(); }
};

[[noreturn]] FUNCTION static void fail(int depth) {
    throw std::runtime_error("from depth " + std::to_string(depth));
}

FUNCTION static long descend(int depth, int deepest) {
    if (deepest < 0) return depth;
    Cleanup cleanup{std::string(20, 'a')};
    if (depth == deepest) fail(depth);
    const long result = descend(depth + 1, deepest);
    return result + (long)cleanup.text.size();
}

/// Catches what comes from below, and throws it again.
FUNCTION static long pass_on(int deepest) {
    Cleanup cleanup{"on the way"};
    try {
        return descend(0, deepest);
    } catch (const std::exception &) {
        sink = sink + 1;
        throw;
    }
}

FUNCTION static bool caught(int deepest) {
    std::vector<int> numbers = {3, 1, 2};
    try {
        std::sort(numbers.begin(), numbers.end(), [&](int one, int other) {
            if (one == 1) pass_on(deepest);
            return one < other;
        });
    } catch (const std::runtime_error &error) {
        return error.what()[0] == 'f';
    }
    return false;
}

int main(int argc, char **argv) {
    const std::clock_t limit = CLOCKS_PER_SEC / 1000 * (argc > 1 ? std::atoi(argv[1]) : 600);
    long count = 0;
    while (std::clock() < limit)
        for (int deepest = 0; deepest < 12; deepest++) count += caught(deepest);
    std::printf("caught %ld\n", count);
    return count > 0 ? 0 : 1;
}
