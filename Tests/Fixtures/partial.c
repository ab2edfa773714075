// partial CALL [N [blocked]]: makes a system call that works long in the kernel N times (default
// 8), and prints how much each got. Alone, each gets all that was requested. `blocked`: with all
// signals blocked.
//   zero urandom   reads 16 MiB of /dev/zero, 2 MiB of /dev/urandom
//   getrandom      asks for 2 MiB
//   pipe           computes for a while and writes 4 MiB to a pipe that another process reads
//   parts          the same from four places at once (writev)
//   socket         the same with a socket
//   sendfile copy  moves 32 MiB from file to file
//   between        computes, and now and then reads 1 MiB of /dev/zero
//   computed       computes for 6 ms before each copy_file_range of 24 MiB
//   deep           the same far down a stack of more than 64 KiB
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "fixture.h"

#define MIB (1 << 20)

static char buffer[16 * MIB];

static int open_file(const char *path, int flags) {
    int descriptor = open(path, flags | O_CLOEXEC, 0600);
    if (descriptor < 0) fail(path);
    return descriptor;
}

static void print(ssize_t got, ssize_t wanted) {
    printf("%zd of %zd\n", got, wanted);
}

static void run_reads(const char *path, ssize_t size, uint64_t count) {
    int descriptor = open_file(path, O_RDONLY);
    for (; count > 0; count--) print(read(descriptor, buffer, (size_t)size), size);
}

static void run_getrandom(uint64_t count) {
    for (; count > 0; count--) print(getrandom(buffer, 2 * MIB, 0), 2 * MIB);
}

/// A child that reads the other end until nothing more comes.
static void run_writes(int ends[2], int in_parts, uint64_t count) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        close(ends[1]);
        while (read(ends[0], buffer, sizeof buffer) > 0) continue;
        _exit(0);
    }
    close(ends[0]);
    struct iovec parts[4];
    for (int part = 0; part < 4; part++) parts[part] = (struct iovec){buffer + part * MIB, MIB};
    uint64_t state = 1;
    for (; count > 0; count--) {
        BURN(state, 3 * ROUNDS_PER_MS);
        print(in_parts ? writev(ends[1], parts, 4) : write(ends[1], buffer, 4 * MIB), 4 * MIB);
    }
    printf("checksum %016llx\n", (unsigned long long)state);
    close(ends[1]);
    waitpid(child, NULL, 0);
}

static void run_moves(int by_copying, uint64_t count) {
    char names[2][32] = {"/tmp/partial.XXXXXX", "/tmp/partial.XXXXXX"};
    int files[2];
    for (int index = 0; index < 2; index++) {
        files[index] = mkostemp(names[index], O_CLOEXEC);
        if (files[index] < 0) fail("mkostemp");
        unlink(names[index]);
    }
    for (int part = 0; part < 2; part++)
        if (write(files[0], buffer, sizeof buffer) != sizeof buffer) fail("write");
    const ssize_t size = 2 * (ssize_t)sizeof buffer;
    for (; count > 0; count--) {
        off_t start = 0;
        if (lseek(files[1], 0, SEEK_SET) != 0) fail("lseek");
        print(
            by_copying ? copy_file_range(files[0], &start, files[1], NULL, (size_t)size, 0)
                       : sendfile(files[1], files[0], &start, (size_t)size),
            size);
    }
}

static void run_between(uint64_t count) {
    int descriptor = open_file("/dev/zero", O_RDONLY);
    uint64_t state = 1;
    for (; count > 0; count--) {
        BURN(state, 40 * ROUNDS_PER_MS);
        print(read(descriptor, buffer, MIB), MIB);
    }
    printf("checksum %016llx\n", (unsigned long long)state);
}

/// Computes for so long that a profiler may think that the thread does nothing else.
static void run_computed(uint64_t count) {
    const ssize_t size = 24 * MIB;
    const int from = memfd_create("from", MFD_CLOEXEC), to = memfd_create("to", MFD_CLOEXEC);
    if (from < 0 || to < 0 || ftruncate(from, size) != 0) fail("memfd_create");
    memset(buffer, 7, sizeof buffer);
    if (pwrite(from, buffer, sizeof buffer, 0) != sizeof buffer) fail("pwrite");
    if (pwrite(from, buffer, (size_t)size - sizeof buffer, sizeof buffer) < 0) fail("pwrite");
    uint64_t state = 1;
    for (; count > 0; count--) {
        off_t start = 0, end = 0;
        BURN(state, 6 * ROUNDS_PER_MS);
        print(copy_file_range(from, &start, to, &end, (size_t)size, 0), size);
    }
    printf("checksum %016llx\n", (unsigned long long)state);
}

FUNCTION void run_deep(uint64_t count) {
    volatile char frame[70000];
    frame[0] = frame[sizeof frame - 1] = 1;
    run_computed(count);
    frame[0] = 2;
}

int main(int argc, char **argv) {
    const char *call = argc > 1 ? argv[1] : "";
    const uint64_t count = count_argument(argc, argv, 2, 8);
    int ends[2];
    if (argc > 3 && strcmp(argv[3], "blocked") == 0) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
    }
    if (strcmp(call, "zero") == 0)
        run_reads("/dev/zero", sizeof buffer, count);
    else if (strcmp(call, "urandom") == 0)
        run_reads("/dev/urandom", 2 * MIB, count);
    else if (strcmp(call, "getrandom") == 0)
        run_getrandom(count);
    else if (strcmp(call, "pipe") == 0 && pipe2(ends, O_CLOEXEC) == 0)
        run_writes(ends, 0, count);
    else if (strcmp(call, "parts") == 0 && pipe2(ends, O_CLOEXEC) == 0)
        run_writes(ends, 1, count);
    else if (strcmp(call, "socket") == 0 &&
             socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
        run_writes((int[]){ends[1], ends[0]}, 0, count);
    else if (strcmp(call, "sendfile") == 0 || strcmp(call, "copy") == 0)
        run_moves(strcmp(call, "copy") == 0, count);
    else if (strcmp(call, "between") == 0)
        run_between(count);
    else if (strcmp(call, "computed") == 0)
        run_computed(count);
    else if (strcmp(call, "deep") == 0)
        run_deep(count);
    else {
        fprintf(stderr,
                "usage: partial zero | urandom | getrandom | pipe | socket | sendfile | copy | between |"
                " computed | deep\n");
        return 125;
    }
    return 0;
}
