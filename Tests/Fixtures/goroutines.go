// goroutines: four goroutines compute in loops that call nothing, so that only Go's own preemption
// by signals (SIGURG) can interrupt them: for the main one, which gives way twice and must get its
// turn before they are done, also where GOMAXPROCS is 1, and for the garbage collector, which has
// to stop them all. Prints their checksum.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

const rounds = 60_000_000

func compute(state uint64) uint64 {
	for left := rounds; left > 0; left-- {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	return state
}

func main() {
	var group sync.WaitGroup
	var running atomic.Int64
	results := make([]uint64, 4)
	for number := range results {
		group.Add(1)
		running.Add(1)
		go func(number int) {
			defer group.Done()
			results[number] = compute(uint64(number) + 1)
			running.Add(-1)
		}(number)
	}
	runtime.Gosched()
	runtime.Gosched()
	preempted := running.Load() > 0
	runtime.GC()
	group.Wait()
	var checksum uint64
	for _, result := range results {
		checksum += result
	}
	fmt.Printf("checksum %016x preempted %t\n", checksum, preempted)
	if !preempted {
		os.Exit(1)
	}
}
