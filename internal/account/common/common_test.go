package common

import "testing"

// The list has what people use, in any case, and no more than it should.
func TestCommonPasswords(t *testing.T) {
	t.Parallel()
	if n := len(list()); n != 10_000 {
		t.Errorf("the list has %d passwords", n)
	}
	for _, p := range []string{"password", "PASSWORD", "12345678", "Password1", "iloveyou", "qwertyuiop", "football", "princess", "1q2w3e4r", "trustno1"} {
		if !Has(p) {
			t.Errorf("%s is not common", p)
		}
	}
	for _, p := range []string{"", "correct horse", "sandbox-admin", "a new password", "tr0ub4dor&3-staple"} {
		if Has(p) {
			t.Errorf("%s is common", p)
		}
	}
}
