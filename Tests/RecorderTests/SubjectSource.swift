/// A program with every kind of frame, which waits in read(2) where its first argument says.
enum SubjectSource {
    static let text = #"""
        #define _GNU_SOURCE
        #include <alloca.h>
        #include <pthread.h>
        #include <signal.h>
        #include <stdint.h>
        #include <stdlib.h>
        #include <string.h>
        #include <time.h>
        #include <unistd.h>

        #define KEEP __attribute__((noinline, noclone))

        static volatile long sink;
        static char byte;

        KEEP void wait_here(void) {
            sink += read(0, &byte, 1);
            sink++;
        }

        KEEP long recurse(int depth) {
            volatile char room[8 + 24 * 3];
            room[depth & 15] = (char)depth;
            if (depth == 0)
                wait_here();
            else
                sink += recurse(depth - 1);
            return room[depth & 15] + sink;
        }

        KEEP void variable(size_t size) {
            char *room = alloca(size);
            memset(room, 1, size);
            sink += room[size / 2];
            wait_here();
            sink += room[size / 3];
        }

        KEEP void aligned(long value) {
            _Alignas(64) volatile long room[24];
            room[3] = value;
            wait_here();
            sink += room[3];
        }

        KEEP void aligned_variable(size_t size) {
            _Alignas(64) volatile long room[8];
            volatile char *more = alloca(size);
            room[1] = 4;
            more[size - 1] = 5;
            wait_here();
            sink += room[1] + more[size - 1];
        }

        static void handler(int number) {
            (void)number;
            wait_here();
            sink++;
        }

        KEEP void signalled(int flags) {
            struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
            sigaction(SIGUSR1, &action, NULL);
            raise(SIGUSR1);
            sink++;
        }

        KEEP void signalled_elsewhere(void) {
            static char room[65536];
            stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
            sigaltstack(&stack, NULL);
            signalled(SA_ONSTACK);
            sink++;
        }

        static int compare(const void *left, const void *right) {
            static int waited;
            if (!waited++) wait_here();
            return *(const int *)left - *(const int *)right;
        }

        KEEP void sorted(void) {
            int numbers[] = {5, 3, 4, 1};
            qsort(numbers, 4, sizeof numbers[0], compare);
            sink += numbers[0];
        }

        static void *worker(void *argument) {
            aligned((long)argument);
            sink++;
            return NULL;
        }

        KEEP void threaded(void) {
            pthread_t thread;
            pthread_create(&thread, NULL, worker, (void *)7);
            pthread_join(thread, NULL);
            sink++;
        }

        // A leaf that no tables cover.
        __asm__(
            ".text\n"
            "bare:\n"
            "  mov $0, %eax\n"
            "  mov $0, %edi\n"
            "  lea -64(%rsp), %rsi\n"
            "  mov $1, %edx\n"
            "  syscall\n"
            "  ret\n");
        long bare(void);

        KEEP void above_bare(void) {
            sink += bare();
            sink++;
        }

        static void bare_handler(int number) {
            (void)number;
            above_bare();
            sink++;
        }

        KEEP void signalled_bare(void) {
            signal(SIGUSR1, bare_handler);
            raise(SIGUSR1);
            sink++;
        }

        KEEP void done(void) { sink++; }

        KEEP long tail(long value) {
            return value > 3 ? recurse((int)value & 1) : strtol("7", 0, 0);
        }

        // Everything that can be done without a signal; the caller steps through it.
        KEEP void work(void) {
            char text[64];
            struct timespec now;
            wait_here();
            strcpy(text, "twelve");
            sink += (long)strlen(text) + strtol("42", NULL, 10) + atoi("5");
            void *room = malloc(1000);
            memset(room, (int)sink, 100);
            free(room);
            clock_gettime(CLOCK_MONOTONIC, &now);
            sink += now.tv_nsec;
            variable(100);
            aligned(5);
            aligned_variable(50);
            sink += recurse(3) + tail(1);
            int numbers[] = {5, 3, 4, 1};
            qsort(numbers, 4, sizeof numbers[0], compare);
            sink += getenv("PATH") != NULL;
        }

        int main(int count, char **arguments) {
            const char *what = count > 1 ? arguments[1] : "";
            if (!strcmp(what, "recurse")) recurse(50);
            if (!strcmp(what, "variable")) variable(3000);
            if (!strcmp(what, "aligned")) aligned(3);
            if (!strcmp(what, "aligned-variable")) aligned_variable(2000);
            if (!strcmp(what, "signalled")) signalled(0);
            if (!strcmp(what, "signalled-elsewhere")) signalled_elsewhere();
            if (!strcmp(what, "sorted")) sorted();
            if (!strcmp(what, "threaded")) threaded();
            if (!strcmp(what, "bare")) above_bare();
            if (!strcmp(what, "signalled-bare")) signalled_bare();
            if (!strcmp(what, "work")) {
                work();
                done();
            }
            return 0;
        }
        """#
}
