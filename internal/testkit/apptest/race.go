//go:build race

package apptest

// raced reports whether the race detector is on.
const raced = true
