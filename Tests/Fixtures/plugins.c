// plugins [N]: loads plugin.so, beside it, N times (default 64), calls a function of it that
// computes for ~3 ms, and unloads it. Prints how often it was gone in between, and a checksum.
#include <dlfcn.h>
#include <limits.h>

#include "fixture.h"

/// The file of this name in the program's directory.
static void find_beside(const char *program, const char *name, char path[PATH_MAX]) {
    const char *slash = strrchr(program, '/');
    int length = slash == NULL ? 0 : (int)(slash - program) + 1;
    int written = snprintf(path, PATH_MAX, "%.*s%s", length, program, name);
    if (written < 0 || written >= PATH_MAX) exit(125);
}

static uint64_t call_plugin(const char *path, uint64_t state) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(125);
    }
    uint64_t (*work)(uint64_t) = (uint64_t (*)(uint64_t))dlsym(library, "plugin_work");
    if (work == NULL) exit(125);
    state = work(work(state));
    if (dlclose(library) != 0) exit(1);
    return state;
}

int main(int argc, char **argv) {
    uint64_t count = count_argument(argc, argv, 1, 64), gone = 0, checksum = 1;
    char path[PATH_MAX];
    find_beside(argv[0], "plugin.so", path);
    for (uint64_t time = 0; time < count; time++) {
        checksum = call_plugin(path, checksum);
        if (dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL) gone++;
    }
    printf("gone %llu checksum %016llx\n", (unsigned long long)gone, (unsigned long long)checksum);
    return gone == count ? 0 : 1;
}
