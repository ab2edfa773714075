// The basis of the area's C code. Every function is private, calls only others of these, and does
// not use vector registers, because the program may need them when it is redirected here.

#define CODE \
    __attribute__((section("fl_code"), used, noinline, target("general-regs-only"), \
                   no_stack_protector, no_sanitize("all"))) static
#define INLINE static inline __attribute__((always_inline, target("general-regs-only")))

enum {
    call_read = 0, call_write = 1, call_close = 3, call_fstat = 5, call_mmap = 9, call_mprotect = 10,
    call_sigaction = 13, call_sigmask = 14, call_pwrite = 18, call_madvise = 28,
    call_nanosleep = 35, call_getpid = 39, call_kill = 62, call_getrlimit = 97,
    call_getrusage = 98, call_sigpending = 127, call_sigaltstack = 131, call_munlock = 150,
    call_mlockall = 151, call_gettid = 186, call_clock_gettime = 228, call_tgkill = 234, call_openat = 257,
    call_process_vm_readv = 310, call_process_vm_writev = 311, call_getrandom = 318,
    call_mlock2 = 325,
};

#define SIGNAL(number) ((uint64_t)1 << ((number) - 1))
enum { set_mask = 2 };  // SIG_SETMASK
enum { not_in_cores = 16 };  // MADV_DONTDUMP

INLINE long call(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

// The area's place, which is where its code begins.
INLINE uint8_t *area(void) {
    uint8_t *start;
    __asm__("lea fl_begin(%%rip), %0" : "=r"(start));
    return start;
}
#define IN_AREA(type, offset) ((volatile type *)(area() + (offset)))
INLINE volatile struct fl_state *state(void) { return IN_AREA(struct fl_state, FL_STATE); }

INLINE int64_t clock_time(long clock) {
    volatile int64_t time[2];
    call(call_clock_gettime, clock, (long)time, 0, 0, 0, 0);
    return time[0] * 1000000000 + time[1];
}
enum { clock_monotonic = 1, clock_process = 2, clock_thread = 3 };

// MARK: Changing code and protected data

enum { may_read = 1, may_write = 2, may_execute = 4 };

// The process's own memory as a file. It can write to protected memory without a change of
// protection, which would split the mapping for good. Negative: the file is not available.
INLINE int open_memory(void) {
    const char *path;
    __asm__("lea fl_memory_path(%%rip), %0" : "=r"(path));
    const long here = -100, to_read_and_write = 2 | 0x80000;  // AT_FDCWD, O_RDWR | O_CLOEXEC
    return (int)call(call_openat, here, (long)path, to_read_and_write, 0, 0, 0);
}

INLINE void close_memory(int memory) {
    if (memory >= 0) call(call_close, memory, 0, 0, 0, 0, 0);
}

// Writes a word of code, which may cross into the next page. 1: success; some kernels refuse such
// writes. The protection stays as it is: a process that lifts it may not be allowed to restore it.
INLINE int write_code(int memory, uint64_t address, uint64_t word) {
    volatile uint64_t value = word;
    return memory >= 0 && call(call_pwrite, memory, (long)&value, sizeof value, (long)address, 0,
                               0) == sizeof value;
}

// The same for memory that may lose its protection for a moment: data, or code to which the thread
// must return in any case.
INLINE void write_protected(int memory, uint64_t address, uint64_t word, long protection) {
    if (write_code(memory, address, word)) return;
    const uint64_t page = address & ~(uint64_t)4095;
    const uint64_t size = ((address + 7) & ~(uint64_t)4095) == page ? 4096 : 8192;
    if (call(call_mprotect, (long)page, (long)size, may_read | may_write, 0, 0, 0) != 0) return;
    *(volatile uint64_t *)address = word;
    call(call_mprotect, (long)page, (long)size, protection, 0, 0, 0);
}

// A jump of five bytes, followed by the old code; 0: the distance is too large.
INLINE uint64_t jump_word(uint64_t from, uint64_t to, uint64_t old) {
    const int64_t distance = (int64_t)(to - (from + 5));
    if (distance != (int32_t)distance) return 0;
    return (old & ~(uint64_t)0xFFFFFFFFFF) | 0xE9 | (uint64_t)(uint32_t)distance << 8;
}
