package account

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The list contains passwords that people use, not words that are merely common in written
// language.
func TestCommonPasswords(t *testing.T) {
	t.Parallel()
	if n := len(commonPasswords()); n < 10_000 {
		t.Errorf("the list has %d passwords", n)
	}
	for p := range commonPasswords() {
		if utf8.RuneCountInString(p) < 8 || p != strings.ToLower(p) {
			t.Errorf("%s can be no password, or is never found", p)
		}
	}
	for _, p := range []string{"password", "PASSWORD", "12345678", "Password1", "iloveyou", "qwertyuiop", "football", "princess", "1q2w3e4r", "trustno1", "87654321", "aaaaaaaa", "iloveyou2", "password1234"} {
		if !isCommonPassword(p) {
			t.Errorf("%s is not common", p)
		}
	}
	for _, p := range []string{"", "correct horse", "sandbox-admin", "a new password", "tr0ub4dor&3-staple", "detectives", "beatrice&honolulu", "kentucky hills", "accident"} {
		if isCommonPassword(p) {
			t.Errorf("%s is common", p)
		}
	}
}
