package commands

// What the tests outside of the package compare errors with.
var ErrNotConfirmed = errNotConfirmed
