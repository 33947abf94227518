package secrets

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func newKey(t *testing.T, first byte) *Key {
	t.Helper()
	key, err := New(append([]byte{first}, bytes.Repeat([]byte{7}, keyLength-1)...))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestSealedSecretIsOpenedOnlyInItsPlace(t *testing.T) {
	t.Parallel()
	key := newKey(t, 1)
	sealed := key.Seal("user_totp:1", "JBSWY3DPEHPK3PXP")
	if again := key.Seal("user_totp:1", "JBSWY3DPEHPK3PXP"); again == sealed || strings.Contains(sealed, "JBSW") {
		t.Errorf("sealed twice: %s and %s", sealed, again)
	}
	if secret, err := key.Open("user_totp:1", sealed); err != nil || secret != "JBSWY3DPEHPK3PXP" {
		t.Errorf("opened %q, %v", secret, err)
	}
	if _, err := key.Open("user_totp:2", sealed); !errors.Is(err, errDamaged) {
		t.Errorf("in another place: %v", err)
	}
	if _, err := key.Open("user_totp:1", sealed[:len(sealed)-4]+"AAAA"); !errors.Is(err, errDamaged) {
		t.Errorf("changed: %v", err)
	}
	for _, text := range []string{"", ".", key.id, key.id + ".", key.id + ".!", key.id + ".AAAA"} {
		if _, err := key.Open("user_totp:1", text); err == nil {
			t.Errorf("opened %q", text)
		}
	}
	if _, err := newKey(t, 2).Open("user_totp:1", sealed); !errors.Is(err, ErrOtherKey) {
		t.Errorf("with another key: %v", err)
	}
}

func TestHashDependsOnKeyPlaceAndCode(t *testing.T) {
	t.Parallel()
	key := newKey(t, 1)
	seen := map[string]bool{}
	for _, hash := range []string{key.Hash("a", "bc"), key.Hash("ab", "c"), key.Hash("a", "bd"), newKey(t, 2).Hash("a", "bc")} {
		if seen[hash] {
			t.Errorf("%s twice", hash)
		}
		seen[hash] = true
	}
	if hash := key.Hash("a", "bc"); hash != newKey(t, 1).Hash("a", "bc") || !strings.HasPrefix(hash, key.id+".") {
		t.Error("the hash is not constant, or does not begin with the key ID")
	}
}

func TestParseRefusesOtherText(t *testing.T) {
	t.Parallel()
	if _, err := parse(generate()); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "key", "c2hvcnQ=", generate()[4:]} {
		if _, err := parse(text); err == nil {
			t.Errorf("parsed %q", text)
		}
	}
}
