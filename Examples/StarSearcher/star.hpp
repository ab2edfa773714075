// A star as the catalogue stores it, and as the program uses it.
#pragma once

#include <cstdint>
#include <string>

#include "noinline.hpp"

/// One row of the database, as text and catalogue units.
struct StarRow {
    std::int64_t id = 0;
    std::string name;
    std::string rightAscension;  ///< `hh mm ss.ss`, J2000
    std::string declination;     ///< `±dd mm ss.s`, J2000
    double parallax = 0;         ///< milliseconds of arc
    double magnitude = 0;        ///< apparent, visual
    std::string spectralClass;   ///< e.g. `G2V`
};

/// Linear light, each part from 0 to 1.
struct Colour {
    float red = 0, green = 0, blue = 0;
};

/// Angles in radians, distances in parsecs, temperatures in kelvins.
struct Star {
    std::int64_t id = 0;
    std::string name;
    std::string spectralClass;
    double rightAscension = 0, declination = 0;
    double galacticLongitude = 0, galacticLatitude = 0;
    double magnitude = 0, absoluteMagnitude = 0;
    double distance = 0;
    double temperature = 0;
    Colour colour;
};

/// Computes everything that the program wants to know of a star from its row.
NOINLINE Star convertRow(const StarRow &row);
