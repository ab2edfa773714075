// callingc: a goroutine has C compute. On its way there it changes to the thread's own stack.
// callingc back: C has Go compute, which changes back to the goroutine's.
package main

// #include <stdint.h>
// static __attribute__((noinline)) uint64_t compute(uint64_t rounds) {
//     uint64_t state = 1;
//     for (uint64_t round = 0; round < rounds; round++) {
//         state = state * 6364136223846793005u + 1442695040888963407u;
//         __asm__ volatile("" : "+r"(state));
//     }
//     return state;
// }
// extern uint64_t computeInGo(uint64_t rounds);
// static __attribute__((noinline)) uint64_t haveComputed(uint64_t rounds) { return computeInGo(rounds) + 1; }
import "C"

import (
	"fmt"
	"os"
)

//export computeInGo
func computeInGo(rounds C.uint64_t) C.uint64_t { return C.uint64_t(multiply(uint64(rounds))) }

//go:noinline
func multiply(rounds uint64) uint64 {
	state := uint64(1)
	for round := uint64(0); round < rounds; round++ {
		state = state*6364136223846793005 + 1442695040888963407
	}
	return state
}

func main() {
	if len(os.Args) > 1 {
		fmt.Println(uint64(C.haveComputed(150000000)))
	} else {
		fmt.Println(uint64(C.compute(150000000)))
	}
}
