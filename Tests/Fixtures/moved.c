// moved: a function whose code is moved onto other memory at the same addresses, as programs do
// that want their code on large pages.
//
//   moved move|overwrite|memfd|stay   a copy is moved there; the place is mapped anew, and filled;
//                                     a file in memory is mapped there; nothing of it
#include "fixture.h"

#include <sys/mman.h>

#define PAGE 4096UL
#define MOVED __attribute__((section("moved_code"), noinline, noclone))

// The linker says where the section begins and ends.
extern char __start_moved_code[], __stop_moved_code[];

__attribute__((aligned(4096))) MOVED uint64_t moved_inner(uint64_t state) {
    BURN(state, ROUNDS_PER_MS);
    return state;
}

MOVED uint64_t moved_outer(uint64_t state) {
    for (int i = 0; i < 100; i++) state = moved_inner(state) + 1;
    return state + 1;
}

static void *checked(void *place) {
    if (place == MAP_FAILED) fail("mmap");
    return place;
}

static void move(char *from, size_t size, const char *how) {
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, all = PROT_READ | PROT_WRITE;
    char *copy = checked(mmap(NULL, size, all, anonymous, -1, 0));
    memcpy(copy, from, size);
    if (strcmp(how, "move") == 0) {
        mprotect(copy, size, PROT_READ | PROT_EXEC);
        checked(mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, from));
    } else if (strcmp(how, "overwrite") == 0) {
        checked(mmap(from, size, all, anonymous | MAP_FIXED, -1, 0));
        memcpy(from, copy, size);
        mprotect(from, size, PROT_READ | PROT_EXEC);
    } else {
        const int file = memfd_create("code", MFD_CLOEXEC);
        if (file < 0 || write(file, copy, size) != (ssize_t)size) fail("memfd_create");
        checked(mmap(from, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0));
    }
}

int main(int argc, char **argv) {
    if (argc < 2) return 125;
    char *from = __start_moved_code;
    const size_t size = (size_t)(__stop_moved_code - from + PAGE - 1) & ~(PAGE - 1);
    if (strcmp(argv[1], "stay") != 0) move(from, size, argv[1]);
    return moved_outer(1) == 0;
}
