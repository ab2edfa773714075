// "The fastest logger": it compresses each line with a dictionary and keeps it in memory.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noinline.hpp"

class SuperfastLogger {
public:
    static SuperfastLogger &shared();

    /// Keeps a line with the time of day.
    void log(std::string_view message);
    /// Writes the kept lines to `descriptor` and forgets them.
    void flush(int descriptor);

    /// CPU time that static initialisation of the library took, and when it began
    /// (`CLOCK_MONOTONIC`), in nanoseconds; both 0 if it did nothing.
    long long initialiserCPU() const { return initialiserCPU_; }
    long long initialiserStart() const { return initialiserStart_; }

    NOINLINE SuperfastLogger();

private:
    using Symbol = std::uint16_t;
    struct Merge {
        Symbol left, right;
    };
    struct Line {
        std::uint32_t second;
        std::vector<Symbol> symbols;
    };

    /// Builds every table that logging may need.
    NOINLINE void warmUp();
    /// The text of every second of a day.
    NOINLINE void formatTimestamps();
    /// Learns which symbols often follow each other: byte-pair encoding, one new symbol a round
    /// (P. Gage, "A New Algorithm for Data Compression", 1994).
    NOINLINE void trainDictionary();
    NOINLINE Merge mostFrequentPair(const std::vector<Symbol> &text);
    void expand(Symbol symbol, std::string &text) const;

    bool isWarm_ = false;
    std::vector<std::array<char, 9>> timestamps_;
    std::vector<Merge> merges_;
    std::vector<std::uint32_t> pairCounts_;
    std::vector<Line> lines_;
    long long initialiserCPU_ = 0;
    long long initialiserStart_ = 0;
};
