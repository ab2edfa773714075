#include "logger.hpp"

#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "corpus.hpp"
#include "truth.hpp"

namespace {
constexpr int letters = 256;
constexpr int rounds = 256;
constexpr int symbols = letters + rounds;
constexpr int linesToLearnFrom = 32'000;

SuperfastLogger sharedLogger;
}  // namespace

SuperfastLogger &SuperfastLogger::shared() { return sharedLogger; }

SuperfastLogger::SuperfastLogger() {
#ifndef MENDED
    initialiserStart_ = nanoseconds(CLOCK_MONOTONIC);
    const long long start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    warmUp();
    initialiserCPU_ = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;
#endif
}

void SuperfastLogger::warmUp() {
    formatTimestamps();
    trainDictionary();
    isWarm_ = true;
}

void SuperfastLogger::formatTimestamps() {
    constexpr int secondsOfDay = 24 * 60 * 60;
    timestamps_.resize(secondsOfDay);
    for (unsigned second = 0; second < secondsOfDay; ++second) {
        auto &text = timestamps_[second];
        std::snprintf(text.data(), text.size(), "%02u:%02u:%02u", second / 3600 % 24,
                      second / 60 % 60, second % 60);
    }
}

/// Replaces each occurrence of `left`, `right` by `symbol`, in place.
template <typename Symbol>
NOINLINE static void replacePair(
    std::vector<Symbol> &text, Symbol left, Symbol right, Symbol symbol) {
    std::size_t kept = 0;
    for (std::size_t index = 0; index < text.size(); ++index) {
        const bool isPair =
            text[index] == left && index + 1 < text.size() && text[index + 1] == right;
        text[kept++] = isPair ? symbol : text[index];
        index += isPair;
    }
    text.resize(kept);
}

static std::vector<std::uint16_t> symbolsOf(std::string_view text) {
    std::vector<std::uint16_t> result;
    result.reserve(text.size());
    for (const char letter : text) result.push_back(static_cast<unsigned char>(letter));
    return result;
}

void SuperfastLogger::trainDictionary() {
    std::vector<Symbol> text = symbolsOf(typicalLogLines(linesToLearnFrom));
    for (int round = 0; round < rounds; ++round) {
        const Merge merge = mostFrequentPair(text);
        replacePair(text, merge.left, merge.right, static_cast<Symbol>(letters + round));
        merges_.push_back(merge);
    }
}

SuperfastLogger::Merge SuperfastLogger::mostFrequentPair(const std::vector<Symbol> &text) {
    pairCounts_.assign(static_cast<std::size_t>(symbols) * symbols, 0);
    std::size_t best = 0;
    for (std::size_t index = 1; index < text.size(); ++index) {
        const std::size_t pair = static_cast<std::size_t>(text[index - 1]) * symbols + text[index];
        if (++pairCounts_[pair] > pairCounts_[best]) best = pair;
    }
    return {static_cast<Symbol>(best / symbols), static_cast<Symbol>(best % symbols)};
}

void SuperfastLogger::log(std::string_view message) {
    if (!isWarm_) warmUp();
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    Line line;
    line.second = static_cast<std::uint32_t>(
        (local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec) % (24 * 60 * 60));
    line.symbols = symbolsOf(message);
    for (std::size_t rank = 0; rank < merges_.size(); ++rank)
        replacePair(line.symbols, merges_[rank].left, merges_[rank].right,
                    static_cast<Symbol>(letters + rank));
    lines_.push_back(std::move(line));
}

void SuperfastLogger::flush(int descriptor) {
    for (const Line &line : lines_) {
        std::string text = timestamps_[line.second].data();
        text += ' ';
        for (const Symbol symbol : line.symbols) expand(symbol, text);
        dprintf(descriptor, "%s\n", text.c_str());
    }
    lines_.clear();
}

void SuperfastLogger::expand(Symbol symbol, std::string &text) const {
    if (symbol < letters) {
        text += static_cast<char>(symbol);
        return;
    }
    expand(merges_[symbol - letters].left, text);
    expand(merges_[symbol - letters].right, text);
}
