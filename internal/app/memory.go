package app

import (
	"context"
	"os"
	"runtime/debug"
	"time"
)

// gcPercent lets the heap grow to three times the live heap between collections. The live heap is
// only about 10 MiB, so at Go's default of 100 a busy service would collect garbage many times a
// second.
const gcPercent = 200

// setGCPercent sets gcPercent unless the environment sets GOGC.
func setGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// startupGrace is longer than a start takes.
const startupGrace = time.Second

// releaseStartMemory waits until the start is over and then returns unused memory to the system.
func releaseStartMemory(ctx context.Context) error {
	select {
	case <-time.After(startupGrace):
		debug.FreeOSMemory()
		unmapProgram()
	case <-ctx.Done():
	}
	return nil
}
