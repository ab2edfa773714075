// virtuals [MILLISECONDS]: C++ without frame pointers that evaluates trees of expressions by virtual
// calls, about thirty frames deep, until it has used that much CPU time (default 200). Prints a sum.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define FUNCTION __attribute__((noinline, noclone))

namespace {
class Node {
public:
    virtual ~Node() = default;
    virtual std::uint64_t value(std::uint64_t x) const = 0;
};
using Child = std::unique_ptr<Node>;

class Leaf : public Node {
public:
    explicit Leaf(std::uint64_t seed) : seed(seed) {}
    FUNCTION std::uint64_t value(std::uint64_t x) const override {
        std::uint64_t state = x ^ seed;
        for (int round = 0; round < 40; ++round) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        return state;
    }

private:
    std::uint64_t seed;
};

/// Texts and a map: calls into the C++ and the C library.
class Words : public Node {
public:
    FUNCTION std::uint64_t value(std::uint64_t x) const override {
        std::map<std::string, std::uint64_t> counts;
        for (std::uint64_t index = 0; index < 6; ++index)
            counts[std::to_string((x >> (8 * index)) % 1000)] += index;
        std::uint64_t sum = 0;
        for (const auto &[word, count] : counts) sum = sum * 31 + word.size() + count;
        return sum;
    }
};

/// Frames of different sizes.
template <int words>
class Padded : public Node {
public:
    explicit Padded(Child child) : child(std::move(child)) {}
    FUNCTION std::uint64_t value(std::uint64_t x) const override {
        std::array<std::uint64_t, words> local;
        for (auto &word : local) word = x = x * 6364136223846793005 + 1442695040888963407;
        asm volatile("" : : "r"(local.data()) : "memory");
        return child->value(local[x % words]) + 1;
    }

private:
    Child child;
};

class Sum : public Node {
public:
    Sum(Child left, Child right) : left(std::move(left)), right(std::move(right)) {}
    FUNCTION std::uint64_t value(std::uint64_t x) const override {
        return left->value(x) + right->value(x ^ 0x9E3779B97F4A7C15);
    }

private:
    Child left, right;
};

Child tree(int depth, std::uint64_t seed) {
    if (depth == 0) {
        if (seed % 3 == 0) return std::make_unique<Words>();
        return std::make_unique<Leaf>(seed);
    }
    seed = seed * 6364136223846793005 + depth;
    if (depth % 4 == 0)
        return std::make_unique<Sum>(tree(depth - 1, seed), tree(depth - 1, seed + 1));
    Child child = tree(depth - 1, seed);
    switch (depth % 3) {
    case 0: return std::make_unique<Padded<4>>(std::move(child));
    case 1: return std::make_unique<Padded<11>>(std::move(child));
    default: return std::make_unique<Padded<23>>(std::move(child));
    }
}
}  // namespace

int main(int argc, char **argv) {
    const long wanted = argc > 1 ? std::atol(argv[1]) : 200;
    const Child root = tree(26, 7);
    std::uint64_t sum = 0;
    while (static_cast<long>(std::clock() / (CLOCKS_PER_SEC / 1000)) < wanted)
        sum += root->value(sum);
    std::printf("sum %016llx\n", static_cast<unsigned long long>(sum));
    return 0;
}
