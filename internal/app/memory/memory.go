// Package memory keeps the memory of the process small: when garbage is collected, and what
// goes back to the system after the start.
package memory

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// The live heap is about 10 MiB, so that a busy service would collect garbage many times a
// second, which took a quarter of what it can answer. A high percentage alone would keep hundreds
// of MiB after a burst of logins, each of which needs 19 MiB. So the process holds a block that
// counts as live: garbage may grow to percent of both. Nothing is ever written to the block, and
// memory that nobody has touched takes none of the machine's.
const (
	percent = 50
	block   = 64 << 20
)

// Held is the block, for as long as it is referred to.
type Held struct{ block []byte }

// Start is called first of all when the service begins to start. GOGC, where it is set, decides
// in its place.
func Start() Held {
	if os.Getenv("GOGC") != "" {
		return Held{}
	}
	debug.SetGCPercent(percent)
	held := Held{make([]byte, block)}
	forget(held.block) // one start in thirty has collected garbage before, and clears memory to use it again
	return held
}

// settleAfter is how long the work of a start goes on: what was due meanwhile is done first.
const settleAfter = time.Second

// Settle ends the start when its work is done: memory that only the start needed goes back to
// the system. It holds the block until ctx ends, and returns no error.
func (h Held) Settle(ctx context.Context) error {
	select {
	case <-time.After(settleAfter):
		debug.FreeOSMemory()
		forgetProgram()
		<-ctx.Done()
	case <-ctx.Done():
	}
	runtime.KeepAlive(h.block)
	return nil
}
