// Package memory keeps the memory of the process small: when garbage is collected, and what
// goes back to the system after the start.
package memory

import (
	"context"
	"os"
	"runtime/debug"
	"time"
)

// startPercent is how much garbage may grow during the start: the first collection comes at
// 16 MiB, which few starts reach.
const startPercent = 400

// percent lets garbage grow to one and a half times the live heap before it is
// collected. The live heap is about 8 MiB, so this costs little memory, while
// with Go's default of 100 percent a busy service would collect ten times a
// second. A higher value would keep 100 MiB longer after a burst of logins, each
// of which needs 19 MiB.
const percent = 150

// Start is called when the service begins to start.
func Start() { collectAt(startPercent) }

// settleAfter is how long the work of a start goes on: what was due meanwhile is done first.
const settleAfter = time.Second

// Settle ends the start when its work is done: memory that only the start needed goes back to
// the system. It returns when ctx ends at the latest, and never an error.
func Settle(ctx context.Context) error {
	select {
	case <-time.After(settleAfter):
		collectAt(percent)
		debug.FreeOSMemory()
		forgetProgram()
	case <-ctx.Done():
	}
	return nil
}

// collectAt sets the percentage unless GOGC is set.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
