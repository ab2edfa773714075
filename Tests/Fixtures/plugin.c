// plugin.so: what `plugins` loads, calls and unloads.
#include <stdint.h>

#include "fixture.h"

static uint64_t calls;

__attribute__((constructor)) static void begin(void) { calls = 1; }

uint64_t plugin_work(uint64_t state);
uint64_t plugin_work(uint64_t state) {
    BURN(state, 3 * ROUNDS_PER_MS);
    return state + calls++;
}
