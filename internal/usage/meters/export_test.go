package meters

// What tests outside the package need of its inside.

var ErrCodeTaken = errCodeTaken
