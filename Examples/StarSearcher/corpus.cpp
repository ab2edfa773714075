#include "corpus.hpp"

#include <cstdint>

std::string typicalLogLines(int count) {
    static constexpr const char *subjects[] = {"catalogue", "telescope", "detail view", "search",
                                               "sky map",   "network",   "settings",    "cache"};
    static constexpr const char *events[] = {
        "opened",   "could not be read", "was updated from the server", "took longer than expected",
        "finished", "was cancelled",     "started in the background",   "has a new version"};
    static constexpr const char *details[] = {
        "star HIP ", "row ", "request ", "right ascension ", "magnitude ", "error code "};
    std::string text;
    std::uint32_t state = 0x5EA2C4;
    const auto random = [&state](std::uint32_t below) {
        state = state * 1664525 + 1013904223;
        return (state >> 8) % below;
    };
    for (int line = 0; line < count; ++line) {
        text += subjects[random(8)];
        text += ' ';
        text += events[random(8)];
        text += ": ";
        text += details[random(6)];
        text += std::to_string(random(100'000));
        text += '\n';
    }
    return text;
}
