#include "app.hpp"

#include <cstdio>

void AppDelegate::didFinishLaunching() {
    catalogue_.loadStars(visibleStars);
    const Frame frame = frameBuilder_.buildFirstFrame(catalogue_.stars());
    std::printf("first frame: %zu stars, checksum %08x\n", frame.stars, frame.checksum);
    std::fflush(stdout);
}
