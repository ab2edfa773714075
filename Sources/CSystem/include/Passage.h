// Bytes and descriptors between two stream sockets of the Unix domain, both ways.
#pragma once

#include <stddef.h>
#include <stdint.h>

// As many descriptors as one message can carry (SCM_MAX_FD).
#define FL_PASSAGE_DESCRIPTORS 253
#define FL_PASSAGE_BYTES 65536

// One way: what was received together, until all of it is sent. Descriptors go with the first byte
// that they came with, or earlier in the same message: never later, and never before bytes that were
// sent before them.
struct fl_way {
    size_t first, end;  // what is left of `bytes`
    int32_t count;      // of descriptors that are left
    int32_t is_at_end;  // nothing more comes
    int32_t is_told;    // the other side knows of the end
    int32_t is_broken;  // nobody takes it any more: it is thrown away
    int32_t is_delayed; // the kernel has no room for descriptors or memory now
    int64_t time;       // of CLOCK_MONOTONIC, when the bytes came
    int descriptors[FL_PASSAGE_DESCRIPTORS];
    unsigned char bytes[FL_PASSAGE_BYTES];
};

// `ways[0]` is from `ends[0]` to `ends[1]`, `ways[1]` back. All zeros but for the ends at first.
struct fl_passage {
    int ends[2];
    struct fl_way ways[2];
};

// What to wait for at an end (poll(2)); 0: nothing, not even its end.
short fl_passage_events(const struct fl_passage *passage, int side);
// Passes on what can be without waiting: sends what is left, else receives once from `ends[side]` if
// `may_receive`, and sends that. How many bytes were received: they are the first of `bytes`.
size_t fl_passage_move(struct fl_passage *passage, int side, int may_receive);
// Whether nothing can pass any more. 1 or 0.
int fl_passage_is_over(const struct fl_passage *passage);
// Closes both ends, and the descriptors on their way.
void fl_passage_close(struct fl_passage *passage);
