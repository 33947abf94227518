//go:build !linux

package app

// unmapProgram does nothing: only Linux lists the mappings of a process.
func unmapProgram() {}
