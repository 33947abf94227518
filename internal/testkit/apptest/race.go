//go:build race

package apptest

// raced says that the race detector is on.
const raced = true
