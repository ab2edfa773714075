// kernelwork: one thread has the kernel work for it, in page faults and in reads.
#include "fixture.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { page = 4096, size = 8 << 20 };

FUNCTION void touch_pages(void) {
    for (int round = 0; round < 40; round++) {
        volatile char *memory = mmap(
            NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) exit(1);
        for (size_t place = 0; place < size; place += page) memory[place] = 1;
        munmap((void *)memory, size);
    }
}

FUNCTION void read_zeros(void) {
    static char buffer[1 << 20];
    int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    for (int round = 0; round < 1500; round++)
        if (read(file, buffer, sizeof buffer) != sizeof buffer) exit(1);
    close(file);
}

int main(void) {
    touch_pages();
    read_zeros();
    puts("done");
    return 0;
}
