package app

import (
	"context"
	"os"
	"runtime/debug"
	"time"
)

// gcPercent lets garbage grow to twice the live heap. The live heap is about 10 MiB, so a busy
// service would collect garbage many times a second at Go's default of 100.
const gcPercent = 200

// setGCPercent sets gcPercent unless the environment has a value.
func setGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// startTime bounds the work of a start.
const startTime = time.Second

// releaseStartMemory returns memory that only the start needed to the system.
func releaseStartMemory(ctx context.Context) error {
	select {
	case <-time.After(startTime):
		debug.FreeOSMemory()
		unmapProgram()
	case <-ctx.Done():
	}
	return nil
}
