package dbtest

import "os"

// longVariable makes tests repeat more.
const longVariable = "TENANTRY_TEST_LONG"

// Rounds returns the number of repetitions of a test: long if TENANTRY_TEST_LONG is set, as in
// `make prove`, and short otherwise.
func Rounds(short, long int) int {
	if IsLong() {
		return long
	}
	return short
}

// IsLong reports whether TENANTRY_TEST_LONG is set.
func IsLong() bool { return os.Getenv(longVariable) != "" }
