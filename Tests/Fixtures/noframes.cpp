// noframes [ROUNDS]: C++ whose stacks only unwind rules can follow: virtual calls, templates, and
// exceptions thrown and caught in a loop (default 100,000 rounds). Prints sums.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#define FUNCTION __attribute__((noinline, noclone))

namespace {
class Shape {
public:
    virtual ~Shape() = default;
    virtual std::uint64_t area(std::uint64_t seed) const = 0;
};

std::uint64_t mix(std::uint64_t state, int rounds) {
    for (; rounds > 0; --rounds) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

class Circle : public Shape {
public:
    FUNCTION std::uint64_t area(std::uint64_t seed) const override { return mix(seed, 400); }
};

class Square : public Shape {
public:
    FUNCTION std::uint64_t area(std::uint64_t seed) const override { return mix(seed, 600) + 1; }
};

/// A chain of `depth` instantiations, each a function of its own.
template <int depth>
struct Chain {
    FUNCTION static std::uint64_t run(const Shape &shape, std::uint64_t seed) {
        return Chain<depth - 1>::run(shape, seed + depth) ^ depth;
    }
};

template <>
struct Chain<0> {
    FUNCTION static std::uint64_t run(const Shape &shape, std::uint64_t seed) {
        if (seed % 4 == 0) throw std::runtime_error("a seed divisible by four");
        return shape.area(seed) + 1;
    }
};

FUNCTION std::uint64_t runGuarded(const Shape &shape, std::uint64_t seed, int &caught) {
    try {
        return Chain<8>::run(shape, seed);
    } catch (const std::runtime_error &) {
        ++caught;
        return seed;
    }
}
}  // namespace

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 100'000;
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(std::make_unique<Circle>());
    shapes.push_back(std::make_unique<Square>());
    std::uint64_t sum = 0;
    int caught = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto seed = static_cast<std::uint64_t>(round);
        sum += runGuarded(*shapes[seed % shapes.size()], seed, caught);
    }
    std::printf("sum %016llx caught %d\n", static_cast<unsigned long long>(sum), caught);
    return 0;
}
