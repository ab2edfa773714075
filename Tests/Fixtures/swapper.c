// swapper: loads swapped_a.so to swapped_e.so, beside it, one after the other, each after the one before
// was unloaded. So all of them may have been in one place. Prints how many.
#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#include "fixture.h"

int main(int argc, char **argv) {
    char path[PATH_MAX];
    uint64_t places[5];
    int used = 0;
    (void)argc;
    const char *slash = strrchr(argv[0], '/');
    int length = slash == NULL ? 0 : (int)(slash - argv[0]) + 1;
    for (char name = 'a'; name <= 'e'; name++) {
        int written = snprintf(path, PATH_MAX, "%.*sswapped_%c.so", length, argv[0], name);
        if (written < 0 || written >= PATH_MAX) return 125;
        struct link_map *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) return 125;
        int known = 0;
        while (known < used && places[known] != library->l_addr) known++;
        places[known] = library->l_addr;
        if (known == used) used++;
        if (dlclose(library) != 0) return 1;
    }
    printf("%d places\n", used);
    return 0;
}
