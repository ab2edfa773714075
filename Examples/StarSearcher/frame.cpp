#include "frame.hpp"

#include <algorithm>
#include <cstdio>

#include "checksum.hpp"
#include "truth.hpp"

namespace {
#ifdef MENDED
/// Only the selected star's details are visible; the others can be laid out when asked for.
constexpr std::size_t viewsToPrewarm = 1;
#else
/// "So that the details open at once": for many more stars than the window shows.
constexpr std::size_t viewsToPrewarm = 775;
#endif
}  // namespace

Frame FrameBuilder::buildFirstFrame(const std::vector<Star> &stars) {
    Frame frame;
    frame.stars = std::min(visibleStars, stars.size());
    {
        Stopwatch watch(Measure::sky, CLOCK_THREAD_CPUTIME_ID);
        sky_.drawMilkyWay();
        sky_.drawStars(stars, frame.stars);
    }
    const std::string list = layOutList(stars, frame.stars);
    {
        Stopwatch watch(Measure::prewarm, CLOCK_THREAD_CPUTIME_ID);
        prewarmDetailViews(stars);
    }
    Checksum checksum;
    checksum.add(list.data(), list.size());
    sky_.addTo(checksum);
    if (!details_.empty()) details_.front().addTo(checksum);
    frame.checksum = checksum.value();
    return frame;
}

void FrameBuilder::prewarmDetailViews(const std::vector<Star> &stars) {
    const std::size_t count = std::min(viewsToPrewarm, stars.size());
    details_.reserve(count);
    for (std::size_t index = 0; index < count; ++index) {
        details_.emplace_back();
        details_.back().layOut(stars[index]);
    }
}

std::string FrameBuilder::layOutList(const std::vector<Star> &stars, std::size_t count) const {
    std::string list;
    for (std::size_t index = 0; index < count; ++index) {
        char row[128];
        const Star &star = stars[index];
        std::snprintf(row, sizeof row, "%-24s %-6s %6.2f %9.1f pc\n", star.name.c_str(),
                      star.spectralClass.c_str(), star.magnitude, star.distance);
        list += row;
    }
    return list;
}
