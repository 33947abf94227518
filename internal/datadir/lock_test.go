package datadir_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/datadir"
)

// Only one process can serve from a database file. A starting process waits for a stopping one.
func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	release, err := datadir.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.Lock(t.Context(), path); err == nil || !strings.Contains(err.Error(), filepath.Dir(path)+" is in use") {
		t.Fatal(err)
	}
	if other, err := datadir.Lock(t.Context(), path+"2"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	time.AfterFunc(300*time.Millisecond, release)
	again, err := datadir.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// TryLock waits for the lock until its context is done.
func TestTryLock(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "t.db")
	release, err := datadir.Lock(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := datadir.TryLock(over, database); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("a held lock: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		again, err := datadir.TryLock(t.Context(), database)
		if err == nil {
			again()
		}
		got <- err
	}()
	release()
	if err := <-got; err != nil {
		t.Errorf("a released lock: %v", err)
	}
}
