// Alternate signal stacks for our handler's frames. A thread's own stack pointer may be anywhere
// when a signal comes: on a coroutine's small stack, or in a block of the heap that a virtual
// machine uses as a stack. Only the kernel can react at that moment: it switches to the alternate
// stack.

// The kernel's stack_t.
struct kernel_stack { uint64_t start; uint32_t flags, unused; uint64_t size; };
enum { stack_is_off = 2 };  // SS_DISABLE
enum { guard_size = 4096 };  // a page below each stack: a frame that does not fit causes a fault

INLINE uint64_t alternates_size(void) {
    return FL_MOST_ALTERNATES * (state()->alternate_size + guard_size);
}

// Whether a stack is one of ours. No stack lies at 0.
INLINE int is_ours(uint64_t start) {
    volatile struct fl_state *const own = state();
    return own->alternates_at != 0 && start - own->alternates_at < alternates_size();
}

// Both words of an entry, to change them at once: a reader never sees a thread with another's kind.
INLINE volatile uint64_t *owner_of(volatile struct fl_alternate *entry) {
    return (volatile uint64_t *)(volatile void *)entry;
}

INLINE void set_kind(volatile struct fl_alternate *entry, uint32_t kind) {
    __atomic_store_n(&entry->kind, kind, __ATOMIC_SEQ_CST);
}

INLINE int claim(volatile struct fl_alternate *entry, uint64_t before, uint32_t tid) {
    const uint64_t wanted = (uint64_t)FL_ALTERNATE_NONE << 32 | tid;
    return __atomic_compare_exchange_n(owner_of(entry), &before, wanted, 0, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

// A thread's entry, or a free one, or that of a thread which has ended; 0: all are in use.
CODE volatile struct fl_alternate *entry_for(uint32_t tid) {
    volatile struct fl_state *const own = state();
    volatile struct fl_alternate *const all = own->alternates;
    for (int index = 0; index < FL_MOST_ALTERNATES; index++)
        if (all[index].tid == tid) return &all[index];
    for (int index = 0; index < FL_MOST_ALTERNATES; index++)
        if (all[index].tid == 0 && claim(&all[index], *owner_of(&all[index]), tid))
            return &all[index];
    // A few entries each time: a thread that begins must not ask about all threads.
    for (int tries = 0; tries < 4; tries++) {
        const uint32_t turn = __atomic_fetch_add(&own->alternate_turn, 1, __ATOMIC_SEQ_CST);
        volatile struct fl_alternate *const entry = &all[turn % FL_MOST_ALTERNATES];
        const uint64_t before = __atomic_load_n(owner_of(entry), __ATOMIC_SEQ_CST);
        if (call(call_tgkill, own->pid, (uint32_t)before, 0, 0, 0, 0) == -3 &&  // ESRCH
            claim(entry, before, tid))
            return entry;
    }
    return 0;
}

// Where the entry's own stack begins; 0: it has none.
INLINE uint64_t made_stack(volatile struct fl_alternate *entry) {
    volatile struct fl_state *const own = state();
    if (own->alternates_at == 0) return 0;
    const uint64_t index = (uint64_t)(entry - own->alternates);
    const uint64_t stack =
        own->alternates_at + index * (own->alternate_size + guard_size) + guard_size;
    // No other thread has this entry.
    if ((own->alternates_made >> index & 1) == 0) {
        if (call(call_mprotect, (long)stack, (long)own->alternate_size, may_read | may_write, 0, 0,
                 0) != 0)
            return 0;
        __atomic_fetch_or(&own->alternates_made, (uint64_t)1 << index, __ATOMIC_SEQ_CST);
    }
    return stack;
}

// True only in the observed process itself, not in a child that it forked.
INLINE int may_use_alternates(void) {
    volatile struct fl_state *const own = state();
    return own->uses_alternates == 1 && !own->filtered && *IN_AREA(uint32_t, FL_OWN) == 1;
}

INLINE void take_alternate(void) {
    volatile struct fl_state *const own = state();
    volatile struct fl_alternate *const entry =
        entry_for((uint32_t)call(call_gettid, 0, 0, 0, 0, 0, 0));
    if (entry == 0) return;
    // An earlier thread with the same id may have used the entry.
    set_kind(entry, FL_ALTERNATE_NONE);
    volatile struct kernel_stack now;
    if (call(call_sigaltstack, 0, (long)&now, 0, 0, 0, 0) != 0 || (now.flags & stack_is_off) == 0)
        return;
    now.start = made_stack(entry);
    now.flags = now.unused = 0;
    now.size = own->alternate_size;
    if (now.start != 0 && call(call_sigaltstack, (long)&now, 0, 0, 0, 0, 0) == 0)
        set_kind(entry, FL_ALTERNATE_OURS);
}

// For a thread that begins, whose signals are blocked.
CODE void fl_take_alternate(void) {
    if (may_use_alternates()) take_alternate();
}

// Makes our handler run on the threads' own stacks, as without SA_ONSTACK: another process may send
// that signal, and an alternate stack of the program's may have no room.
CODE void give_up_alternates(void) {
    volatile struct fl_state *const own = state();
    __atomic_store_n(&own->uses_alternates, FL_ALTERNATES_GIVEN_UP, __ATOMIC_SEQ_CST);
    await_timers(0, 0);
    quiesce();
    own->settled_flags &= ~(uint64_t)on_alternate_stack;
    uint64_t handler;
    __asm__("lea fl_sample_handler(%%rip), %0" : "=r"(handler));
    for (int number = 0; number < 2; number++) {
        const uint64_t signal = number == 0 ? own->sample_signal : own->spare_signal;
        volatile struct kernel_action now;
        if (signal != 0 && call(call_sigaction, (long)signal, 0, (long)&now, 8, 0, 0) == 0 &&
            now.handler == handler)
            set_handler(signal, number == 0 ? 0 : own->spare_flags, &now);
    }
}

// In place of sigaltstack(2). The program does not see our alternate stacks. Once it sets one of
// its own, we rely on no alternate stack: it may be small, in use, gone, or shared with another
// thread.
CODE long fl_alternate(volatile struct kernel_stack *wanted, volatile struct kernel_stack *former) {
    // A child that shares the memory (vfork) sets its own.
    if (wanted != 0 && may_use_alternates() &&
        (uint32_t)call(call_getpid, 0, 0, 0, 0, 0, 0) == state()->pid)
        give_up_alternates();
    const long result = call(call_sigaltstack, (long)wanted, (long)former, 0, 0, 0, 0);
    if (result == 0 && former != 0 && is_ours(former->start)) {
        former->start = former->size = 0;
        former->flags = stack_is_off;
    }
    return result;
}

// Reserves their memory before libraries are mapped there: behind the area, or anywhere.
INLINE void reserve_alternates(void) {
    volatile struct fl_state *const own = state();
    if (own->alternate_size == 0) return;
    const long private_and_lazy = 0x4022;  // MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    const long if_free = 0x100000;  // MAP_FIXED_NOREPLACE
    const long size = (long)alternates_size();
    const long behind = (long)(area() + own->size);
    long place = call(call_mmap, behind, size, 0, private_and_lazy | if_free, -1, 0);
    if (place < 0) place = call(call_mmap, 0, size, 0, private_and_lazy, -1, 0);
    if (place < 0) return;
    call(call_madvise, place, size, not_in_cores, 0, 0, 0);
    own->alternates_at = (uint64_t)place;
}

// Starts to use them, if we intercept the program's own calls. No other thread runs at this time.
CODE void use_alternates(void) {
    volatile struct fl_state *const own = state();
    if (own->alternates_at == 0 || own->uses_alternates || own->displaced ||
        (own->hooked >> FL_SITE_STACK & 1) == 0)
        return;
    volatile struct kernel_action before;
    own->settled_flags |= on_alternate_stack;
    if (set_handler(own->sample_signal, 0, &before) != 0) own->displaced = 1;
    own->uses_alternates = 1;
    take_alternate();
}
