package apikey

import (
	"strings"
	"testing"
)

// The expected checksums come from another program.
func TestChecksum(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "000000", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP": "1GctnF", "123456789": "3jZRME",
	} {
		if got := checksum(text); got != want {
			t.Errorf("checksum of %q: %s, want %s", text, got, want)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		secret := newSecret()
		if len(secret) != 52 || !strings.HasPrefix(secret, "tnk_") || strings.Trim(secret[4:], alphabet) != "" || seen[secret] || !wellFormed(secret) {
			t.Errorf("%q", secret)
		}
		seen[secret] = true
		for _, other := range []string{"", secret[1:], secret + "0", secret[:51], "tnl_" + secret[4:], "tnk_" + secret[4:51] + "-", strings.ToUpper(secret)} {
			if wellFormed(other) {
				t.Errorf("%q is accepted as a secret", other)
			}
		}
		broken := []byte(secret)
		if broken[10]++; wellFormed(string(broken)) {
			t.Errorf("%q is accepted as a secret", broken)
		}
	}
}
