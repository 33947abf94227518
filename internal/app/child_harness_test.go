package app

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// hosting is where a service lives that is started several times, in this process
// or in one that can be killed.
type hosting struct{ Data, Database, Addr string }

// settings are those of the service, whose provider is behind a gate.
func (h hosting) settings(g *gate) settings.Settings {
	s := settings.Settings{
		Addr: h.Addr, Data: h.Data, DatabaseURL: settings.Secret(h.Database), StripeSecretKey: dashboardKey,
		RateLimits: map[string]int{}, LogFormat: settings.LogJSON, LogLevel: slog.LevelWarn,
		HashCost: account.HashCost{MemoryKiB: 64, Passes: 1}, AroundProvider: g.around,
	}
	platformManaged(&s)
	return s
}

// childVariable has, in the process that a test starts to kill it, the hosting.
const childVariable = "TENANTRY_TEST_HOSTING"

// TestServeAsChild is the service in a process of its own, see hosting.start.
func TestServeAsChild(t *testing.T) {
	text := os.Getenv(childVariable)
	if text == "" {
		t.Skip("only as a child of another test")
	}
	var h hosting
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatal(err)
	}
	g := &gate{}
	g.closed.Store(listsClosed)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
		os.Exit(1)
	}()
	if err := Dev(t.Context(), h.settings(g), os.Stdout, os.Stderr); err != nil {
		t.Fatal(err)
	}
}

// child is a service in a process of its own.
type child struct {
	*server
	kill func()
}

// start runs the service in a process until it is killed, without a chance to end
// anything (SIGKILL).
func (h hosting) start(t *testing.T) child {
	t.Helper()
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	c := child{server: &server{t: t, url: "http://" + h.Addr, log: &lockedBuffer{}, database: h.Database}}
	c.sandbox = sync.OnceValue(func() *sqldb.DB { return dbtest.Open(t, "sqlite://"+filepath.Join(h.Data, settings.SandboxFile)) })
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServeAsChild$", "-test.timeout=0")
	run.Env = append(os.Environ(), childVariable+"="+string(text))
	run.Stderr = c.log
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.StdinPipe(); err != nil { // closed by the end of this process
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	c.kill = sync.OnceFunc(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
		// What it was doing rests until nobody can be doing it any more, a minute and a
		// half. This is after it.
		execute(t, dbtest.Open(t, h.Database), `UPDATE jobs SET leased_until = $1 WHERE lease_id IS NOT NULL`, time.Unix(0, 0).UTC())
	})
	t.Cleanup(c.kill)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the child did not start: %v\n%s", err, c.log)
		}
		if strings.Contains(line, "Start here") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return c
}

// gate keeps the service from its provider. Requests of tests pass.
type gate struct{ closed atomic.Int32 }

const (
	allOpen     = iota
	listsClosed // it can ask for what it has heard of, but not what there is
	allClosed
)

func (g *gate) around(provider http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, isAPI := strings.CutPrefix(r.URL.Path, "/sandbox/stripe/v1/")
		if isAPI && strings.HasPrefix(r.UserAgent(), "Tenantry") {
			isList := r.Method == http.MethodGet && !strings.Contains(path, "/")
			if closed := g.closed.Load(); closed == allClosed || closed == listsClosed && isList {
				http.Error(w, `{"error": {"type": "invalid_request_error"}}`, http.StatusBadRequest)
				return
			}
		}
		provider.ServeHTTP(w, r)
	})
}
