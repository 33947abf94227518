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

// ServiceHost describes a service that is started several times: in this process (pass
// [ServiceHost.Settings] to [StartWith]) or in a process that can be killed ([ServiceHost.Start]).
type ServiceHost struct {
	Data     string // data folder
	Database string // URL of the database
	Addr     string // listen address
}

// Settings returns the settings of the service, with a gate in front of the provider. The service
// issues invoices itself.
func (h ServiceHost) Settings(g *Gate) settings.Settings {
	s := settings.Settings{
		Addr: h.Addr, Data: h.Data, DatabaseURL: settings.Secret(h.Database), StripeSecretKey: providerKey,
		RateLimits: map[string]int{}, LogFormat: settings.LogJSON, LogLevel: slog.LevelWarn,
		HashCost: cheapHash, AroundProvider: g.wrapProvider,
	}
	WithPlatformInvoices(&s)
	return s
}

// childVariable is the environment variable with the ServiceHost, in a process that a test starts
// to kill it.
const childVariable = "TENANTRY_TEST_HOSTING"

// serveAsChild runs the service in a process that [ServiceHost.Start] has started, and returns its
// exit code.
func serveAsChild(text string) int {
	var h ServiceHost
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	g := &Gate{}
	g.Set(ListsClosed)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends when the parent process ends
		os.Exit(1)
	}()
	if err := app.Dev(context.Background(), h.Settings(g), os.Stdout, os.Stderr); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Child is a service in a separate process.
type Child struct {
	*Server
	// Kill ends the process with SIGKILL.
	Kill func()
}

// Start runs the service in a separate process until it is killed. The process runs this test
// binary, in which [Main] starts the service. The service can call the provider for single objects,
// but it cannot list objects.
func (h ServiceHost) Start(t *testing.T) Child {
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
	if _, err := run.StdinPipe(); err != nil { // closed when this process ends
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	c.Kill = sync.OnceFunc(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
		// The leases of the killed process's jobs last for another 90 seconds. End them, so that
		// the jobs continue immediately.
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

// Gate blocks calls of the service to its payment provider. Requests of tests pass. The zero Gate
// is open.
type Gate struct{ opening atomic.Int32 }

// Opening defines which calls pass a [Gate].
type Opening int32

// The openings.
const (
	AllOpen     Opening = iota
	ListsClosed         // only single objects pass: the service cannot list objects to find missed changes
	AllClosed
)

// Set sets the calls that pass from now on.
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
