// The sampling signals: the first one, and the spare one for programs that use that themselves.

struct kernel_action { uint64_t handler, flags, restorer, mask; };
enum { sigchld = 17 };

INLINE void nap(void) {
    volatile int64_t time[2];
    time[0] = 0;
    time[1] = 20000;
    call(call_nanosleep, (long)time, 0, 0, 0, 0, 0);
}

INLINE int recorder_lives(void) {
    const uint32_t recorder = state()->recorder;
    return recorder != 0 && call(call_kill, recorder, 0, 0, 0, 0, 0) != -3;  // ESRCH
}

// Waits until no request is under way; bounded, for a thread may never get a core, and the recorder
// may have been killed. Whoever has not answered by then is not waited for again.
INLINE void quiesce(void) {
    volatile struct fl_state *const own = state();
    for (int naps = 0; naps < MOST_NAPS && (naps < NAPS || recorder_lives()); naps++) {
        if (__atomic_load_n(&own->outstanding, __ATOMIC_SEQ_CST) <= 0) return;
        nap();
    }
    __atomic_store_n(&own->outstanding, 0, __ATOMIC_SEQ_CST);
}

// Whether it is one that sends a signal to a thread; 0: any signal, any thread.
INLINE int sends(const volatile struct fl_timer *timer, uint32_t signal, uint32_t tid) {
    const uint32_t timed = __atomic_load_n(&timer->tid, __ATOMIC_SEQ_CST);
    return timed != 0 && (tid == 0 || timed == tid) && (signal == 0 || timer->signal == signal);
}

INLINE int is_timed(uint32_t signal, uint32_t tid) {
    for (int index = 0; index < FL_MOST_TIMERS; index++)
        if (sends(&state()->timers[index], signal, tid)) return 1;
    return 0;
}

// Waits until the kernel's timers send none any more. The recorder sees to that when it sees what was noted, and is
// told to look at once. Bounded, as above, and once: what was waited for in vain is forgotten.
INLINE void await_timers(uint32_t signal, uint32_t tid) {
    volatile struct fl_state *const own = state();
    for (int naps = 0; naps < MOST_NAPS && (naps < NAPS || recorder_lives()); naps++) {
        if (!is_timed(signal, tid)) return;
        // Whoever should get it by mistake ignores it.
        if (naps == 0 && own->recorder != 0)
            call(call_kill, own->recorder, sigchld, 0, 0, 0, 0);
        nap();
    }
    for (int index = 0; index < FL_MOST_TIMERS; index++) {
        volatile struct fl_timer *const timer = &own->timers[index];
        uint32_t expected = __atomic_load_n(&timer->tid, __ATOMIC_SEQ_CST);
        if (sends(timer, signal, tid))
            __atomic_compare_exchange_n(&timer->tid, &expected, 0, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST);
    }
}

CODE void fl_await_timers(void) { await_timers(0, 0); }

// This thread's own.
CODE void fl_await_own_timer(void) {
    if (is_timed(0, 0)) await_timers(0, (uint32_t)call(call_gettid, 0, 0, 0, 0, 0, 0));
}

enum { on_alternate_stack = 0x08000000 };  // SA_ONSTACK

// Sets our handler; `before` gets what the signal did.
INLINE long set_handler(uint64_t signal, uint64_t flags, volatile struct kernel_action *before) {
    uint64_t handler, restorer;
    __asm__("lea fl_sample_handler(%%rip), %0" : "=r"(handler));
    __asm__("lea fl_restorer(%%rip), %0" : "=r"(restorer));
    volatile struct kernel_action action;
    action.handler = handler;
    action.flags = state()->settled_flags | flags;
    action.restorer = restorer;
    // No handler of the program's runs on top of ours: it might last, or never come back.
    action.mask = ~(uint64_t)0;
    return call(call_sigaction, (long)signal, (long)&action, (long)before, 8, 0, 0);
}

// The program uses the sampling signal itself: the spare one takes its place, if the program leaves
// that to its default. A program that handles the first on alternate stacks (Go's runtime does, for
// its own stacks are small) has room there, and perhaps only there: so do we, by these flags.
CODE void fl_take_spare(uint64_t flags) {
    volatile struct fl_state *const own = state();
    uint32_t expected = FL_SPARE_NOT_NEEDED;
    if (own->spare_signal == 0 ||
        !__atomic_compare_exchange_n(&own->spare, &expected, FL_SPARE_BEGUN, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return;
    volatile struct kernel_action before;
    uint32_t outcome = FL_SPARE_REFUSED;
    if (call(call_sigaction, own->spare_signal, 0, (long)&before, 8, 0, 0) == 0 &&
        before.handler <= 1 && set_handler(own->spare_signal, flags, &before) == 0) {
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

INLINE void take_handler_back(uint64_t signal, uint64_t original) {
    volatile struct kernel_action action;
    uint64_t handler;
    __asm__("lea fl_sample_handler(%%rip), %0" : "=r"(handler));
    if (signal == 0 || call(call_sigaction, (long)signal, 0, (long)&action, 8, 0, 0) != 0 ||
        action.handler != handler)
        return;
    action.handler = original;
    action.flags = action.restorer = action.mask = 0;
    call(call_sigaction, (long)signal, (long)&action, 0, 8, 0, 0);
}

// A child that the program has forked: its signals do what they did before us.
CODE void fl_leave_child(void) {
    volatile struct fl_state *const own = state();
    *IN_AREA(uint32_t, FL_OWN) = 2;
    take_handler_back(own->sample_signal, own->original_handler);
    take_handler_back(own->spare_signal, own->spare_original);
}

// The program is about to have its system calls dispatched by where they are made. A handler of ours could
// not even return then.
CODE void fl_dispatch(void) {
    volatile struct fl_state *const own = state();
    __atomic_store_n(&own->filtered, FL_DISPATCHED, __ATOMIC_SEQ_CST);
    take_handler_back(own->sample_signal, own->original_handler);
    take_handler_back(own->spare_signal, own->spare_original);
}

INLINE int holds_our_signal(uint64_t mask) {
    volatile struct fl_state *const own = state();
    return (own->sample_signal != 0 && mask >> (own->sample_signal - 1) & 1) ||
           (own->spare_signal != 0 && mask >> (own->spare_signal - 1) & 1);
}

// The program sets an action: where its handler blocks a signal of ours, that arrives as it returns.
CODE void fl_see_handler(const struct kernel_action *action) {
    if (action->handler > 1 && holds_our_signal(action->mask)) state()->handlers_block = 1;
}

// The program is about to set an action of its own for one of the two: that is noted, and what is
// under way is waited for, lest the program gets it.
CODE void fl_displace(uint32_t signal, const struct kernel_action *action) {
    volatile struct fl_state *const own = state();
    const int is_spare = signal != own->sample_signal;
    if (is_spare)
        __atomic_store_n(&own->spare, FL_SPARE_REFUSED, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(&own->displaced, 1, __ATOMIC_SEQ_CST);
    if (own->filtered) return;  // no calls of ours
    fl_see_handler(action);
    await_timers(signal, 0);
    quiesce();
    if (!is_spare) fl_take_spare(action->flags & on_alternate_stack);
}

// By the kernel: what cannot be read is no fault then.
INLINE int copy(volatile void *to, uint64_t from, uint64_t size) {
    volatile struct { uint64_t start, size; } here, there;
    here.start = (uint64_t)to;
    there.start = from;
    here.size = there.size = size;
    return call(call_process_vm_readv, (long)state()->pid, (long)&here, 1, (long)&there, 1, 0) ==
           (long)size;
}

// Whether a call of that number can read the action or the mask that it is given.
CODE int fl_is_readable(uint64_t address, uint32_t number) {
    volatile uint8_t bytes[sizeof(struct kernel_action)];
    return copy(bytes, address, number == call_sigaction ? sizeof(struct kernel_action) : 8);
}

// MARK: Calls that a signal of ours ended

// The kernel's struct ucontext, as far as it concerns us.
struct interrupted {
    uint64_t head[5], r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp,
        rip, rest[15], mask;
};

// Whether our signal was blocked while a call waited: some take a mask for as long.
CODE int fl_blocks_our_signal(uint32_t number, volatile struct interrupted *at) {
    volatile uint64_t place[2], mask;
    place[0] = 0;
    if (number == 130) place[0] = at->rdi;                        // rt_sigsuspend
    else if (number == 271) place[0] = at->r10;                   // ppoll
    else if (number == 281 || number == 441) place[0] = at->r8;   // epoll_pwait, epoll_pwait2
    else if ((number == 270 || number == 333) && at->r9 != 0) {   // pselect6, io_pgetevents
        if (!copy(place, at->r9, 16)) return 1;
    }
    if (place[0] == 0 && number != 130) return 0;
    return !copy(&mask, place[0], 8) || holds_our_signal(mask);
}

// The length of mov N(%rsp), %edi or %rsi or %rdx that ends there; 0: there is none.
INLINE int length_of_load(const volatile uint8_t *end) {
    if (end[-2] != 0x24) return 0;
    if (end[-4] == 0x8B && end[-3] == 0x7C) return 4;
    return end[-5] == 0x48 && end[-4] == 0x8B && (end[-3] == 0x74 || end[-3] == 0x54) ? 5 : 0;
}

// The number of the call that has just returned: mov $NUMBER, %eax (or xor %eax, %eax); syscall; or
// syscall(2), led past us. Between the two, glibc's functions for several threads fetch one or two
// arguments back from the stack. -1: that cannot be told. Read by the kernel, for code need not be readable.
INLINE long number_of_call(volatile struct interrupted *at) {
    volatile struct fl_state *const own = state();
    volatile uint8_t code[17];
    const int is_long = copy(code, at->rip - 17, 17);
    if (!is_long && !copy(code + 10, at->rip - 7, 7)) return -1;
    if (code[15] != 0x0F || code[16] != 0x05) return -1;
    const volatile uint8_t *end = code + 15;
    if (is_long) {
        end -= length_of_load(end);
        end -= length_of_load(end);
    }
    if (end[-2] == 0x31 && end[-1] == 0xC0) return 0;
    if (end[-5] == 0xB8)
        return end[-4] | (long)end[-3] << 8 | (long)end[-2] << 16 | (long)end[-1] << 24;
    if (at->rip != own->after[FL_SITE_SYSCALL]) return -1;
    const uint64_t left = *(const volatile uint64_t *)(at->rsp - 128);
    return left >> 16 == own->cookie ? (long)(left & 0xFFFF) : -1;
}

// Alone, the program would never have noticed such a signal: its action was to ignore it. But some
// calls are not restarted after a handler, whatever its flags. They are made again, if nothing else
// ends them: a signal of the program's that is pending comes first. And if nothing else has ended
// them: a handler of the program's that returns leaves everything as it was when its signal had ended
// the call, so that ours, if it was blocked until then, seems to have done it.
CODE void fl_make_again(volatile struct interrupted *at) {
    volatile struct fl_state *const own = state();
    if (own->filtered || *IN_AREA(uint32_t, FL_OWN) != 1) return;  // no calls of ours
    if (own->handlers_block) return;
    volatile uint64_t pending;
    if (call(call_sigpending, (long)&pending, 8, 0, 0, 0, 0) != 0 || (pending & ~at->mask) != 0)
        return;
    const long number = number_of_call(at);
    if (number < 0) return;
    if (!FL_MAY_BE_REPEATED((uint32_t)number, at->rsi) ||
        fl_blocks_our_signal((uint32_t)number, at))
        return;
    at->rax = number;
    at->rip -= 2;
}

// MARK: Calls that a signal of ours cut short

#define MOST_BYTES 0x7FFFF000  // of one call

// `/dev/zero`, `full`, `random` and `urandom`: they give whatever is asked for.
CODE int fl_gives_all(uint64_t descriptor) {
    // The kernel's struct stat, as far as it concerns us.
    volatile struct { uint64_t head[3]; uint32_t mode, ids[3]; uint64_t device, rest[12]; } file;
    if (call(call_fstat, (long)descriptor, (long)&file, 0, 0, 0, 0) != 0) return 0;
    const uint64_t number = file.device & 0xFF;
    return (file.mode & 0xF000) == 0x2000 && file.device >> 8 == 1 &&
           (number == 5 || number == 7 || number == 8 || number == 9);
}

// By the kernel: where there is no room, that is no fault.
INLINE int put(uint64_t to, volatile void *from, uint64_t size) {
    volatile struct { uint64_t start, size; } here, there;
    here.start = (uint64_t)from;
    there.start = to;
    here.size = there.size = size;
    return call(call_process_vm_writev, (long)state()->pid, (long)&here, 1, (long)&there, 1, 0) ==
           (long)size;
}

enum { call_writev = 20, call_readv = 19, call_sendfile = 40, call_sendto = 44,
       call_copy_file_range = 326 };

// The register with a call's length, or with how many parts it has; 0: a call that a signal does not cut
// short, or that something else does for which it would not end at once when it is made again.
INLINE volatile uint64_t *length_of(volatile struct interrupted *at, long number) {
    if (number == call_sendfile) return &at->r10;
    if (number == call_copy_file_range) return &at->r8;
    return number == call_write || number == call_sendto || number == call_writev ||
            number == call_readv ? &at->rdx : 0;
}
INLINE int has_parts(long number) { return number == call_writev || number == call_readv; }

// Whether a signal cuts the call short with this file, as its first argument, and nothing else does for
// which the call would go on or wait.
CODE int fl_is_cut_short(long number, uint64_t descriptor) {
    if (number == call_readv) return fl_gives_all(descriptor);
    if (number == call_copy_file_range) return 1;
    volatile struct { uint64_t head[3]; uint32_t mode, ids[3]; uint64_t device, rest[12]; } file;
    if (call(call_fstat, (long)descriptor, (long)&file, 0, 0, 0, 0) != 0) return 0;
    const uint32_t kind = file.mode & 0xF000;
    const int is_pipe = kind == 0x1000, is_socket = kind == 0xC000;
    // sendfile gives a pipe what there is room for; writes to other files move all.
    return number == call_sendfile ? !is_pipe : is_pipe || is_socket;
}

struct part { uint64_t start, size; };  // the kernel's struct iovec
enum { most_parts = 32 };

// Has the thread make the rest of its call, once it is back from our handler.
CODE void fl_lead_to_rest(volatile struct interrupted *at, long number, uint64_t made) {
    volatile struct part parts[most_parts];
    volatile struct fl_rest rest;
    uint64_t got = at->rax, passed = 0, count = 0;
    // The rest may be cut short, too.
    const int is_first = at->rip != made;
    uint64_t place = is_first ? at->rsp - 128 : at->rsp;
    uint64_t start = at->rsi + got;
    if (has_parts(number)) {
        count = at->rdx;
        if (count > most_parts || !copy(parts, at->rsi, count * sizeof *parts)) return;
        while (passed < count && got >= parts[passed].size) got -= parts[passed++].size;
        if (passed == count) return;
        parts[passed].start += got;
        parts[passed].size -= got;
        count -= passed;
        if (is_first) place -= count * sizeof *parts;
        start = is_first ? place : at->rsi + passed * sizeof *parts;
        if (!put(start, parts + passed, count * sizeof *parts)) return;
    }
    rest.moved = at->rax;
    if (is_first) {
        rest.rsi = at->rsi;
        rest.rdx = at->rdx;
        rest.r10 = at->r10;
        rest.r8 = at->r8;
        rest.resume = at->rip;
        rest.number = (uint64_t)number;
        rest.stack_pointer = at->rsp;
        place -= sizeof rest;
        if (!put(place, &rest, sizeof rest)) return;
    } else {
        rest.moved += *(volatile uint64_t *)place;
        if (!put(place, &rest.moved, sizeof rest.moved)) return;
    }
    volatile uint64_t *const length = length_of(at, number);
    *length = has_parts(number) ? count : *length - at->rax;
    // The kernel counts on in the places that the others have for it.
    if (length == &at->rdx) at->rsi = start;
    uint64_t code;
    __asm__("lea fl_make_rest(%%rip), %0" : "=r"(code));
    at->rsp = place;
    at->rax = (uint64_t)number;
    at->rip = code;
}

// The kernel fills memory in a loop, and returns what it has as soon as a signal is pending. Alone no
// signal would have come: the rest is fetched here, where none does.
INLINE void fill_rest(volatile struct interrupted *at, long number) {
    uint64_t got = at->rax;
    // It looks at signals between two pages, or two blocks of random numbers.
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

// A call of the program's has just returned, or it was at any other place.
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
    if (length == 0 || *length > MOST_BYTES || (got >= *length && !has_parts(number))) return;
    // A signal of the program's that is pending would have cut it short.
    volatile uint64_t pending;
    if (call(call_sigpending, (long)&pending, 8, 0, 0, 0, 0) != 0 || (pending & ~at->mask) != 0)
        return;
    if (fl_is_cut_short(number, at->rdi)) fl_lead_to_rest(at, number, made);
}
