// FNV-1a, 32 bits: to see at a glance that two frames are the same.
#pragma once

#include <cstddef>
#include <cstdint>

class Checksum {
public:
    void add(const void *bytes, std::size_t count) {
        const auto *next = static_cast<const unsigned char *>(bytes);
        for (std::size_t index = 0; index < count; ++index)
            value_ = (value_ ^ next[index]) * 16777619u;
    }
    std::uint32_t value() const { return value_; }

private:
    std::uint32_t value_ = 2166136261u;
};
