// A static program's initialisers. Its start code calls the words of its arrays one after the
// other: each leads to a thunk of its own until main begins. Nothing depends on their order, or on
// how often one is called.

// A word's value before the program relocates itself, if it does.
INLINE uint64_t unrelocated(const volatile struct fl_library *library, uint64_t target) {
    return target - library->bias;
}

INLINE volatile struct fl_library *led_word(uint32_t number) {
    return IN_AREA(struct fl_library, FL_LIBRARIES) + number;
}

// Redirects all words or none.
INLINE void lead_words(int memory) {
    volatile struct fl_state *const own = state();
    uint64_t thunks;
    __asm__("lea fl_thunks(%%rip), %0" : "=r"(thunks));
    for (uint32_t number = 0; number < own->words; number++) {
        const uint64_t thunk = unrelocated(led_word(number), thunks + 32 * (uint64_t)number);
        if (write_code(memory, led_word(number)->entries[0], thunk)) continue;
        while (number-- > 0)
            write_code(memory, led_word(number)->entries[0],
                       unrelocated(led_word(number), led_word(number)->initializer));
        own->words = own->libraries = 0;
    }
}

// Nothing reports the end of the last one except main, which begins right after it.
INLINE void end_last_word(const volatile struct fl_open *main) {
    volatile uint64_t *const running = &led_word(0)->running;
    if (*running == 0) return;
    volatile struct fl_initializer *const record =
        IN_AREA(struct fl_initializer, FL_RECORDS) + (*running - 1);
    record->end_ns = main->start_ns;
    record->end_cpu_ns = main->cpu_ns;
    __atomic_store_n(&record->state, FL_INITIALIZER_RETURNED, __ATOMIC_RELEASE);
    *running = 0;
}

// The initialisers have run: restores the program's words and relocations.
INLINE void give_back_words(void) {
    volatile struct fl_state *const own = state();
    if (own->words == 0) return;
    const int memory = open_memory();
    for (uint32_t number = 0; number < own->words; number++) {
        volatile struct fl_library *const library = led_word(number);
        const uint64_t place = library->own[0], function = library->initializer;
        if (library->entries[0] != place)
            write_code(memory, library->entries[0], unrelocated(library, function));
        if (own->words_are_protected)
            write_protected(memory, place, function, may_read);
        else
            *(volatile uint64_t *)place = function;
        library->given_back = *(volatile uint64_t *)place == function;
    }
    close_memory(memory);
}
