package app

import (
	"os"
	"runtime/debug"
)

// gcPercent lets garbage grow to one and a half times the live heap before it is
// collected. The live heap is about 15 MiB, so this costs little memory, while
// with Go's default of 100 percent a busy service would collect ten times a
// second. A higher value would keep 100 MiB longer after a burst of logins, each
// of which needs 19 MiB.
const gcPercent = 150

// tuneMemory applies gcPercent unless GOGC is set.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// freeStartMemory returns memory to the system that only the start needed, such as
// that for the hash with which logins of unknown emails are compared.
func freeStartMemory() { debug.FreeOSMemory() }
