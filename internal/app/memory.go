package app

import (
	"os"
	"runtime/debug"
)

// gcPercent lets garbage grow to one and a half times what is in use before it is
// collected. What is in use is some 15 MiB, so that this costs little memory, and
// at Go's own 100 percent a busy service would collect ten times a second. More
// would let a burst of logins, each of which needs 19 MiB, keep 100 MiB longer.
const gcPercent = 150

// tuneMemory applies gcPercent, unless whoever runs the process has said otherwise
// by Go's own variable.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// freeStartMemory gives back what only the start needed, such as that of the hash
// that logins for unknown emails are compared with.
func freeStartMemory() { debug.FreeOSMemory() }
