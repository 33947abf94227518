package sandbox

import (
	"path/filepath"
	"testing"
)

// TestFirstSecretIsStored checks that only the first value of a secret is stored.
func TestFirstSecretIsStored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sandbox.db")
	for _, c := range []struct{ name, fresh, want string }{
		{"key", "a", "a"}, {"key", "b", "a"}, {"other", "c", "c"},
	} {
		w := openAt(t, path)
		if got, err := w.Secret(t.Context(), c.name, c.fresh); err != nil || got != c.want {
			t.Errorf("%s is %q, want %q (%v)", c.name, got, c.want, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
