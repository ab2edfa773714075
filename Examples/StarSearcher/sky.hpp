// The picture of the sky behind the list.
#pragma once

#include <cstddef>
#include <vector>

#include "checksum.hpp"
#include "noinline.hpp"
#include "star.hpp"

class Sky {
public:
    Sky() : pixels_(static_cast<std::size_t>(width) * height) {}

    /// The Milky Way's glow: noise along the galactic equator.
    NOINLINE void drawMilkyWay();
    /// The first `count` stars, each as a disc with a halo.
    NOINLINE void drawStars(const std::vector<Star> &stars, std::size_t count);
    /// Adds the picture, in 8 bits a channel.
    void addTo(Checksum &checksum) const;

private:
    static constexpr int width = 1920, height = 1080;

    void drawHalo(double centreX, double centreY, double radius, const Colour &colour);

    std::vector<Colour> pixels_;
};
