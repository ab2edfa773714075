// scopes: signposts of C++ that end with their scope: by its end, by return, by an exception, early,
// and moved to another one. Ends with status 0 when its own results are right.
#include <cstdint>
#include <firstlight/signpost.h>
#include <stdexcept>
#include <utility>

#include "ring.h"

namespace {
constexpr firstlight::Signposter signposter{"org.firstlight.fixture", "scopes"};

int leaveByReturn() {
    firstlight::IntervalSignpost interval{signposter, "return"};
    return 1;
}

void leaveByException() {
    firstlight::IntervalSignpost interval{signposter, "exception"};
    throw std::runtime_error("leaves");
}

firstlight::IntervalSignpost begin() { return {signposter, "moved"}; }
}  // namespace

int main() {
    ring_join();
    {
        firstlight::IntervalSignpost interval{signposter, "scope"};
        signposter.emitEvent("within");
    }
    leaveByReturn();
    try {
        leaveByException();
    } catch (const std::runtime_error &) {
    }
    {
        auto interval = begin();
        auto other = std::move(interval);
        other.end();
        other.end();
        signposter.emitEvent("behind");
    }
    const int sum = signposter.withIntervalSignpost("task", [] { return 40; }) +
                    signposter.withIntervalSignpost("other task", leaveByReturn);
    const auto state = signposter.beginInterval("state");
    signposter.endInterval("state", state);
    signposter.beginInterval("identifier", std::uint64_t{9});
    signposter.endInterval("identifier", std::uint64_t{9});
    return sum == 41 ? 0 : 1;
}
