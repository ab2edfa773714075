/// A program whose functions have the shapes that compilers and systems give them, to be stepped through
/// from where it reads a byte to its `done`.
enum ShapesSource {
    static let text = #"""
        #include <alloca.h>
        #include <sched.h>
        #include <setjmp.h>
        #include <signal.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>

        #define KEEP __attribute__((noinline))
        #define COLD __attribute__((noinline, cold))

        static volatile long sink;
        static char byte;

        // Its callers must keep what they hold in registers that it must not change.
        KEEP long leaf(long value) {
            sink += value;
            return sink ^ value;
        }

        KEEP long many_pushes(long a, long b, long c) {
            long d = leaf(a), e = leaf(b), f = leaf(c), g = leaf(d + e), h = leaf(f);
            return leaf(a + b) + d * e + f * g + leaf(h) + c + d + e + f + g;
        }

        // Seven arguments and more are pushed.
        KEEP long many_arguments(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
            return leaf(a + b + c) + leaf(d + e + f) * leaf(g + h + i) + a + i;
        }

        KEEP long big_frame(long value) {
            volatile char room[20000];
            room[value & 15] = 1;
            room[19999] = (char)leaf(value);
            return leaf(room[19999]) + room[value & 15];
        }

        KEEP long dynamic(size_t size) {
            char *room = (char *)alloca(size);
            memset(room, 1, size);
            return leaf(room[size / 2]) + room[size / 3];
        }

        KEEP long realigned(long value) {
            alignas(64) volatile long room[24];
            room[3] = value;
            return leaf((long)&room[3]) + room[3];
        }

        KEEP long realigned_dynamic(size_t size) {
            alignas(64) volatile long room[8];
            volatile char *more = (char *)alloca(size);
            room[1] = 4;
            more[size - 1] = 5;
            return leaf((long)&room[1]) + room[1] + more[size - 1];
        }

        KEEP long pushes_late(long value) {
            if (value == 0) return 1;
            long first = leaf(value), second = leaf(first);
            return leaf(first + second) + first * second;
        }

        COLD void rarely(long value) { sink += value; }

        // The unlikely way has a part of its own (`.cold`) where the compiler optimises.
        KEEP long with_cold_part(long value, long other) {
            long first = leaf(other);
            if (__builtin_expect(value > 3, 0)) {
                rarely(first);
                rarely(value);
                sink += first;
            }
            return leaf(first) + other;
        }

        KEEP long jumps_on(long value) {
            long other = leaf(value);
            return many_pushes(other, value, 3);
        }

        KEEP long count_arguments(int count, ...) {
            __builtin_va_list list;
            __builtin_va_start(list, count);
            long sum = 0;
            while (count--) sum += (long)__builtin_va_arg(list, double) + leaf(count);
            __builtin_va_end(list);
            return sum;
        }

        struct Shape {
            long value;
            virtual KEEP long area(long scale) { return leaf(value) * scale; }
            virtual ~Shape() {}
        };
        struct Square : Shape {
            KEEP long area(long scale) override { return Shape::area(scale + value); }
        };

        static jmp_buf jump;

        // Where a call is the last instruction, its return address is behind the function.
        [[noreturn]] KEEP void jump_back(long value) {
            leaf(value);
            longjmp(jump, 1);
        }

        KEEP long jumped(long value) {
            if (setjmp(jump) == 0) jump_back(value);
            return leaf(value);
        }

        struct Cleanup {
            long value;
            KEEP ~Cleanup() { leaf(value); }
        };

        [[noreturn]] KEEP void fail(long value) { throw value; }

        KEEP void fail_behind_cleanups(long value) {
            Cleanup first{value}, second{leaf(value)};
            fail(value + second.value % 2);
        }

        KEEP void pass_on(long value) {
            try {
                fail_behind_cleanups(value);
            } catch (long &caught) {
                leaf(caught);
                throw;
            }
        }

        KEEP long caught(long value) {
            Cleanup cleanup{value};
            try {
                pass_on(value);
            } catch (long) {
                return leaf(value);
            }
            return 0;
        }

        KEEP long recurse(int depth) {
            volatile char room[40];
            room[depth & 15] = (char)depth;
            long result = depth == 0 ? leaf(1) : recurse(depth - 1);
            return result + room[depth & 15];
        }

        static void handle(int) {
            many_pushes(1, 2, 3);
            recurse(12);
        }

        static void handle_with_information(int, siginfo_t *information, void *) {
            leaf(information->si_signo);
            realigned(3);
        }

        static char elsewhere[65536];

        KEEP void signalled(int flags) {
            struct sigaction action = {};
            action.sa_flags = flags;
            action.sa_handler = handle;
            if (flags & SA_SIGINFO) action.sa_sigaction = handle_with_information;
            sigaction(SIGUSR1, &action, NULL);
            raise(SIGUSR1);
            sink++;
        }

        KEEP void signalled_elsewhere(void) {
            stack_t stack = {};
            stack.ss_sp = elsewhere;
            stack.ss_size = sizeof elsewhere;
            sigaltstack(&stack, NULL);
            recurse(5);
            signalled(SA_ONSTACK);
            sink++;
        }

        static int compare(const void *left, const void *right) {
            leaf(1);
            return *(const int *)left - *(const int *)right;
        }

        KEEP long library(void) {
            char text[64];
            int numbers[] = {5, 3, 4, 1};
            snprintf(text, sizeof text, "%ld %s %.3f", (long)sink, "text", 1.5);
            qsort(numbers, 4, sizeof numbers[0], compare);
            void *room = malloc(1000);
            memset(room, (int)sink, 100);
            free(room);
            return atoi(text) + numbers[0] + (long)strlen(text) + (getenv("PATH") != NULL);
        }

        KEEP long clocks(void) {
            struct timespec now;
            struct timeval day;
            clock_gettime(CLOCK_MONOTONIC, &now);
            clock_gettime(CLOCK_REALTIME_COARSE, &now);
            gettimeofday(&day, NULL);
            return now.tv_nsec + day.tv_usec + (long)time(NULL) + sched_getcpu();
        }

        KEEP void work(void) {
            sink += read(0, &byte, 1);
            sink += many_pushes(1, 2, 3) + many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9);
            sink += big_frame(3) + dynamic(100) + realigned(5) + realigned_dynamic(50);
            sink += pushes_late(0) + pushes_late(3) + with_cold_part(1, 2) + with_cold_part(5, 2);
            sink += jumps_on(4) + count_arguments(3, 1.0, 2.0, 3.0);
            Square square;
            square.value = 3;
            Shape *volatile shape = &square;
            sink += shape->area(2) + jumped(3) + recurse(8);
            sink += library() + clocks();
            signalled(0);
            signalled(SA_SIGINFO);
            signalled_elsewhere();
            sink += caught(4);
        }

        extern "C" KEEP void done(void) { sink++; }

        int main() {
            work();
            done();
            return 0;
        }
        """#
}
