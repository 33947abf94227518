package apptest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

// Hosting is where a service lives that is started several times, in this process
// (hand [Hosting.Settings] to [StartWith]) or in one that can be killed
// ([Hosting.Start]).
type Hosting struct {
	Data     string // the folder of its files
	Database string // the URL of its database
	Addr     string // where it listens
}

// Settings are those of the service, whose provider is behind a gate. It issues its
// invoices itself.
func (h Hosting) Settings(g *Gate) settings.Settings {
	s := settings.Settings{
		Addr: h.Addr, Data: h.Data, DatabaseURL: settings.Secret(h.Database), StripeSecretKey: providerKey,
		RateLimits: map[string]int{}, LogFormat: settings.LogJSON, LogLevel: slog.LevelWarn,
		HashCost: cheapHash, AroundProvider: g.wrapProvider,
	}
	WithPlatformInvoices(&s)
	return s
}

// childVariable is the environment variable that has, in the process that a test
// starts to kill it, the hosting.
const childVariable = "TENANTRY_TEST_HOSTING"

// serveAsChild runs the service in a process that [Hosting.Start] has started, and returns its
// exit code.
func serveAsChild(text string) int {
	var h Hosting
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	g := &Gate{}
	g.Set(ListsClosed)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
		os.Exit(1)
	}()
	if err := app.Dev(context.Background(), h.Settings(g), os.Stdout, os.Stderr); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Child is a service in a process of its own.
type Child struct {
	*Server
	// Kill ends the process, without a chance to finish anything (SIGKILL).
	Kill func()
}

// Start runs the service in a process of its own until it is killed: this test binary once
// more, which [Main] makes the service. It asks the provider for single objects and not for lists.
func (h Hosting) Start(t *testing.T) Child {
	t.Helper()
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	c := Child{Server: newServer(t, h.Database, h.Data)}
	c.URL = "http://" + h.Addr
	run := exec.CommandContext(t.Context(), os.Args[0])
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
	c.Kill = sync.OnceFunc(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
		// The jobs that it was doing are leased for another minute and a half. Without
		// the leases they can go on at once.
		Exec(t, c.DB(), `UPDATE jobs SET leased_until = $1 WHERE lease_id IS NOT NULL`, time.Unix(0, 0).UTC())
	})
	t.Cleanup(c.Kill)
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

// Gate keeps the service from its payment provider. Requests of tests pass. The zero
// Gate is open.
type Gate struct{ opening atomic.Int32 }

// Opening is what a [Gate] lets pass.
type Opening int32

// The openings.
const (
	AllOpen     Opening = iota
	ListsClosed         // single objects pass: what the service has heard of, but not what there is
	AllClosed
)

// Set sets what passes from now on.
func (g *Gate) Set(o Opening) { g.opening.Store(int32(o)) }

func (g *Gate) wrapProvider(provider http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, isAPI := strings.CutPrefix(r.URL.Path, "/sandbox/stripe/v1/")
		if isAPI && strings.HasPrefix(r.UserAgent(), "Tenantry") {
			isList := r.Method == http.MethodGet && !strings.Contains(path, "/")
			if o := Opening(g.opening.Load()); o == AllClosed || o == ListsClosed && isList {
				http.Error(w, `{"error": {"type": "invalid_request_error"}}`, http.StatusBadRequest)
				return
			}
		}
		provider.ServeHTTP(w, r)
	})
}
