// The stars of the database, brightest first.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include "noinline.hpp"
#include "semaphore.hpp"
#include "star.hpp"

class StarCatalogue {
public:
    explicit StarCatalogue(std::string path) : path_(std::move(path)) {}

    /// Reads at least the `visible` brightest stars, sorted. Throws `DatabaseError`.
    NOINLINE void loadStars(std::size_t visible);

    const std::vector<Star> &stars() const { return stars_; }

private:
    /// Every star of the database.
    NOINLINE void readEveryStar();
    /// Only the `count` brightest, which the database finds by its index.
    NOINLINE void readBrightestStars(std::size_t count);
    void sortByBrightness();
    /// What the worker thread runs.
    void loadInBackground() noexcept;

    std::string path_;
    std::vector<Star> stars_;
    Semaphore finished_;
    std::exception_ptr failure_;
};
