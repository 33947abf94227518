package private_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/private"
)

// One process at a time serves from a database file. Who starts while another one stops
// waits for it.
func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	release, err := private.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := private.Lock(t.Context(), path); err == nil || !strings.Contains(err.Error(), filepath.Dir(path)+" is in use") {
		t.Fatal(err)
	}
	if other, err := private.Lock(t.Context(), path+"2"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	time.AfterFunc(300*time.Millisecond, release)
	again, err := private.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
