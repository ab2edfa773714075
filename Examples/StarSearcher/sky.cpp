#include "sky.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace {
constexpr int octaves = 9;

double lattice(int x, int y) {
    std::uint32_t hash = static_cast<std::uint32_t>(x) * 374761393u +
                         static_cast<std::uint32_t>(y) * 668265263u;
    hash = (hash ^ (hash >> 13)) * 1274126177u;
    return (hash ^ (hash >> 16)) / 4294967296.0;
}

double smooth(double t) { return t * t * (3 - 2 * t); }

/// Value noise in 0 … 1.
double noise(double x, double y) {
    const double left = std::floor(x), top = std::floor(y);
    const int column = static_cast<int>(left), row = static_cast<int>(top);
    const double across = smooth(x - left), down = smooth(y - top);
    const double above =
        lattice(column, row) + (lattice(column + 1, row) - lattice(column, row)) * across;
    const double below = lattice(column, row + 1) +
                         (lattice(column + 1, row + 1) - lattice(column, row + 1)) * across;
    return above + (below - above) * down;
}

/// Noise of several scales, the finer the weaker.
NOINLINE double cloud(double x, double y) {
    double sum = 0, weight = 0.5;
    for (int octave = 0; octave < octaves; ++octave) {
        sum += weight * noise(x, y);
        x = x * 2.03 + 17;
        y = y * 2.03 + 31;
        weight *= 0.5;
    }
    return sum;
}

std::uint8_t byteOf(float light) {
    return static_cast<std::uint8_t>(std::clamp(light, 0.0f, 1.0f) * 255.0f);
}
}  // namespace

void Sky::drawMilkyWay() {
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const double along = 8.0 * x / width, across = 8.0 * y / width;
            const double warp = cloud(along, across);
            const double dust = cloud(along + 2 * warp, across + 2 * warp + 9);
            const double latitude = (2.0 * y / height - 1) + 0.4 * (warp - 0.5);
            const auto glow = static_cast<float>(std::exp(-6 * latitude * latitude) * dust);
            pixels_[static_cast<std::size_t>(y) * width + x] = {0.55f * glow, 0.5f * glow,
                                                                0.6f * glow};
        }
    }
}

void Sky::drawStars(const std::vector<Star> &stars, std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
        const Star &star = stars[index];
        const double turn = std::fmod(star.galacticLongitude / (2 * M_PI) + 2, 1.0);
        const double x = turn * width;
        const double y = (0.5 - star.galacticLatitude / M_PI) * height;
        drawHalo(x, y, std::clamp(9 - star.magnitude * 2, 2.0, 14.0), star.colour);
    }
}

void Sky::drawHalo(double centreX, double centreY, double radius, const Colour &colour) {
    const int left = std::max(0, static_cast<int>(centreX - 3 * radius));
    const int right = std::min(width - 1, static_cast<int>(centreX + 3 * radius));
    const int top = std::max(0, static_cast<int>(centreY - 3 * radius));
    const int bottom = std::min(height - 1, static_cast<int>(centreY + 3 * radius));
    for (int y = top; y <= bottom; ++y) {
        for (int x = left; x <= right; ++x) {
            const double distance = std::hypot(x - centreX, y - centreY) / radius;
            const auto light = static_cast<float>(std::pow(1 + distance * distance, -2.5));
            Colour &pixel = pixels_[static_cast<std::size_t>(y) * width + x];
            pixel.red += colour.red * light;
            pixel.green += colour.green * light;
            pixel.blue += colour.blue * light;
        }
    }
}

void Sky::addTo(Checksum &checksum) const {
    for (const Colour &pixel : pixels_) {
        const std::uint8_t bytes[] = {byteOf(pixel.red), byteOf(pixel.green), byteOf(pixel.blue)};
        checksum.add(bytes, sizeof bytes);
    }
}
