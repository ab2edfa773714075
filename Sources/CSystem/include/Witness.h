// A process that stands in our process group and tells what signals reached it.
#pragma once

#include <stdint.h>

// Starts one. It is nobody's child, has all signals blocked and nothing open but its end of
// `*control`, a socket; with ours it ends. 0 or -errno.
int fl_witness_start(int *control);

// What signals have reached it since the last time, as bits from signal 1 on: a signal that came to
// us as one of the group has reached it by now. 0 or -errno; it may be stopped, too.
int fl_witness_ask(int control, uint64_t *signals);
