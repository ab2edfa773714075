// A process in our process group that reports which signals reached it.
#pragma once

#include <stdint.h>

// Starts one. It is not our child, has all signals blocked, and only its end of the socket
// `*control` open; it ends when our end is closed. 0 or -errno.
int fl_witness_start(int *control);

// The signals that have reached it since the last call, as bits from signal 1 on. If a signal sent
// to the whole group has reached us, it has also reached the witness when this returns. 0 or
// -errno; the witness may also be stopped.
int fl_witness_ask(int control, uint64_t *signals);
