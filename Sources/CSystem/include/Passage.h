// Passes bytes and descriptors between two Unix domain stream sockets, both ways.
#pragma once

#include <stddef.h>
#include <stdint.h>

// As many descriptors as one message can carry (SCM_MAX_FD).
#define FL_PASSAGE_DESCRIPTORS 253
#define FL_PASSAGE_BYTES 65536

// One direction: data that were received together, until all are sent. Descriptors go with the
// first byte that they came with, or earlier in the same message: never later, and never before
// bytes that were sent before them.
struct fl_way {
    size_t first, end;  // the rest of `bytes`
    int32_t count;      // how many descriptors are left
    int32_t is_at_end;  // nothing more will come
    int32_t is_told;    // the other side was notified of the end
    int32_t is_broken;  // the receiver is gone: data are discarded
    int32_t is_delayed; // the kernel has no room for descriptors or memory now
    int64_t time;       // CLOCK_MONOTONIC, when the bytes came
    int descriptors[FL_PASSAGE_DESCRIPTORS];
    unsigned char bytes[FL_PASSAGE_BYTES];
};

// `ways[0]` is from `ends[0]` to `ends[1]`, `ways[1]` back. Initially all zeros except the ends.
struct fl_passage {
    int ends[2];
    struct fl_way ways[2];
};

// The events to wait for at an end (poll(2)); 0: none, not even its end.
short fl_passage_events(const struct fl_passage *passage, int side);
// Passes on as much as possible without waiting: sends the rest; if there is none and
// `may_receive`, receives once from `ends[side]`, and sends that. Returns how many bytes were
// received: they are the first of `bytes`.
size_t fl_passage_move(struct fl_passage *passage, int side, int may_receive);
// Whether nothing can pass any more. 1 or 0.
int fl_passage_is_over(const struct fl_passage *passage);
// Closes both ends, and the descriptors under way.
void fl_passage_close(struct fl_passage *passage);
