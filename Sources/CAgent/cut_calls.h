// Calls that move data, and that a signal of ours cut short: the thread moves the rest (rest.h).

#define MOST_BYTES 0x7FFFF000  // in one call

enum { is_pipe = 0x1000, is_device = 0x2000, is_regular = 0x8000, is_socket = 0xC000 };  // S_IF…

// The kernel's struct stat, as far as it concerns us.
struct kernel_stat { uint64_t head[3]; uint32_t mode, ids[3]; uint64_t device, rest[12]; };

// 0: there is no such file.
CODE uint32_t fl_kind_of(uint64_t descriptor, volatile struct kernel_stat *file) {
    if (call(call_fstat, (long)descriptor, (long)file, 0, 0, 0, 0) != 0) return 0;
    return file->mode & 0xF000;
}

// `/dev/zero`, `full`, `random` and `urandom`: they return as many bytes as requested.
CODE int fl_gives_all(uint64_t descriptor) {
    volatile struct kernel_stat file;
    if (fl_kind_of(descriptor, &file) != is_device) return 0;
    const uint64_t number = file.device & 0xFF;
    return file.device >> 8 == 1 &&
           (number == 5 || number == 7 || number == 8 || number == 9);
}

// The kernel writes: a place without memory is an error then, and no fault.
INLINE int put(uint64_t to, volatile void *from, uint64_t size) {
    volatile struct { uint64_t start, size; } here, there;
    here.start = (uint64_t)from;
    there.start = to;
    here.size = there.size = size;
    return call(call_process_vm_writev, (long)state()->pid, (long)&here, 1, (long)&there, 1, 0) ==
           (long)size;
}

enum { call_writev = 20, call_sendfile = 40, call_sendto = 44, call_copy_file_range = 326 };

// The register with a call's length; 0: another call, or a call of several parts.
INLINE volatile uint64_t *length_of(volatile struct interrupted *at, long number) {
    if (number == call_sendfile) return &at->r10;
    if (number == call_copy_file_range) return &at->r8;
    return number == call_write || number == call_sendto ? &at->rdx : 0;
}

// Where a call that writes several parts continues after the bytes that it has moved. 0: it has
// moved all, or the parts cannot be read.
INLINE int find_part(volatile struct interrupted *at, uint64_t got, volatile struct fl_rest *rest) {
    volatile struct { uint64_t start, size; } part;
    rest->parts = (uint32_t)at->rdx;
    for (rest->part = 0; rest->part < rest->parts;) {
        if (!copy(&part, at->rsi + 16 * (uint64_t)rest->part++, 16)) return 0;
        if (got < part.size) {
            rest->start = part.start + got;
            rest->left = part.size - got;
            return 1;
        }
        got -= part.size;
    }
    return 0;
}

// Whether the length of files is unlimited. At a limit the rest of the call would raise a signal.
INLINE int has_no_limit(void) {
    volatile uint64_t limit[2];
    return call(call_getrlimit, 1, (long)limit, 0, 0, 0, 0) == 0 && limit[0] == ~(uint64_t)0;
}

// Whether the process cancels threads: the handler for that must find them in the C library's code.
INLINE int cancels_threads(void) {
    volatile struct kernel_action action;
    action.handler = 0;
    return call(call_sigaction, 32, 0, (long)&action, 8, 0, 0) != 0 || action.handler > 1;
}

// Makes the thread move the rest of its call after it returns from our handler. `kind`: that of the
// file that the data go to.
CODE void fl_lead_to_rest(volatile struct interrupted *at, long number, uint32_t kind) {
    uint64_t between_files, made, stream;
    __asm__("lea fl_make_rest(%%rip), %0" : "=r"(between_files));
    __asm__("lea fl_rest_made(%%rip), %0" : "=r"(made));
    __asm__("lea fl_stream_rest(%%rip), %0" : "=r"(stream));
    volatile struct fl_rest rest;
    volatile uint64_t *const length = length_of(at, number);
    const uint64_t got = at->rax;
    if (at->rip == made) {
        // The rest was cut short, too.
        rest.moved = *(volatile uint64_t *)at->rsp + got;
        if (!put(at->rsp, &rest.moved, sizeof rest.moved)) return;
    } else {
        const int is_stream = kind == is_pipe || kind == is_socket;
        rest.moved = got;
        rest.rdi = at->rdi;
        rest.rsi = at->rsi;
        rest.rdx = at->rdx;
        rest.r10 = at->r10;
        rest.r8 = at->r8;
        rest.r9 = at->r9;
        rest.resume = at->rip;
        rest.number = (uint64_t)number;
        rest.stack_pointer = at->rsp;
        rest.flags = at->flags;
        rest.descriptor = (int32_t)at->rdi;
        rest.events = 4;  // POLLOUT
        rest.told = 0;
        rest.part = rest.parts = 0;
        if (length != 0) {
            rest.start = at->rsi + got;
            rest.left = *length - got;
        } else if (!find_part(at, got, &rest)) {
            return;
        }
        rest.is_socket = kind == is_socket;
        rest.length = 0;
        rest.limit[0] = rest.limit[1] = 0;
        const uint64_t place = at->rsp - 128 - sizeof rest;
        if (!put(place, &rest, sizeof rest)) return;
        at->rsp = place;
        if (is_stream) {
            at->rip = stream;
            return;
        }
    }
    // The kernel has updated the offsets in the call's arguments.
    *length -= got;
    at->rax = (uint64_t)number;
    at->rip = between_files;
}

// The kernel fills memory in a loop, and returns early as soon as a signal is pending. Without us
// no signal would have come, so we fetch the rest here, where no signal arrives.
INLINE void fill_rest(volatile struct interrupted *at, long number) {
    uint64_t got = at->rax;
    // The kernel checks for signals between two pages, or between two blocks of random numbers.
    if (got % 64 != 0) return;
    const int is_read = number == call_read;
    uint64_t wanted = is_read ? at->rdx : at->rsi;
    if (wanted > MOST_BYTES) wanted = MOST_BYTES;
    if (got >= wanted || (is_read && !fl_gives_all(at->rdi))) return;
    while (got < wanted) {
        const long place = (long)((is_read ? at->rsi : at->rdi) + got);
        const long rest = (long)(wanted - got);
        const long more = is_read ? call(call_read, (long)at->rdi, place, rest, 0, 0, 0)
                                  : call(call_getrandom, place, rest, (long)at->rdx, 0, 0, 0);
        if (more <= 0) break;
        got += (uint64_t)more;
    }
    at->rax = got;
}

// Called where a call of the program's has just returned, or at any other place.
CODE void fl_get_rest(volatile struct interrupted *at) {
    volatile struct fl_state *const own = state();
    const uint64_t got = at->rax;
    if (got == 0 || got >= MOST_BYTES ||
        (got >= at->rdx && got >= at->rsi && got >= at->r10 && got >= at->r8))
        return;
    if (own->filtered || *IN_AREA(uint32_t, FL_OWN) != 1) return;  // no calls of ours
    uint64_t made;
    __asm__("lea fl_rest_made(%%rip), %0" : "=r"(made));
    const long number = at->rip == made
        ? (long)((volatile struct fl_rest *)at->rsp)->number : number_of_call(at);
    if (number == call_read || number == call_getrandom) return fill_rest(at, number);
    volatile uint64_t *const length = length_of(at, number);
    if (length == 0 ? number != call_writev : *length > MOST_BYTES || got >= *length) return;
    // A pending signal of the program's would have cut the call short without us.
    volatile uint64_t pending;
    if (call(call_sigpending, (long)&pending, 8, 0, 0, 0, 0) != 0 || (pending & ~at->mask) != 0 ||
        cancels_threads())
        return;
    // sendfile gives a pipe only as much as there is room for; writes to other files move all.
    volatile struct kernel_stat file;
    const uint32_t kind = fl_kind_of(number == call_copy_file_range ? at->rdx : at->rdi, &file);
    const int is_plain = number != call_sendto || at->r10 == 0;
    if (length == 0 || length == &at->rdx ? kind == is_pipe || (kind == is_socket && is_plain)
                                          : kind == is_regular && has_no_limit())
        fl_lead_to_rest(at, number, kind);
}
