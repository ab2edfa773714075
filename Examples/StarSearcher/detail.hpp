// Everything that the program shows of one star.
#pragma once

#include <string>
#include <vector>

#include "checksum.hpp"
#include "noinline.hpp"
#include "star.hpp"

class DetailView {
public:
    /// Writes, shapes and breaks the text for every width that the window may have, and plots the
    /// spectrum.
    NOINLINE void layOut(const Star &star);
    void addTo(Checksum &checksum) const;

private:
    NOINLINE std::string describe(const Star &star) const;
    /// The width of each word, in 1/64 pixel, from its letters and the kerning between them.
    NOINLINE void shapeText(const std::string &text);
    /// The last word of each line, such that the squares of the space left over are least in sum
    /// (D. E. Knuth, M. F. Plass, "Breaking Paragraphs into Lines", 1981, without stretching).
    NOINLINE std::vector<int> breakLines(int lineWidth) const;
    /// The star's light at each wavelength, 0 … 255.
    NOINLINE void plotSpectrum(double temperature);

    std::vector<int> wordWidths_;
    std::vector<std::vector<int>> breaks_;
    std::vector<unsigned char> spectrum_;
};
