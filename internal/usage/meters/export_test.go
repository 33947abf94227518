package meters

// Exports for tests.

var ErrCodeTaken = errCodeTaken
