// The first frame: the sky, the list of the brightest stars, and the selected star's details.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "detail.hpp"
#include "noinline.hpp"
#include "sky.hpp"
#include "star.hpp"

/// How many stars the list shows; the first of them is selected.
constexpr std::size_t visibleStars = 20;

struct Frame {
    std::size_t stars = 0;
    std::uint32_t checksum = 0;
};

class FrameBuilder {
public:
    /// Lays out and draws everything that the first frame shows. `stars` is sorted by brightness.
    NOINLINE Frame buildFirstFrame(const std::vector<Star> &stars);

private:
    /// Prepares the detail views that are, or may be, shown.
    NOINLINE void prewarmDetailViews(const std::vector<Star> &stars);
    /// The list's rows as text.
    NOINLINE std::string layOutList(const std::vector<Star> &stars, std::size_t count) const;

    Sky sky_;
    std::vector<DetailView> details_;
};
