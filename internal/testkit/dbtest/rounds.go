package dbtest

import "os"

// longVariable asks for the long form of tests that repeat something.
const longVariable = "TENANTRY_TEST_LONG"

// Rounds is how often a test repeats what it tries: long times when
// TENANTRY_TEST_LONG is set, as by `make prove`, and short times in everyday runs.
func Rounds(short, long int) int {
	if IsLong() {
		return long
	}
	return short
}

// IsLong reports whether the long form of tests is asked for.
func IsLong() bool { return os.Getenv(longVariable) != "" }
