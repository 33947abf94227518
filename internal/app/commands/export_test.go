package commands

// ErrNotConfirmed exports errNotConfirmed to external tests.
var ErrNotConfirmed = errNotConfirmed
