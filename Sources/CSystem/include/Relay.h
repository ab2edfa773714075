// Passes on a program's output to its former destination, and searches it for a text.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The longest text that can be looked for, in bytes.
#define FL_RELAY_TEXT_LIMIT 1024

// A text that is searched in data arriving piece by piece. No line has to be kept (Knuth, Morris,
// Pratt, 1977).
struct fl_search {
    size_t length, matched;
    int32_t is_over;
    uint16_t failure[FL_RELAY_TEXT_LIMIT];
    unsigned char text[FL_RELAY_TEXT_LIMIT];
};

// An empty text is found in the first byte. 0 or -E2BIG.
int fl_search_begin(struct fl_search *search, const void *text, size_t length);
// Whether the text ends in these bytes, for the first time. 1 or 0.
int fl_search_finds(struct fl_search *search, const void *bytes, size_t count);

// The kinds of descriptors, as far as watching their output is concerned.
enum {
    fl_stream_none = 0,    // it is closed, or was when we began
    fl_stream_relayed,     // a relay may replace it: its errors also reach the program
    fl_stream_file,        // a regular file, which only the program itself may write to
    fl_stream_other,       // a device: its errors cannot be passed on
};
int fl_stream_kind(int descriptor);

// A relay's report, in one packet.
struct fl_relay_news {
    int64_t time;  // CLOCK_MONOTONIC, nanoseconds
    int32_t kind;
};
enum { fl_relay_found = 1, fl_relay_drained = 2 };

// Starts a process that passes on the data written to `*input` to `original`, until all writers are
// gone. It is not our child and outlives us, so the program's output does not depend on us.
// `*input` is a terminal if `original` is one, otherwise a pipe. `*control` is a socket for
// reports. A byte sent to it asks for `fl_relay_drained` once all data waiting by then have been
// passed on. When `text` (empty: anything) appears, that is reported once; it must not contain a
// line break. 0 or -errno.
int fl_relay_start(int original, const void *text, size_t length, int *input, int *control);

// 1 or 0: whether there is a report; otherwise -errno, also at the relay's end.
int fl_relay_news(int control, struct fl_relay_news *news);
int fl_relay_ask(int control);

// Whether two descriptors refer to the same open file, or the same terminal, pipe or socket. 1 or
// 0.
int fl_same_stream(int left, int right);
