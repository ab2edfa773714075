// constructors: COUNT of them that do next to nothing, called one after the other before main; prints
// how many there were.
// Truth: between, between_cpu: from the first to the last, in nanoseconds, and of it the thread's CPU
// time.
#include "fixture.h"

#define COUNT 1000
#define TEXT_(value) #value
#define TEXT(value) TEXT_(value)

static int64_t began, ended, cpu_began, cpu_ended;
static int called;

__attribute__((used)) static void first(void) {
    cpu_began = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    began = nanoseconds(CLOCK_MONOTONIC);
}
__attribute__((used)) static void middle(void) { called++; }
__attribute__((used)) static void last(void) {
    ended = nanoseconds(CLOCK_MONOTONIC);
    cpu_ended = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

__asm__(".section .init_array, \"aw\"\n"
        ".balign 8\n"
        ".quad first\n"
        ".rept " TEXT(COUNT) "\n"
        ".quad middle\n"
        ".endr\n"
        ".quad last\n"
        ".previous\n");

int main(void) {
    truth_set("between", ended - began);
    truth_set("between_cpu", cpu_ended - cpu_began);
    truth_write();
    printf("%d\n", called);
    return called == COUNT ? 0 : 1;
}
