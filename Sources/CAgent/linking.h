// The area's code for its arrival, and for reports from the dynamic linker and from the start of
// main.

// MARK: Arriving

INLINE void apply(int memory, volatile struct fl_patch *patch) {
    volatile struct fl_state *const own = state();
    const uint64_t address = patch->address, target = patch->target;
    if (target == FL_RESTORES)
        return write_protected(memory, address, patch->word, may_read | may_execute);
    const uint64_t word = target == 0
        ? patch->word : jump_word(address, (uint64_t)area() + target, patch->word);
    if (word == 0) return;
    if (!write_code(memory, address, word)) {
        own->unwritten = FL_PATCHES_WAIT;
        return;
    }
    for (int site = 0; site < FL_SITES; site++)
        if (own->after[site] == address + 7) own->hooked |= 1u << site;
}

// Unlocks our memory. Only the program's own memory should be locked: ours should not count towards
// its limit, and needs to stay resident only while it is used.
INLINE void unlock(void) {
    volatile struct fl_state *const own = state();
    call(call_munlock, (long)area(), (long)own->size, 0, 0, 0, 0);
    if (own->island != 0) call(call_munlock, (long)own->island, FL_TRAMPOLINES_SIZE, 0, 0, 0, 0);
    if (own->alternates_at != 0)
        call(call_munlock, (long)own->alternates_at, (long)alternates_size(), 0, 0, 0, 0);
}

enum { lock_current = 1, lock_future = 2, lock_on_fault = 4 };  // MCL_…

// The size of the program's mappings without ours, in bytes; locks them, too, if `locks` is set.
CODE uint64_t own_mappings(int locks, long flags) {
    volatile struct fl_state *const own = state();
    const char *path;
    __asm__("lea fl_mappings_path(%%rip), %0" : "=r"(path));
    const long here = -100, to_read = 0x80000;  // AT_FDCWD, O_RDONLY | O_CLOEXEC
    const int file = (int)call(call_openat, here, (long)path, to_read, 0, 0, 0);
    if (file < 0) return UINT64_MAX;
    volatile char text[256];
    uint64_t sum = 0, start = 0, number = 0;
    enum { at_start, at_end, at_rest } place = at_start;
    for (;;) {
        const long length = call(call_read, file, (long)text, sizeof text, 0, 0, 0);
        if (length <= 0) break;
        for (long index = 0; index < length; index++) {
            const char c = text[index];
            if (c == '\n') {
                place = at_start;
                number = 0;
            } else if (place == at_start && c == '-') {
                place = at_end;
                start = number;
                number = 0;
            } else if (place == at_end && c == ' ') {
                place = at_rest;
                // The kernel's own page is above all others.
                if (start >> 63 || start - (uint64_t)area() < own->size || is_ours(start) ||
                    (own->island != 0 && start - own->island < FL_TRAMPOLINES_SIZE))
                    continue;
                sum += number - start;
                // Pages that the kernel cannot bring into memory are locked all the same.
                if (locks)
                    call(call_mlock2, (long)start, (long)(number - start),
                         flags & lock_on_fault ? 1 : 0, 0, 0, 0);  // MLOCK_ONFAULT
            } else if (place != at_rest) {
                number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
            }
        }
    }
    call(call_close, file, 0, 0, 0, 0, 0);
    return sum;
}

// Called after mlockall, with its result.
CODE long fl_locked(long flags, long result) {
    if (result == 0) {
        unlock();
        return 0;
    }
    // Without the right to lock any amount (RLIMIT_MEMLOCK) all mappings count, ours as well. If
    // the program's mappings alone fit the limit, we lock them one by one.
    volatile uint64_t limit[2];
    if ((flags & lock_current) == 0 ||
        call(call_getrlimit, 8, (long)limit, 0, 0, 0, 0) != 0 ||  // RLIMIT_MEMLOCK
        own_mappings(0, flags) > limit[0])
        return result;
    if (flags & lock_future &&
        call(call_mlockall, flags & ~(long)lock_current, 0, 0, 0, 0, 0) != 0)
        return result;
    own_mappings(1, flags);
    return 0;
}

// Only the program itself can query its handlers. No other handler is set unnoticed meanwhile.
INLINE void see_handlers(void) {
    volatile struct fl_state *const own = state();
    if (own->handlers_block != FL_HANDLERS_UNKNOWN) return;
    own->handlers_block = 0;
    for (long signal = 1; signal <= 64; signal++) {
        volatile struct kernel_action action;
        action.handler = 0;
        if (call(call_sigaction, signal, 0, (long)&action, 8, 0, 0) == 0)
            fl_see_handler((const struct kernel_action *)&action);
    }
}

// The callers read the time first, or last, so that a stretch includes all the time that our code
// takes.
CODE void note_usage(volatile struct fl_moment *moment) {
    volatile int64_t usage[18];
    moment->cpu_ns = clock_time(clock_process);
    if (call(call_getrusage, 0, (long)usage, 0, 0, 0, 0) == 0) moment->minor_faults = usage[8];
}

CODE void begin_stretch(int number) {
    volatile struct fl_moment *const moment = &state()->stretches[number].start;
    moment->time_ns = clock_time(clock_monotonic);
    note_usage(moment);
}

CODE void end_stretch(int number) {
    volatile struct fl_moment *const moment = &state()->stretches[number].end;
    note_usage(moment);
    moment->time_ns = clock_time(clock_monotonic);
}

// MARK: The gate

// Waits until the recorder has done its work, which must precede everything else. The number of
// naps is bounded, and is the usual number if the recorder is dead.
INLINE void pass_gate(int most) {
    volatile struct fl_state *const own = state();
    if (own->gate != FL_GATE_CLOSED) return;
    own->gate_ns = clock_time(clock_monotonic);
    __atomic_store_n(&own->gate, FL_GATE_WAITING, __ATOMIC_SEQ_CST);
    const long child_signal = 17;  // SIGCHLD: a process that gets it by mistake ignores it
    if (own->recorder != 0) call(call_kill, own->recorder, child_signal, 0, 0, 0, 0);
    for (int naps = 0; naps < most && own->gate == FL_GATE_WAITING; naps++) {
        if (naps >= NAPS && !recorder_lives()) break;
        nap();
    }
    // A thread that has waited in vain goes on, and the recorder does not change code as if the
    // thread were stopped. A thread that is being served waits longer, because the recorder may be
    // stopped in the middle of it.
    uint32_t expected = FL_GATE_WAITING;
    if (!__atomic_compare_exchange_n(&own->gate, &expected, FL_GATE_OPEN, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        for (int naps = 0; naps < 10000 && own->gate == FL_GATE_SERVING; naps++) nap();
    // The recorder may have redirected the C library's calls to us.
    use_alternates();
    own->gate_end_ns = clock_time(clock_monotonic);
}

// A process whose root has no /proc cannot write to its own code, and under some kernels no process
// can. Then the recorder writes the patches from outside. Without them nothing of the launch would
// be noted, so we also wait for a recorder without a core. A gate behind this one stays closed.
INLINE void await_patches(void) {
    volatile struct fl_state *const own = state();
    if (own->unwritten == FL_PATCHES_WRITTEN) return;
    const uint32_t next = own->gate;
    own->gate = FL_GATE_CLOSED;
    pass_gate(MOST_NAPS);
    own->gate_ns = own->gate_end_ns = 0;
    own->gate = next;
}

// Called once, by the thread that brought the area in, before it goes on.
CODE void fl_settle(int descriptor) {
    volatile struct fl_state *const own = state();
    if (own->is_measured) begin_stretch(FL_STRETCH_ENTRY);
    own->address = (uint64_t)area();
    own->pid = (uint32_t)call(call_getpid, 0, 0, 0, 0, 0, 0);
    // If this fails, a forked child is recognised by its id alone.
    const long private_there = 0x32;  // MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS
    const long empty_in_children = 18;  // MADV_WIPEONFORK
    const long own_size = FL_SLOTS - FL_OWN;
    own->has_cursors = call(call_mmap, (long)area() + FL_OWN, own_size, may_read | may_write,
                            private_there, -1, 0) == (long)area() + FL_OWN;
    call(call_madvise, (long)area() + FL_OWN, FL_CURSORS - FL_OWN, empty_in_children, 0, 0, 0);
    // The program may have locked all its future mappings.
    call(call_munlock, (long)area() + FL_OWN, own_size, 0, 0, 0, 0);
    *IN_AREA(uint32_t, FL_OWN) = 1;
    const int memory = own->patch_count == 0 && own->words == 0 ? -1 : open_memory();
    for (uint64_t number = 0; number < own->patch_count && number < FL_MOST_PATCHES; number++)
        apply(memory, &own->patches[number]);
    lead_words(memory);
    close_memory(memory);
    see_handlers();
    volatile struct kernel_action before;
    if (own->sample_signal != 0) {
        before.handler = 0;
        if (set_handler(own->sample_signal, 0, &before) != 0) own->displaced = 1;
        // A handler was set after the recorder looked: it stays.
        if (before.handler > 1) {
            call(call_sigaction, (long)own->sample_signal, (long)&before, 0, 8, 0, 0);
            own->displaced = 1;
            fl_take_spare(before.flags & on_alternate_stack);
        }
    }
    if (own->island != 0) {
        const long shared_there = 0x100001;  // MAP_SHARED | MAP_FIXED_NOREPLACE
        const long place = call(call_mmap, (long)own->island, FL_TRAMPOLINES_SIZE,
                                may_read | may_execute, shared_there, descriptor, FL_ISLAND);
        own->island = place < 0 ? 0 : (uint64_t)place;
        // The new mapping may be locked at once.
        unlock();
    }
    call(call_madvise, (long)area(), (long)own->size, not_in_cores, 0, 0, 0);
    reserve_alternates();
    // A static program's calls lead to us already.
    use_alternates();
    if (own->is_measured) {
        await_patches();
        end_stretch(FL_STRETCH_ENTRY);
    } else {
        own->settled_cpu_ns = clock_time(clock_thread);
        own->settled_ns = clock_time(clock_monotonic);
    }
    __atomic_store_n(&own->phase, FL_PHASE_SETTLED, __ATOMIC_RELEASE);
    // The recorder of a launch first checks whether the area has settled.
    if (!own->is_measured) await_patches();
    if (own->gates_entry) pass_gate(NAPS);
}

// MARK: Moments

// The assembly's frame, from its lowest word: r15 r14 r13 r12 rbx rbp, return address.
struct caller { uint64_t r15, r14, r13, r12, rbx, rbp, return_address; };

// Copies the stack of our caller's caller, and notes the time. The time comes last, because the
// program's own work begins after it. On a busy machine the copying takes half a millisecond.
INLINE void note(volatile struct fl_open *open, const struct caller *from, uint64_t most) {
    volatile struct fl_state *const own = state();
    volatile int64_t usage[18];
    const uint32_t used = own->stacks;
    const uint64_t room = used < FL_STACKS_SIZE ? FL_STACKS_SIZE - used : 0;
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
    open->stack = used;
    open->vectors[0] = (uint64_t)area() + FL_STACKS + used;
    open->vectors[1] = most < room ? most : room;
    open->vectors[2] = (uint64_t)(from + 1);
    open->vectors[3] = open->vectors[1];
    const long copied = call(call_process_vm_readv, own->pid, (long)&open->vectors[0], 1,
                             (long)&open->vectors[2], 1, 0);
    open->copied_size = copied;
    if (copied > 0) own->stacks = used + (uint32_t)copied;
    open->cpu_ns = clock_time(clock_thread);
    const int64_t now = clock_time(clock_monotonic);
    __atomic_store_n(&open->start_ns, now, __ATOMIC_RELEASE);
}

// A border's stack is short: the linker's, or the C library's.
enum { border_stack = 16384 };

CODE void note_moment(uint32_t number, const struct caller *from) {
    if (state()->is_measured)
        begin_stretch(FL_STRETCH_RELOCATED + (int)number);
    else
        note(IN_AREA(struct fl_open, FL_OPENS) + number, from, border_stack);
}

INLINE void tell_border(uint32_t number) {
    volatile struct fl_state *const own = state();
    __atomic_store_n(&own->borders, own->borders | 1u << number, __ATOMIC_RELEASE);
}

// Our code has done its work at a border.
INLINE void leave_border(uint32_t number) {
    if (state()->is_measured) end_stretch(FL_STRETCH_RELOCATED + (int)number);
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
// been there for twenty years; we check it before we rely on it.
enum { info_offset = 64 };

// Keeps the data that identify a library's code without the process. A short launch is over before
// the recorder has read the mappings, and a library that a call loads may be gone, with another one
// in its place. The number of start-up libraries is limited, because each takes a microsecond or
// two: a program with many libraries lives for long enough. The recorder knows the program itself,
// which has no name. If the file's beginning is not mapped, the kernel reports that, and nothing is
// kept.
INLINE void keep_file(volatile struct fl_library *library, const struct link_map *map) {
    volatile struct fl_state *const own = state();
    const uint32_t used = own->stacks;
    if (map->name == 0 || map->name[0] != '/' || map->bias == 0 ||
        used + FL_FILE_START + FL_FILE_NAME > FL_FILES_SIZE)
        return;
    volatile uint64_t vectors[4] = {
        (uint64_t)area() + FL_STACKS + used, FL_FILE_START, map->bias, FL_FILE_START,
    };
    volatile char *const name = IN_AREA(char, FL_STACKS) + used + FL_FILE_START;
    uint32_t length = 0;
    while (length < FL_FILE_NAME && (name[length] = map->name[length]) != 0) length++;
    library->bias = map->bias;
    library->kept = used;
    library->kept_size = call(call_process_vm_readv, own->pid, (long)&vectors[0], 1,
                              (long)&vectors[2], 1, 0);
    own->stacks = used + FL_FILE_START + length + 1;
}

// musl's linker has no pointers to entries: it reads the section that `l_ld` leads to. There it
// finds a copy with our entries in place of the library's. `l_ld` is a public word.
INLINE void lead_by_section(volatile struct fl_library *library, struct link_map *map,
                            volatile uint64_t *copy, int length) {
    for (int index = 0; index < length; index++) {
        const struct dynamic_entry entry = map->dynamic[index];
        if (entry.tag == tag_init || entry.tag == tag_array || entry.tag == tag_array_size) continue;
        *copy++ = (uint64_t)entry.tag;
        *copy++ = entry.value;
    }
    for (int word = library->initializer == 0 ? 2 : 0; word < 6; word++)
        *copy++ = library->entries[word];
    copy[0] = copy[1] = 0;
}

// Leads the linker to thunks in place of a library's initialisers. The library's arrays and its
// dynamic section stay unchanged: they may be protected already.
CODE void note_library(struct link_map *map, uint64_t open) {
    volatile struct fl_state *const own = state();
    const uint32_t number = own->libraries;
    if (number >= FL_MOST_LIBRARIES) return;
    volatile struct fl_library *const library = IN_AREA(struct fl_library, FL_LIBRARIES) + number;
    struct dynamic_entry **const info = (void *)((char *)map + info_offset);
    struct dynamic_entry *init = 0, *array = 0, *size = 0, *strings = 0, *symbols = 0;
    int length = 0;
    for (; length < most_entries && map->dynamic != 0; length++) {
        struct dynamic_entry *const entry = map->dynamic + length;
        if (entry->tag == 0) break;
        if (entry->tag == tag_init) init = entry;
        if (entry->tag == tag_array) array = entry;
        if (entry->tag == tag_array_size) size = entry;
        if (entry->tag == tag_strings) strings = entry;
        if (entry->tag == tag_symbols) symbols = entry;
    }
    library->map = (uint64_t)map;
    library->open = open;
    library->runs = (uint64_t)&library->running;
    if (open != 0 || number < FL_MOST_FILES) keep_file(library, map);
    own->libraries = number + 1;
    if (strings == 0 || symbols == 0) return;
    if (!own->is_musl &&
        (info[tag_strings] != strings || info[tag_symbols] != symbols || info[tag_init] != init ||
         info[tag_array] != array || info[tag_array_size] != size))
        return;
    const uint64_t count = array != 0 && size != 0 ? size->value / 8 : 0;
    const uint32_t used = own->entries;
    // A copy may have three new entries, and one more that ends it.
    const uint64_t copied = own->is_musl ? 2 * (uint64_t)(length + 4) : 0;
    if ((count == 0 && (init == 0 || init->value == 0)) || !own->has_cursors ||
        count >= FL_MOST_ENTRIES || used + count + 1 + copied > FL_MOST_ENTRIES)
        return;
    uint64_t thunk;
    __asm__("lea fl_thunks(%%rip), %0" : "=r"(thunk));
    thunk += 32 * (uint64_t)number;
    if (init != 0 && init->value != 0) {
        library->initializer = map->bias + init->value;
        library->entries[0] = tag_init;
        library->entries[1] = thunk - map->bias;
    }
    if (count != 0) library->array = map->bias + array->value;
    library->count = count;
    volatile uint64_t *const words = IN_AREA(uint64_t, FL_ENTRIES) + used;
    for (uint64_t index = 0; index <= count; index++) words[index] = thunk + 16;
    own->entries = used + (uint32_t)(count + 1 + copied);
    library->entries[2] = tag_array;
    library->entries[3] = (uint64_t)words - map->bias;
    library->entries[4] = tag_array_size;
    library->entries[5] = 8 * (count + 1);
    if (own->is_musl) {
        lead_by_section(library, map, words + count + 1, length);
        library->own[0] = (uint64_t)map->dynamic;
        map->dynamic = (struct dynamic_entry *)(words + count + 1);
        return;
    }
    library->own[0] = (uint64_t)init;
    library->own[1] = (uint64_t)array;
    library->own[2] = (uint64_t)size;
    if (library->initializer != 0) info[tag_init] = (struct dynamic_entry *)&library->entries[0];
    info[tag_array] = (struct dynamic_entry *)&library->entries[2];
    info[tag_array_size] = (struct dynamic_entry *)&library->entries[4];
}

// The initialisers have run: the linker finds the library's own entries again. A forked child
// restores its own copy, sooner or later than its parent does, and leaves the note to the parent.
CODE void fl_give_back(volatile struct fl_library *library) {
    struct dynamic_entry **const info = (void *)(library->map + info_offset);
    if (state()->is_musl) {
        ((struct link_map *)library->map)->dynamic = (struct dynamic_entry *)library->own[0];
    } else {
        info[tag_init] = (struct dynamic_entry *)library->own[0];
        info[tag_array] = (struct dynamic_entry *)library->own[1];
        info[tag_array_size] = (struct dynamic_entry *)library->own[2];
    }
    if (*IN_AREA(uint32_t, FL_OWN) == 1) library->given_back = 1;
}

// MARK: The C library's calls

INLINE int is_c_library(const char *name) {
    const char *last = name;
    for (int index = 0; index < 4096 && name[index] != 0; index++)
        if (name[index] == '/') last = name + index + 1;
    return last[0] == 'l' && last[1] == 'i' && last[2] == 'b' && last[3] == 'c' &&
           (last[4] == '.' || last[4] == '-');
}

INLINE uint32_t site_number(int site) {
    return site == FL_SITE_SIGACTION ? 13 : site == FL_SITE_SIGMASK ? 14
         : site == FL_SITE_EXECVE ? 59 : site == FL_SITE_PRCTL ? 157
         : site == FL_SITE_STACK ? 131 : site == FL_SITE_THREAD ? 273 : 151;
}

// `mov $number, %eax; syscall`, or in syscall(2) `mov 8(%rsp), %r9; syscall`: seven bytes.
INLINE int is_call(const uint8_t *code, int site) {
    const uint64_t load = site == FL_SITE_SYSCALL
        ? 0x08244C8B4C : 0xB8 | (uint64_t)site_number(site) << 8;
    const uint64_t word = *(const volatile uint64_t *)code;
    return (word & ~((uint64_t)0xFF << 56)) == (load | (uint64_t)0x050F << 40);
}

INLINE uint64_t stand_in(int site) {
    uint64_t code;
    if (site == FL_SITE_SIGACTION) __asm__("lea fl_sigaction(%%rip), %0" : "=r"(code));
    else if (site == FL_SITE_SIGMASK) __asm__("lea fl_sigmask(%%rip), %0" : "=r"(code));
    else if (site == FL_SITE_EXECVE) __asm__("lea fl_execve(%%rip), %0" : "=r"(code));
    else if (site == FL_SITE_PRCTL) __asm__("lea fl_prctl(%%rip), %0" : "=r"(code));
    else if (site == FL_SITE_MLOCKALL) __asm__("lea fl_mlockall(%%rip), %0" : "=r"(code));
    else if (site == FL_SITE_STACK) __asm__("lea fl_stack(%%rip), %0" : "=r"(code));
    else if (site == FL_SITE_THREAD) __asm__("lea fl_thread(%%rip), %0" : "=r"(code));
    else __asm__("lea fl_syscall(%%rip), %0" : "=r"(code));
    return code;
}

// Called before anything but the linker has run: makes the C library's calls lead to us, if this is
// the library whose calls the recorder knows.
CODE void hook_library(uint64_t base) {
    volatile struct fl_state *const own = state();
    for (int site = 0; site < FL_SITES; site++)
        if (own->wants_sites >> site & 1 &&
            (own->sites[site] == 0 ||
             !is_call((const uint8_t *)(base + own->sites[site]), site)))
            return;
    own->library_base = base;
    const int memory = open_memory();
    for (int site = 0; site < FL_SITES; site++) {
        if ((own->wants_sites >> site & 1) == 0) continue;
        const uint64_t address = base + own->sites[site];
        const uint64_t old = *(const volatile uint64_t *)address;
        const uint64_t word = jump_word(address, stand_in(site), old);
        own->after[site] = address + 7;
        own->hooked_words[site] = old;
        if (word != 0 && write_code(memory, address, word))
            own->hooked |= 1u << site;
    }
    close_memory(memory);
    use_alternates();
}

// MARK: The start-up

CODE void take_start_pointer(void) {
    volatile struct fl_state *const own = state();
    if (own->start_pointer == 0) return;
    uint64_t start;
    __asm__("lea fl_start(%%rip), %0" : "=r"(start));
    own->real_start = *(volatile uint64_t *)own->start_pointer;
    if (!own->start_is_protected) {
        *(volatile uint64_t *)own->start_pointer = start;
        return;
    }
    const int memory = open_memory();
    write_protected(memory, own->start_pointer, start, may_read);
    close_memory(memory);
}

// Everything is mapped and relocated, and nothing has run.
CODE void start_up(void) {
    volatile struct fl_state *const own = state();
    volatile struct linker_state *const linker = (void *)own->debug;
    uint32_t count = 0;
    for (struct link_map *map = linker->list; map != 0 && count < 4096; map = map->next) {
        if (!own->is_measured) note_library(map, 0);
        if (own->wants_sites && own->library_base == 0 && is_c_library(map->name))
            hook_library(map->bias);
        count++;
    }
    own->known = count;
    // glibc's linker has read the address already; the program finds the kernel's value there.
    if (own->entry_pointer != 0 && !own->is_musl)
        *(volatile uint64_t *)own->entry_pointer = own->real_entry;
    // This C library is not the recorder's own: the recorder finds the calls itself.
    if (own->wants_sites && own->hooked == 0 && !own->is_measured) own->gate = FL_GATE_CLOSED;
}

INLINE void note_relocation(const struct caller *from) {
    note_moment(FL_BORDER_RELOCATED, from);
    state()->is_started = 1;
    start_up();
    // A recorder that sees the border sees the libraries, too.
    tell_border(FL_BORDER_RELOCATED);
    pass_gate(NAPS);
    // The recorder may have found the pointer just now.
    take_start_pointer();
    leave_border(FL_BORDER_RELOCATED);
}

// MARK: Reports of the linker

INLINE void take_news(const struct caller *from) {
    volatile struct fl_state *const own = state();
    volatile struct linker_state *const linker = (void *)own->debug;
    if (own->debug == 0) return;
    const int32_t now = linker->state;
    if (!own->is_started) {
        if (now == linker_adds && own->mapping_ns == 0)
            own->mapping_ns = clock_time(clock_monotonic);
        // glibc's linker loads an auditing library before it begins, and reports that, too.
        if (now != linker_consistent || linker->list == 0 ||
            (own->mapping_ns == 0 && !own->is_musl))
            return;
        note_relocation(from);
        return;
    }
    if (now == linker_adds) {
        const uint32_t number = own->opens;
        if (number >= FL_MOST_OPENS) return;
        note(IN_AREA(struct fl_open, FL_OPENS) + number, from, FL_OPEN_STACK);
        own->opens = number + 1;
        own->is_adding = 1;
    } else if (now == linker_consistent) {
        // Counts the list, and notes the libraries that were added to its end since the last count.
        uint32_t count = 0;
        for (struct link_map *map = linker->list; map != 0 && count < 4096; map = map->next) {
            if (own->is_adding && count >= own->known) note_library(map, own->opens - 1);
            count++;
        }
        own->known = count;
        own->is_adding = 0;
    }
}

// A handler of the program's that ran meanwhile could fork: its child would return into the middle
// of this, and write on in its parent's notes. Our own handler does no such thing.
INLINE int block_signals(volatile uint64_t *before) {
    volatile struct fl_state *const own = state();
    // The kernel kills a process that faults with the signal blocked.
    const uint64_t faults = SIGNAL(4) | SIGNAL(5) | SIGNAL(7) | SIGNAL(8) | SIGNAL(11) | SIGNAL(31);
    volatile uint64_t blocked = ~faults;
    if (!own->displaced && own->sample_signal != 0) blocked &= ~SIGNAL(own->sample_signal);
    return call(call_sigmask, set_mask, (long)&blocked, (long)before, 8, 0, 0) == 0;
}

CODE void fl_linker_tells(const struct caller *from) {
    volatile uint64_t before;
    if (state()->is_measured && state()->is_started) return;
    const int are_blocked = block_signals(&before);
    take_news(from);
    if (are_blocked) call(call_sigmask, set_mask, (long)&before, 0, 8, 0, 0);
}

// Restores the entries of libraries that musl's linker has not reached: it will not reach them any
// more. Its own is one of them.
INLINE void give_back_rest(void) {
    volatile struct fl_state *const own = state();
    for (uint32_t number = 0; own->is_musl && number < own->libraries; number++) {
        volatile struct fl_library *const library = IN_AREA(struct fl_library, FL_LIBRARIES) + number;
        if (library->open == 0 && library->own[0] != 0 && !library->given_back) fl_give_back(library);
    }
}

CODE void fl_main_begins(const struct caller *from) {
    volatile struct fl_state *const own = state();
    volatile uint64_t before;
    const int are_blocked = block_signals(&before);
    note_moment(FL_BORDER_MAIN, from);
    if (own->words != 0) end_last_word(IN_AREA(struct fl_open, FL_OPENS) + FL_BORDER_MAIN);
    tell_border(FL_BORDER_MAIN);
    give_back_words();
    give_back_rest();
    // From here on, we would not notice filters for system calls.
    if (own->hooked == 0) own->filtered = 1;
    leave_border(FL_BORDER_MAIN);
    if (are_blocked) call(call_sigmask, set_mask, (long)&before, 0, 8, 0, 0);
}

// A program with start code of its own begins here; others have their main noted later.
CODE void fl_program_begins(const struct caller *from) {
    volatile struct fl_state *const own = state();
    const volatile struct linker_state *const linker = (void *)own->debug;
    if (linker == 0 || linker->list == 0) return;
    if (own->is_started) return fl_main_begins(from);
    volatile uint64_t before;
    const int are_blocked = block_signals(&before);
    note_relocation(from);
    if (are_blocked) call(call_sigmask, set_mask, (long)&before, 0, 8, 0, 0);
}
