// The program's launch, as a window system would ask for it.
#pragma once

#include <string>

#include "catalogue.hpp"
#include "frame.hpp"
#include "noinline.hpp"

class AppDelegate {
public:
    explicit AppDelegate(const std::string &database) : catalogue_(database) {}

    /// Loads the stars, builds the first frame and says so on stdout. Throws `DatabaseError`.
    NOINLINE void didFinishLaunching();

private:
    StarCatalogue catalogue_;
    FrameBuilder frameBuilder_;
};
