// overlinked: names a variable of libinner.so, a function of libm.so, and nothing of libside.so, which
// it is linked against, too.
#include <math.h>

#include "fixture.h"

extern int64_t inner_cpu;

int main(int count, char **words) {
    (void)words;
    uint64_t state = 1;
    BURN(state, 20 * ROUNDS_PER_MS);
    return inner_cpu > 0 && cos((double)count) < 2 && state != 0 ? 0 : 1;
}
