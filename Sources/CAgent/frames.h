// The frames that an interpreter keeps of its own language: a list from the newest to the oldest.
// The handler copies it in the frames' thread. Only process_vm_readv(2) follows the pointers,
// because they may be invalid: an address without memory ends the list.

enum { most_frames = 256, most_arena = 16384, most_copies = 128, least_room = 4096 };

// Copies several places, one behind the other. 1: everything was copied.
INLINE int copy_parts(uint8_t *to, const volatile uint64_t *places, uint64_t count, uint64_t size) {
    volatile uint64_t local[2] = {(uint64_t)to, size};
    return call(call_process_vm_readv, (long)state()->pid, (long)local, 1, (long)places, (long)count,
                0) == (long)size;
}

INLINE int copy_memory(uint8_t *to, uint64_t from, uint64_t size) {
    volatile uint64_t remote[2] = {from, size};
    return copy_parts(to, remote, 1, size);
}

INLINE void copy_bytes(uint8_t *to, const uint8_t *from, uint64_t size) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

INLINE uint64_t word_at(const uint8_t *place) {
    uint64_t word;
    __asm__("mov (%1), %0" : "=r"(word) : "r"(place) : "memory");
    return word;
}

// Words of a thread's state; 0 where the interpreter does not have one.
struct thread_words {
    uint64_t newest, kernel_id, arena, arena_top;
    uint64_t first;  // where the newest frame is
};

INLINE int read_thread(uint64_t thread, struct thread_words *found) {
    const volatile struct fl_frame_list *const list = &state()->frames;
    const uint32_t offsets[4] = {list->newest, list->kernel_id, list->arena_start,
                                 list->arena_top};
    volatile uint64_t remote[8];
    uint64_t words[4], count = 0;
    for (uint64_t index = 0; index < 4; index++) {
        if (offsets[index] == FL_NOWHERE) continue;
        remote[2 * count] = thread + offsets[index];
        remote[2 * count++ + 1] = 8;
    }
    if (!copy_parts((uint8_t *)words, remote, count, 8 * count)) return 0;
    uint64_t *const all[4] = {&found->newest, &found->kernel_id, &found->arena, &found->arena_top};
    count = 0;
    for (uint64_t index = 0; index < 4; index++)
        *all[index] = offsets[index] == FL_NOWHERE ? 0 : words[count++];
    found->first = found->newest;
    if (list->newest_inside == FL_NOWHERE || found->newest == 0) return 1;
    return copy_memory((uint8_t *)&found->first, found->newest + list->newest_inside, 8);
}

// Copies a frame's record from the copy of the arena, if that has it; otherwise by a system call.
// The number of such calls is limited: the thread waits for them, and may hold a lock that others
// wait for.
INLINE int copy_frame(uint8_t *to, uint64_t frame, const uint8_t *arena, uint64_t arena_start,
                      uint64_t arena_size, uint32_t *copies) {
    const volatile struct fl_frame_list *const list = &state()->frames;
    const uint64_t first = list->part_sizes[0], second = list->part_sizes[1];
    const uint64_t offset = frame - arena_start, end = list->part_offsets[0] + first;
    if (second == 0 && offset < arena_size && end <= arena_size - offset) {
        copy_bytes(to, arena + offset + list->part_offsets[0], first);
        return 1;
    }
    if (++*copies > most_copies) return 0;
    volatile uint64_t remote[4] = {frame + list->part_offsets[0], first,
                                   frame + list->part_offsets[1], second};
    return copy_parts(to, remote, second == 0 ? 1 : 2, first + second);
}

// Behind the frames, the identities of their codes. `room`: where the memory ends.
INLINE void copy_codes(struct fl_frames *frames, uint8_t *room) {
    const volatile struct fl_frame_list *const list = &state()->frames;
    const uint64_t size = 8 + list->part_sizes[0] + list->part_sizes[1];
    uint8_t *const first = (uint8_t *)(frames + 1);
    uint8_t *const codes = first + frames->count * size;
    volatile uint64_t *const remote = (volatile uint64_t *)(room - 16 * (uint64_t)frames->count);
    for (uint64_t index = 0; index < frames->count; index++) {
        const uint8_t *const record = first + index * size + 8;
        remote[2 * index] = (word_at(record + list->code) & list->code_mask) + list->identity_offset;
        remote[2 * index + 1] = list->identity_size;
    }
    volatile uint64_t local[2] = {(uint64_t)codes, frames->count * list->identity_size};
    const long copied = call(call_process_vm_readv, (long)state()->pid, (long)local, 1, (long)remote,
                             (long)frames->count, 0);
    frames->identified = copied > 0 ? (uint32_t)((uint64_t)copied / list->identity_size) : 0;
}

// Copies the frame list of `slot->thread` behind the copy of the stack.
CODE void fl_copy_frames(volatile struct fl_slot *slot) {
    const volatile struct fl_frame_list *const list = &state()->frames;
    const uint64_t used = slot->copied_size > 0 ? ((uint64_t)slot->copied_size + 7) & ~(uint64_t)7 : 0;
    const uint64_t record = list->part_sizes[0] + list->part_sizes[1];
    if (record == 0 || slot->frames_room < least_room) return;
    struct fl_frames *const frames = (struct fl_frames *)(area() + slot->buffer + used);
    uint8_t *const end = (uint8_t *)frames + (slot->frames_room & ~(uint32_t)7);
    struct thread_words thread;
    if (!read_thread(slot->thread, &thread)) return;
    frames->thread = slot->thread;
    frames->kernel_id = thread.kernel_id;
    frames->newest = thread.newest;
    frames->count = frames->identified = 0;

    // The arena's copy lies at the end as long as it is needed.
    uint64_t arena_size = thread.arena_top - thread.arena;
    const uint64_t room = (uint64_t)(end - (uint8_t *)(frames + 1));
    if (thread.arena == 0 || arena_size > most_arena || arena_size > room / 2) arena_size = 0;
    uint8_t *const arena = end - ((arena_size + 7) & ~(uint64_t)7);
    if (arena_size > 0 && !copy_memory(arena, thread.arena, arena_size)) arena_size = 0;

    // Each frame needs room for its address, its record, its code's identity, and the request for
    // that.
    const uint64_t each = 8 + record + list->identity_size + 16;
    uint64_t most = (uint64_t)(arena - (uint8_t *)(frames + 1)) / each;
    if (most > most_frames) most = most_frames;
    uint64_t next = thread.first;
    uint32_t copies = 0;
    while (next != 0 && frames->count < most) {
        uint8_t *const place = (uint8_t *)(frames + 1) + frames->count * (8 + record);
        if (!copy_frame(place + 8, next, arena, thread.arena, arena_size, &copies)) break;
        __asm__ volatile("mov %1, (%0)" : : "r"(place), "r"(next) : "memory");
        frames->count++;
        next = word_at(place + 8 + list->caller);
    }
    frames->rest = next;
    if (frames->count > 0) copy_codes(frames, end);
    slot->frames_size = sizeof(struct fl_frames) + frames->count * (8 + record)
        + frames->identified * (uint64_t)list->identity_size;
}
