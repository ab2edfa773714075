// throwing: loads thrown.so, beside it, whose initialisers say how deep the stack is under them, and
// one of which throws. Prints what it caught, and how deep its own stack was when it called dlopen.
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdio>
#include <stdexcept>
#include <string>

int main(int, char **argv) {
    std::string path = argv[0];
    path = path.substr(0, path.rfind('/') + 1) + "thrown.so";
    void *frames[64];
    std::printf("main: %d frames\n", backtrace(frames, 64));
    try {
        if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
            std::fprintf(stderr, "%s\n", dlerror());
            return 125;
        }
    } catch (const std::runtime_error &error) {
        std::printf("caught: %s\n", error.what());
        return 0;
    }
    return 1;
}
