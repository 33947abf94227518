//go:build !linux

package memory

// forgetProgram does nothing: only on Linux is it known what of the program the process has.
func forgetProgram() {}
