// The sampling signals: the first one, and the spare one for programs that use the first
// themselves.

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

// Waits until no request is under way. The wait is bounded: a thread may never get a core, and the
// recorder may have been killed. Requests that are unanswered by then are forgotten.
INLINE void quiesce(void) {
    volatile struct fl_state *const own = state();
    for (int naps = 0; naps < MOST_NAPS && (naps < NAPS || recorder_lives()); naps++) {
        if (__atomic_load_n(&own->outstanding, __ATOMIC_SEQ_CST) <= 0) return;
        nap();
    }
    __atomic_store_n(&own->outstanding, 0, __ATOMIC_SEQ_CST);
}

// Whether a timer sends a signal to a thread; 0: any signal, any thread.
INLINE int sends(const volatile struct fl_timer *timer, uint32_t signal, uint32_t tid) {
    const uint32_t timed = __atomic_load_n(&timer->tid, __ATOMIC_SEQ_CST);
    return timed != 0 && (tid == 0 || timed == tid) && (signal == 0 || timer->signal == signal);
}

INLINE int is_timed(uint32_t signal, uint32_t tid) {
    for (int index = 0; index < FL_MOST_TIMERS; index++)
        if (sends(&state()->timers[index], signal, tid)) return 1;
    return 0;
}

// Waits until the kernel's timers send no more signals. The recorder stops them when it sees our
// note, and we wake it to look at once. Bounded, as above, and done once: a timer that did not stop
// by then is forgotten.
INLINE void await_timers(uint32_t signal, uint32_t tid) {
    volatile struct fl_state *const own = state();
    for (int naps = 0; naps < MOST_NAPS && (naps < NAPS || recorder_lives()); naps++) {
        if (!is_timed(signal, tid)) return;
        // A process that gets this by mistake ignores it.
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

// Waits for this thread's own timer.
CODE void fl_await_own_timer(void) {
    if (is_timed(0, 0)) await_timers(0, (uint32_t)call(call_gettid, 0, 0, 0, 0, 0, 0));
}

enum { on_alternate_stack = 0x08000000 };  // SA_ONSTACK

// Sets our handler; `before` gets the signal's former action.
INLINE long set_handler(uint64_t signal, uint64_t flags, volatile struct kernel_action *before) {
    uint64_t handler, restorer;
    __asm__("lea fl_sample_handler(%%rip), %0" : "=r"(handler));
    __asm__("lea fl_restorer(%%rip), %0" : "=r"(restorer));
    volatile struct kernel_action action;
    action.handler = handler;
    action.flags = state()->settled_flags | flags;
    action.restorer = restorer;
    // No handler of the program's runs on top of ours: it might take long, or never return.
    action.mask = ~(uint64_t)0;
    return call(call_sigaction, (long)signal, (long)&action, (long)before, 8, 0, 0);
}

// The program uses the sampling signal itself. The spare one takes its place, if the program leaves
// that at its default. A program that handles the first signal on alternate stacks (Go's runtime
// does, because its own stacks are small) has room there, and perhaps only there. So our handler
// uses them, too, by these flags.
CODE void fl_take_spare(uint64_t flags) {
    volatile struct fl_state *const own = state();
    uint32_t expected = FL_SPARE_NOT_NEEDED;
    if (own->spare_signal == 0 ||
        !__atomic_compare_exchange_n(&own->spare, &expected, FL_SPARE_BEGUN, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return;
    own->spare_flags = (uint32_t)flags;
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
    // Unless the program has taken the spare signal in this very moment.
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

// For a child that the program has forked: restores the actions that its signals had before us.
CODE void fl_leave_child(void) {
    volatile struct fl_state *const own = state();
    *IN_AREA(uint32_t, FL_OWN) = 2;
    take_handler_back(own->sample_signal, own->original_handler);
    take_handler_back(own->spare_signal, own->spare_original);
}

// The program is about to have the kernel dispatch its system calls by their address. Our handler
// could not even return then.
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

// The program sets an action. If its handler blocks a signal of ours, that arrives as the handler
// returns.
CODE void fl_see_handler(const struct kernel_action *action) {
    if (action->handler > 1 && holds_our_signal(action->mask)) state()->handlers_block = 1;
}

// The program is about to set an action of its own for one of the two signals. We note that, and
// wait for pending requests, so that the program does not get their signals.
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

// The kernel copies: unreadable memory is an error then, and no fault.
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
        rip, flags, rest[14], mask;
};

// Whether our signal was blocked while a call waited: some calls take a mask for that time.
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
// syscall(2), which we intercept. Between the two, glibc's functions for several threads load one
// or two arguments back from the stack. -1: not known. The kernel reads the code, because code need
// not be readable.
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

// Without us, the program would never have noticed such a signal: its action was to ignore it. But
// the kernel does not restart some calls after a handler, whatever its flags. We make them again on
// two conditions. Nothing else ends them: a pending signal of the program's comes first. And
// nothing else has ended them: after a handler of the program's, everything is as it was when its
// signal had ended the call, so that our signal, if it was blocked until then, seems to have done
// it.
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
