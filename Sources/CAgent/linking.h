// What the area's code does when it arrives, and when the dynamic linker or the start of main tells
// it something. C in the same section as the assembly: every function is private, calls only
// others of these, and keeps off vector registers, for whoever is led here may need them.

#define CODE \
    __attribute__((section("fl_code"), used, noinline, target("general-regs-only"), \
                   no_stack_protector, no_sanitize("all"))) static
#define INLINE static inline __attribute__((always_inline, target("general-regs-only")))

enum {
    call_close = 3, call_mmap = 9, call_mprotect = 10, call_sigaction = 13, call_pwrite = 18,
    call_madvise = 28, call_nanosleep = 35,
    call_getpid = 39, call_kill = 62, call_getrusage = 98, call_gettid = 186,
    call_clock_gettime = 228, call_openat = 257, call_process_vm_readv = 310,
};

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
enum { clock_monotonic = 1, clock_thread = 3 };

// MARK: Changing code and protected data

enum { may_read = 1, may_write = 2, may_execute = 4 };

// The process's own memory as a file, through which what is protected can be written without
// changing its protection, which would divide the mapping for good. Negative: it may not be had.
INLINE int open_memory(void) {
    const char *path;
    __asm__("lea fl_memory_path(%%rip), %0" : "=r"(path));
    const long here = -100, to_read_and_write = 2 | 0x80000;  // AT_FDCWD, O_RDWR | O_CLOEXEC
    return (int)call(call_openat, here, (long)path, to_read_and_write, 0, 0, 0);
}

INLINE void close_memory(int memory) {
    if (memory >= 0) call(call_close, memory, 0, 0, 0, 0, 0);
}

// Writes a word that may cross into the next page, where nobody else runs. 1: it could. Some kernels
// let nobody write so: then the protection has to be lifted for a moment.
INLINE int write_protected(int memory, uint64_t address, uint64_t word, long protection) {
    volatile uint64_t value = word;
    if (memory >= 0 &&
        call(call_pwrite, memory, (long)&value, sizeof value, (long)address, 0, 0) == sizeof value)
        return 1;
    const uint64_t page = address & ~(uint64_t)4095;
    const uint64_t size = ((address + 7) & ~(uint64_t)4095) == page ? 4096 : 8192;
    if (call(call_mprotect, (long)page, (long)size, may_read | may_write, 0, 0, 0) != 0) return 0;
    *(volatile uint64_t *)address = word;
    call(call_mprotect, (long)page, (long)size, protection, 0, 0, 0);
    return 1;
}

// A jump of five bytes, and what is behind it as it was; 0: it would be too far.
INLINE uint64_t jump_word(uint64_t from, uint64_t to, uint64_t old) {
    const int64_t distance = (int64_t)(to - (from + 5));
    if (distance != (int32_t)distance) return 0;
    return (old & ~(uint64_t)0xFFFFFFFFFF) | 0xE9 | (uint64_t)(uint32_t)distance << 8;
}

// MARK: The sampling signals

struct kernel_action { uint64_t handler, flags, restorer, mask; };

INLINE void nap(void) {
    volatile int64_t time[2];
    time[0] = 0;
    time[1] = 20000;
    call(call_nanosleep, (long)time, 0, 0, 0, 0, 0);
}

// Waits until no request is under way; bounded, for a thread may never get a core.
INLINE void quiesce(void) {
    volatile struct fl_state *const own = state();
    for (int naps = 0; naps < 400 && __atomic_load_n(&own->outstanding, __ATOMIC_SEQ_CST) > 0; naps++)
        nap();
}

// Sets our handler; `before` gets what the signal did.
INLINE long set_handler(uint64_t signal, volatile struct kernel_action *before) {
    uint64_t handler, restorer;
    __asm__("lea fl_sample_handler(%%rip), %0" : "=r"(handler));
    __asm__("lea fl_restorer(%%rip), %0" : "=r"(restorer));
    volatile struct kernel_action action;
    action.handler = handler;
    action.flags = state()->settled_flags;
    action.restorer = restorer;
    // No handler of the program's runs on top of ours: it might last, or never come back.
    action.mask = ~(uint64_t)0;
    return call(call_sigaction, (long)signal, (long)&action, (long)before, 8, 0, 0);
}

// The program uses the sampling signal itself: the spare one takes its place, if the program leaves
// that to its default.
CODE void fl_take_spare(void) {
    volatile struct fl_state *const own = state();
    uint32_t expected = FL_SPARE_NOT_NEEDED;
    if (own->spare_signal == 0 ||
        !__atomic_compare_exchange_n(&own->spare, &expected, FL_SPARE_BEGUN, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return;
    volatile struct kernel_action before;
    uint32_t outcome = FL_SPARE_REFUSED;
    if (call(call_sigaction, own->spare_signal, 0, (long)&before, 8, 0, 0) == 0 &&
        before.handler <= 1 && set_handler(own->spare_signal, &before) == 0) {
        own->spare_original = before.handler;
        if (before.handler <= 1)
            outcome = FL_SPARE_IN_PLACE;
        else  // another thread was faster
            call(call_sigaction, own->spare_signal, (long)&before, 0, 8, 0, 0);
    }
    // Unless the program has taken it in this very moment.
    expected = FL_SPARE_BEGUN;
    __atomic_compare_exchange_n(&own->spare, &expected, outcome, 0, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
}

// The program is about to set an action of its own for one of the two: that is noted, and what is
// under way is waited for, lest the program gets it.
CODE void fl_displace(uint32_t signal) {
    volatile struct fl_state *const own = state();
    const int is_spare = signal != own->sample_signal;
    if (is_spare)
        __atomic_store_n(&own->spare, FL_SPARE_REFUSED, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(&own->displaced, 1, __ATOMIC_SEQ_CST);
    if (own->filtered) return;  // no calls of ours
    quiesce();
    if (!is_spare) fl_take_spare();
}

// MARK: Arriving

// Called once, by the thread that brought the area in, before it goes on.
CODE void fl_settle(int descriptor) {
    volatile struct fl_state *const own = state();
    own->address = (uint64_t)area();
    own->pid = (uint32_t)call(call_getpid, 0, 0, 0, 0, 0, 0);
    const int memory = own->patch_count == 0 ? -1 : open_memory();
    for (uint64_t number = 0; number < own->patch_count && number < FL_MOST_PATCHES; number++) {
        const uint64_t address = own->patches[number].address;
        uint64_t word = own->patches[number].word;
        const uint64_t target = own->patches[number].target;
        if (target != 0) word = jump_word(address, (uint64_t)area() + target, word);
        if (word != 0) write_protected(memory, address, word, may_read | may_execute);
    }
    close_memory(memory);
    if (own->sample_signal != 0 && set_handler(own->sample_signal, 0) != 0) own->displaced = 1;
    if (own->island != 0) {
        const long shared_there = 0x100001;  // MAP_SHARED | MAP_FIXED_NOREPLACE
        const long place = call(call_mmap, (long)own->island, FL_TRAMPOLINES_SIZE,
                                may_read | may_execute, shared_there, descriptor, FL_ISLAND);
        own->island = place < 0 ? 0 : (uint64_t)place;
    }
    const long not_in_cores = 16;  // MADV_DONTDUMP
    call(call_madvise, (long)area(), (long)own->size, not_in_cores, 0, 0, 0);
    own->settled_cpu_ns = clock_time(clock_thread);
    own->settled_ns = clock_time(clock_monotonic);
    __atomic_store_n(&own->phase, FL_PHASE_SETTLED, __ATOMIC_RELEASE);
}

// MARK: Moments

// What the assembly's frame holds, from its lowest word: r15 r14 r13 r12 rbx rbp, where to return.
struct caller { uint64_t r15, r14, r13, r12, rbx, rbp, return_address; };

// Notes the time, and copies the stack of whoever called our caller.
INLINE void note(volatile struct fl_open *open, uint64_t number, const struct caller *from,
                 uint64_t most) {
    volatile int64_t usage[18];
    const int64_t now = clock_time(clock_monotonic);
    open->cpu_ns = clock_time(clock_thread);
    open->tid = (uint32_t)call(call_gettid, 0, 0, 0, 0, 0, 0);
    if (call(call_getrusage, 0, (long)usage, 0, 0, 0, 0) == 0) {
        open->minor_faults = usage[8];
        open->major_faults = usage[9];
        open->blocks_read = usage[11];
    }
    open->registers[0] = (uint64_t)(from + 1);
    open->registers[1] = from->return_address;
    open->registers[2] = from->rbp;
    open->registers[3] = from->rbx;
    open->registers[4] = from->r12;
    open->registers[5] = from->r13;
    open->registers[6] = from->r14;
    open->registers[7] = from->r15;
    open->vectors[0] = (uint64_t)area() + FL_STACKS + number * FL_OPEN_STACK;
    open->vectors[1] = most;
    open->vectors[2] = (uint64_t)(from + 1);
    open->vectors[3] = most;
    open->copied_size = call(call_process_vm_readv, state()->pid, (long)&open->vectors[0], 1,
                             (long)&open->vectors[2], 1, 0);
    __atomic_store_n(&open->start_ns, now, __ATOMIC_RELEASE);
}

// A border's stack is short: the linker's, or the C library's.
enum { border_stack = 16384 };

CODE void note_border(uint32_t number, const struct caller *from) {
    note(IN_AREA(struct fl_open, FL_OPENS) + number, number, from, border_stack);
    state()->borders |= 1u << number;
}

// MARK: Libraries

struct dynamic_entry { int64_t tag; uint64_t value; };
struct link_map {
    uint64_t bias;
    const char *name;
    struct dynamic_entry *dynamic;
    struct link_map *next, *previous;
};
struct linker_state {
    int32_t version;
    struct link_map *list;
    uint64_t hook;
    int32_t state;
};
enum { linker_consistent = 0, linker_adds = 1 };
enum {
    tag_strings = 5, tag_symbols = 6, tag_init = 12, tag_array = 25, tag_array_size = 27,
    most_entries = 512,
};

// Where glibc keeps, for each tag, the address of the library's entry (`l_info` of its link.h),
// from the beginning of a struct link_map: behind five public words and three private ones. It has
// been there for twenty years; whether it is so here is looked at before it is believed.
enum { info_offset = 64 };

// Leads the linker to thunks in place of a library's initialisers. Neither its arrays nor its
// dynamic section are changed, which may be protected already.
CODE void note_library(struct link_map *map, uint64_t open) {
    volatile struct fl_state *const own = state();
    const uint32_t number = own->libraries;
    if (number >= FL_MOST_LIBRARIES) return;
    volatile struct fl_library *const library = IN_AREA(struct fl_library, FL_LIBRARIES) + number;
    struct dynamic_entry **const info = (void *)((char *)map + info_offset);
    struct dynamic_entry *init = 0, *array = 0, *size = 0, *strings = 0, *symbols = 0;
    for (int index = 0; index < most_entries && map->dynamic != 0; index++) {
        struct dynamic_entry *const entry = map->dynamic + index;
        if (entry->tag == 0) break;
        if (entry->tag == tag_init) init = entry;
        if (entry->tag == tag_array) array = entry;
        if (entry->tag == tag_array_size) size = entry;
        if (entry->tag == tag_strings) strings = entry;
        if (entry->tag == tag_symbols) symbols = entry;
    }
    library->map = (uint64_t)map;
    library->open = open;
    own->libraries = number + 1;
    if (strings == 0 || symbols == 0 || info[tag_strings] != strings ||
        info[tag_symbols] != symbols || info[tag_init] != init || info[tag_array] != array ||
        info[tag_array_size] != size)
        return;
    uint64_t thunk;
    __asm__("lea fl_thunks(%%rip), %0" : "=r"(thunk));
    thunk += 32 * (uint64_t)number;
    if (init != 0 && init->value != 0) {
        library->initializer = map->bias + init->value;
        library->entries[0] = tag_init;
        library->entries[1] = thunk - map->bias;
        library->own[0] = (uint64_t)init;
        info[tag_init] = (struct dynamic_entry *)&library->entries[0];
    }
    if (array != 0 && size != 0 && size->value >= 8) {
        library->array = map->bias + array->value;
        library->count = size->value / 8;
        library->only = thunk + 16;
        library->entries[2] = tag_array;
        library->entries[3] = (uint64_t)&library->only - map->bias;
        library->entries[4] = tag_array_size;
        library->entries[5] = 8;
        library->own[1] = (uint64_t)array;
        library->own[2] = (uint64_t)size;
        info[tag_array] = (struct dynamic_entry *)&library->entries[2];
        info[tag_array_size] = (struct dynamic_entry *)&library->entries[4];
    }
}

// They have run: the linker finds the library's own entries again. `which` is odd for the array.
CODE void fl_give_back(volatile struct fl_library *library, uint32_t which) {
    struct dynamic_entry **const info = (void *)(library->map + info_offset);
    if (which & 1) {
        info[tag_array] = (struct dynamic_entry *)library->own[1];
        info[tag_array_size] = (struct dynamic_entry *)library->own[2];
        library->own[1] = 0;
    } else {
        info[tag_init] = (struct dynamic_entry *)library->own[0];
        library->own[0] = 0;
    }
}

// MARK: The C library's calls

INLINE int is_c_library(const char *name) {
    const char *last = name;
    for (int index = 0; index < 4096 && name[index] != 0; index++)
        if (name[index] == '/') last = name + index + 1;
    return last[0] == 'l' && last[1] == 'i' && last[2] == 'b' && last[3] == 'c' &&
           (last[4] == '.' || last[4] == '-');
}

// `mov $number, %eax; syscall`
INLINE int is_call(const uint8_t *code, uint8_t number) {
    return code[0] == 0xB8 && code[1] == number && code[2] == 0 && code[3] == 0 && code[4] == 0 &&
           code[5] == 0x0F && code[6] == 0x05;
}

INLINE uint64_t stand_in(int site) {
    uint64_t code;
    if (site == FL_SITE_SIGACTION) __asm__("lea fl_sigaction(%%rip), %0" : "=r"(code));
    else if (site == FL_SITE_SIGMASK) __asm__("lea fl_sigmask(%%rip), %0" : "=r"(code));
    else if (site == FL_SITE_EXECVE) __asm__("lea fl_execve(%%rip), %0" : "=r"(code));
    else __asm__("lea fl_prctl(%%rip), %0" : "=r"(code));
    return code;
}

INLINE uint8_t site_number(int site) {
    return site == FL_SITE_SIGACTION ? 13 : site == FL_SITE_SIGMASK ? 14
         : site == FL_SITE_EXECVE ? 59 : 157;
}

// Before anything but the linker has run: leads the C library's calls past us, if it is the one
// whose calls the recorder knows.
CODE void hook_library(uint64_t base) {
    volatile struct fl_state *const own = state();
    for (int site = 0; site < 4; site++)
        if (own->sites[site] == 0 ||
            !is_call((const uint8_t *)(base + own->sites[site]), site_number(site)))
            return;
    own->library_base = base;
    const int memory = open_memory();
    for (int site = 0; site < 4; site++) {
        const uint64_t address = base + own->sites[site];
        const uint64_t old = *(const volatile uint64_t *)address;
        const uint64_t word = jump_word(address, stand_in(site), old);
        own->after[site] = address + 7;
        own->hooked_words[site] = old;
        if (word != 0 && write_protected(memory, address, word, may_read | may_execute))
            own->hooked |= 1u << site;
    }
    close_memory(memory);
}

// MARK: The start-up

// Waits until the recorder has done what must be done before anything runs: bounded, for it may
// have been killed.
INLINE void pass_gate(void) {
    volatile struct fl_state *const own = state();
    if (own->gate != FL_GATE_CLOSED) return;
    own->gate_ns = clock_time(clock_monotonic);
    __atomic_store_n(&own->gate, FL_GATE_WAITING, __ATOMIC_SEQ_CST);
    const long child_signal = 17;  // SIGCHLD: whoever should get it by mistake ignores it
    if (own->recorder != 0) call(call_kill, own->recorder, child_signal, 0, 0, 0, 0);
    for (int naps = 0; naps < 400 && own->gate == FL_GATE_WAITING; naps++) nap();
    own->gate_end_ns = clock_time(clock_monotonic);
}

CODE void take_start_slot(void) {
    volatile struct fl_state *const own = state();
    if (own->start_slot == 0) return;
    uint64_t start;
    __asm__("lea fl_start(%%rip), %0" : "=r"(start));
    own->real_start = *(volatile uint64_t *)own->start_slot;
    if (!own->start_is_protected) {
        *(volatile uint64_t *)own->start_slot = start;
        return;
    }
    const int memory = open_memory();
    write_protected(memory, own->start_slot, start, may_read);
    close_memory(memory);
}

// Everything is mapped and relocated, and nothing has run.
CODE void start_up(void) {
    volatile struct fl_state *const own = state();
    volatile struct linker_state *const linker = (void *)own->debug;
    uint32_t count = 0;
    for (struct link_map *map = linker->list; map != 0 && count < 4096; map = map->next) {
        note_library(map, 0);
        if (own->wants_sites && own->library_base == 0 && is_c_library(map->name))
            hook_library(map->bias);
        count++;
    }
    own->known = count;
    take_start_slot();
    // Another C library than the recorder's: it finds the calls itself.
    if (own->wants_sites && own->hooked == 0) own->gate = FL_GATE_CLOSED;
}

// MARK: What the linker tells

CODE void fl_linker_tells(const struct caller *from) {
    volatile struct fl_state *const own = state();
    volatile struct linker_state *const linker = (void *)own->debug;
    if (own->debug == 0) return;
    const int32_t now = linker->state;
    if (!own->is_started) {
        if (now == linker_adds && own->mapping_ns == 0)
            own->mapping_ns = clock_time(clock_monotonic);
        if (now != linker_consistent || linker->list == 0) return;
        note_border(FL_BORDER_RELOCATED, from);
        own->is_started = 1;
        start_up();
        pass_gate();
        return;
    }
    if (now == linker_adds) {
        const uint32_t number = own->opens;
        if (number >= FL_MOST_OPENS) return;
        note(IN_AREA(struct fl_open, FL_OPENS) + number, number, from, FL_OPEN_STACK);
        own->opens = number + 1;
        own->is_adding = 1;
    } else if (now == linker_consistent) {
        // Counts the list, and notes what came to its end since it was counted last.
        uint32_t count = 0;
        for (struct link_map *map = linker->list; map != 0 && count < 4096; map = map->next) {
            if (own->is_adding && count >= own->known) note_library(map, own->opens - 1);
            count++;
        }
        own->known = count;
        own->is_adding = 0;
    }
}

CODE void fl_main_begins(const struct caller *from) {
    note_border(FL_BORDER_MAIN, from);
    // Nobody would tell us from here on of filters for system calls.
    if (state()->hooked == 0) state()->filtered = 1;
}
