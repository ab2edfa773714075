// What libFuzzer offers; see <fuzzer/FuzzerInterface.h> of LLVM.
#pragma once
#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// libFuzzer's main function, for the LLVMFuzzerTestOneInput that is linked with it.
int fuzz_run(int argc, char **argv);
