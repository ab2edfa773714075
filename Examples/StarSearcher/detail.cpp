#include "detail.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace {
constexpr int pixel = 64;
constexpr int narrowest = 240, widest = 960, widthStep = 24;
constexpr int paragraphs = 12;
constexpr int spectrumPoints = 1024;

int advanceOf(unsigned char letter) { return 5 * pixel + letter * 37 % (4 * pixel); }

int kerningOf(unsigned char left, unsigned char right) {
    return static_cast<int>((left * 131u + right * 71u) % 48u) - 24;
}
}  // namespace

void DetailView::layOut(const Star &star) {
    shapeText(describe(star));
    for (int width = narrowest; width <= widest; width += widthStep)
        breaks_.push_back(breakLines(width * pixel));
    plotSpectrum(star.temperature);
}

std::string DetailView::describe(const Star &star) const {
    std::string text;
    for (int paragraph = 1; paragraph <= paragraphs; ++paragraph) {
        char line[512];
        std::snprintf(
            line, sizeof line,
            "%s is a star of spectral class %s with a surface temperature of about %.0f kelvins. "
            "It lies %.2f parsecs from the Sun at galactic longitude %.3f and latitude %.3f and "
            "shines with magnitude %.2f; from ten parsecs it would appear with magnitude %.2f. "
            "Observation %d was made near the meridian under a clear and moonless sky. ",
            star.name.c_str(), star.spectralClass.c_str(), star.temperature, star.distance,
            star.galacticLongitude, star.galacticLatitude, star.magnitude,
            star.absoluteMagnitude, paragraph);
        text += line;
    }
    return text;
}

void DetailView::shapeText(const std::string &text) {
    int width = 0;
    unsigned char before = 0;
    for (const char character : text) {
        const auto letter = static_cast<unsigned char>(character);
        if (letter == ' ') {
            wordWidths_.push_back(width);
            width = 0;
            before = 0;
            continue;
        }
        width += advanceOf(letter) + (before ? kerningOf(before, letter) : 0);
        before = letter;
    }
    if (width > 0) wordWidths_.push_back(width);
}

std::vector<int> DetailView::breakLines(int lineWidth) const {
    constexpr int space = 4 * pixel;
    const int count = static_cast<int>(wordWidths_.size());
    std::vector<double> costs(count + 1, 0);
    std::vector<int> lineEnds(count + 1, count);
    for (int first = count - 1; first >= 0; --first) {
        costs[first] = INFINITY;
        int width = -space;
        for (int last = first; last < count; ++last) {
            width += space + wordWidths_[last];
            if (width > lineWidth && last > first) break;
            const double left = std::fmax(0, lineWidth - width) / pixel;
            const double cost = (last + 1 == count ? 0 : left * left) + costs[last + 1];
            if (cost < costs[first]) {
                costs[first] = cost;
                lineEnds[first] = last + 1;
            }
        }
    }
    std::vector<int> breaks;
    for (int word = 0; word < count; word = lineEnds[word]) breaks.push_back(lineEnds[word]);
    return breaks;
}

void DetailView::plotSpectrum(double temperature) {
    std::vector<double> light(spectrumPoints);
    double most = 1e-300;
    for (int point = 0; point < spectrumPoints; ++point) {
        const double length = 100 + 2900.0 * point / spectrumPoints;
        const double heat = 14387768.8 / (length * temperature);
        light[point] = std::pow(length / 560, -5) / std::expm1(heat);
        most = std::fmax(most, light[point]);
    }
    spectrum_.reserve(spectrumPoints);
    for (const double value : light)
        spectrum_.push_back(static_cast<unsigned char>(255 * value / most));
}

void DetailView::addTo(Checksum &checksum) const {
    for (const auto &lines : breaks_) checksum.add(lines.data(), lines.size() * sizeof(int));
    checksum.add(spectrum_.data(), spectrum_.size());
}
