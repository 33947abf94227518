package safehttp

// NewWithResolver is New with a resolver of names of the test's own.
var NewWithResolver = newClient
