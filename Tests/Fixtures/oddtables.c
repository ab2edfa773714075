// oddtables: computes for about 100 ms below a function whose unwind table finds its frame by operations
// that no compiler is known to write there (DW_OP_abs, DW_OP_rot), and prints a checksum.
#include "fixture.h"

FUNCTION uint64_t compute(uint64_t state) {
    BURN(state, 100 * ROUNDS_PER_MS);
    return state;
}

#ifdef __x86_64__
// CFA: |-(rsp + 32)| with 1 and 2 turned around on top of it, and dropped:
// lit2; lit1; breg7 32; neg; abs; rot; drop; drop. DW_OP_rot puts the top below the two others.
__asm__(
    ".text\n"
    ".type through_odd_tables, @function\n"
    "through_odd_tables:\n"
    "  .cfi_startproc\n"
    "  sub $24, %rsp\n"
    "  .cfi_escape 0x0f, 9, 0x32, 0x31, 0x77, 32, 0x1f, 0x19, 0x17, 0x13, 0x13\n"
    "  call compute\n"
    "  add $24, %rsp\n"
    "  .cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size through_odd_tables, .-through_odd_tables\n");
uint64_t through_odd_tables(uint64_t state);
#else
#define through_odd_tables compute
#endif

int main(void) {
    const uint64_t checksum = through_odd_tables(1);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return 0;
}
