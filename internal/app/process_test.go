package app_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Unused connections do not delay a stop.
func TestStopDoesNotWaitForSilence(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite)
	for range 3 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	s.Call("GET", "/healthz", "", nil).Want(200) // ensures that the server has accepted the three connections
	began := clock.System().Now()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if took := clock.System().Now().Sub(began); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
}

// When a service begins to stop, it immediately reports to load balancers that it is not ready. It
// accepts requests during the stop delay, in which the load balancers notice.
func TestStopDelay(t *testing.T) {
	t.Parallel()
	config := apptest.NewSettings(t, sqldb.SQLite)
	config.StopDelay = 3 * time.Second
	s := apptest.StartWith(t, config)
	apptest.Eventually(t, "that it is ready", func() bool { return s.Call("GET", "/readyz", "", nil).Status == 200 })
	began := clock.System().Now()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop() }()
	apptest.Eventually(t, "that it is not ready", func() bool { return s.Call("GET", "/readyz", "", nil).Status == 503 })
	s.Call("GET", "/api/v1/catalog/plans", "", nil).Want(200)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if took := clock.System().Now().Sub(began); took < config.StopDelay {
		t.Errorf("it took %s", took)
	}
}

// The service removes the access of other users of the machine from the data folder and its
// databases.
func TestTheDataFolderIsPrivate(t *testing.T) {
	t.Parallel()
	config := apptest.NewSettings(t, sqldb.SQLite)
	folder := config.Data
	for path, mode := range map[string]os.FileMode{folder: 0o755, filepath.Join(folder, settings.SandboxFile): 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	s := apptest.StartWith(t, config)
	s.Call("GET", "/healthz", "", nil).Want(200)
	for path, want := range map[string]os.FileMode{folder: 0o700, filepath.Join(folder, settings.SandboxFile): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %v, want %v", path, got, want)
		}
	}
}
