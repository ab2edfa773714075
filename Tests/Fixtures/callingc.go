// callingc: a goroutine has C compute. On its way there it changes to the thread's own stack.
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
import "C"

import "fmt"

func main() {
	fmt.Println(uint64(C.compute(150000000)))
}
