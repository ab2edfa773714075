#include "star.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace {
constexpr double degree = M_PI / 180;

/// `hh mm ss.s` or `±dd mm ss.s` in units of its first part; missing parts count as 0.
NOINLINE double parseSexagesimal(const std::string &text) {
    const char *position = text.c_str();
    const bool negative = *position == '-';
    if (*position == '-' || *position == '+') ++position;
    double value = 0, scale = 1;
    for (int part = 0; part < 3; ++part) {
        char *end = nullptr;
        value += std::strtod(position, &end) * scale;
        position = end;
        scale /= 60;
    }
    return negative ? -value : value;
}

/// Surface temperature by spectral class, interpolated inside the class by its digit.
NOINLINE double temperatureOf(const std::string &spectralClass) {
    static constexpr char classes[] = "OBAFGKM";
    static constexpr double hottest[] = {42000, 26000, 9800, 7300, 5950, 5250, 3850, 2400};
    const char *found = classes;
    while (*found && *found != (spectralClass.empty() ? '\0' : spectralClass[0])) ++found;
    if (!*found) return 5800;
    const auto index = found - classes;
    const double digit =
        spectralClass.size() > 1 ? std::clamp(spectralClass[1] - '0', 0, 9) : 5;
    return hottest[index] + (hottest[index + 1] - hottest[index]) * digit / 10;
}

double bell(double x, double centre, double below, double above) {
    const double distance = (x - centre) / (x < centre ? below : above);
    return std::exp(-0.5 * distance * distance);
}

/// The colour of a black body: Planck's law seen through the CIE 1931 observer, in the fit by
/// Wyman, Sloan and Shirley ("Simple Analytic Approximations to the CIE XYZ Color Matching
/// Functions", 2013), wavelengths in nanometres.
NOINLINE Colour colourOf(double temperature) {
    constexpr double step = 6.3;
    double x = 0, y = 0, z = 0;
    for (double length = 380; length <= 780; length += step) {
        const double light =
            std::pow(length / 560, -5) / (std::exp(14387768.8 / (length * temperature)) - 1);
        x += light * (1.056 * bell(length, 599.8, 37.9, 31.0) +
                      0.362 * bell(length, 442.0, 16.0, 26.7) -
                      0.065 * bell(length, 501.1, 20.4, 26.2));
        y += light * (0.821 * bell(length, 568.8, 46.9, 40.5) +
                      0.286 * bell(length, 530.9, 16.3, 31.1));
        z += light * (1.217 * bell(length, 437.0, 11.8, 36.0) +
                      0.681 * bell(length, 459.0, 26.0, 13.8));
    }
    const double red = std::max(0.0, 3.2406 * x - 1.5372 * y - 0.4986 * z);
    const double green = std::max(0.0, -0.9689 * x + 1.8758 * y + 0.0415 * z);
    const double blue = std::max(0.0, 0.0557 * x - 0.2040 * y + 1.0570 * z);
    const double brightest = std::max({red, green, blue, 1e-30});
    return {static_cast<float>(red / brightest), static_cast<float>(green / brightest),
            static_cast<float>(blue / brightest)};
}

/// Equatorial to galactic coordinates (J2000 pole).
NOINLINE void computeGalactic(Star &star) {
    constexpr double poleAscension = 192.85948 * degree, poleDeclination = 27.12825 * degree;
    constexpr double node = 122.93192 * degree;
    const double hour = star.rightAscension - poleAscension;
    const double height = std::sin(poleDeclination) * std::sin(star.declination) +
                          std::cos(poleDeclination) * std::cos(star.declination) * std::cos(hour);
    const double across = std::cos(star.declination) * std::sin(hour);
    const double along =
        std::cos(poleDeclination) * std::sin(star.declination) -
        std::sin(poleDeclination) * std::cos(star.declination) * std::cos(hour);
    star.galacticLatitude = std::asin(std::clamp(height, -1.0, 1.0));
    star.galacticLongitude = node - std::atan2(across, along);
}
}  // namespace

Star convertRow(const StarRow &row) {
    Star star;
    star.id = row.id;
    star.name = row.name;
    star.spectralClass = row.spectralClass;
    star.rightAscension = parseSexagesimal(row.rightAscension) * 15 * degree;
    star.declination = parseSexagesimal(row.declination) * degree;
    star.magnitude = row.magnitude;
    star.distance = 1000 / std::max(row.parallax, 0.01);
    star.absoluteMagnitude = row.magnitude - 5 * std::log10(star.distance / 10);
    star.temperature = temperatureOf(row.spectralClass);
    star.colour = colourOf(star.temperature);
    computeGalactic(star);
    return star;
}
