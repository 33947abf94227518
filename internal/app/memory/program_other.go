//go:build !linux

package memory

// forget does nothing.
func forget([]byte) {}

// forgetProgram does nothing: only on Linux is it known what of the program the process has.
func forgetProgram() {}
