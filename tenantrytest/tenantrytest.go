// Package tenantrytest starts the real service in a test: the complete `tenantry dev`, with its
// payment provider, mailbox, clock and demo data, in the test's process and with its own database.
//
//	func TestCustomersPay(t *testing.T) {
//		t.Parallel()
//		s := tenantrytest.Start(t)
//		ada := s.Register("ada@example.com")
//		s.Subscribe(ada, "starter")
//		s.Advance(31 * 24 * time.Hour)
//		…
//	}
//
// Each test has its own server, so tests can run in parallel. The server stops when the test ends,
// after the functions that the test registered with Cleanup after [Start]. No request leaves the
// machine. Rate limits are off, and password hashing is cheap; everything else is as in production.
//
// Methods that fail end the test with an error message.
package tenantrytest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/sandbox"
)

// Server is a running service.
type Server struct {
	// URL is the base URL of the service, without a trailing slash.
	URL string

	t           testing.TB
	db, sandbox *sqldb.DB
	log         *buffer

	mu    sync.Mutex
	ahead time.Duration // offset to the system clock
}

// Option configures how [Start] starts the service.
type Option func(*settings.Settings)

// WithRateLimits enables the rate limits of production.
func WithRateLimits() Option {
	return func(s *settings.Settings) { s.RateLimits = limit.Defaults() }
}

// Start starts the service with the sandbox's demo data: the catalog with the default plan free, the
// plans starter, team and others, the tenant Acme with its owner and a subscription to starter, and a platform admin.
// The PDF of Acme's first invoice cannot be downloaded, because its link points to the server that
// created the demo data. PDFs of later invoices can be downloaded.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	config := plain(t.TempDir())
	for _, option := range options {
		option(&config)
	}
	seed, err := demo()
	if err != nil {
		t.Fatalf("tenantrytest: %v", err)
	}
	if err := seed.write(config.Data); err != nil {
		t.Fatalf("tenantrytest: %v", err)
	}
	s := &Server{t: t, log: &buffer{}}
	url, stop, err := run(config, s.log)
	if err != nil {
		t.Fatalf("tenantrytest: %v\n%s", err, s.log)
	}
	s.URL = url
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("tenantrytest: the service stopped with %v", err)
		}
		if t.Failed() {
			t.Logf("log of the service:\n%s", s.log)
		}
	})
	s.db = s.open(config.DatabaseURL.Reveal(), "")
	s.sandbox = s.open(sqldb.FileURL(filepath.Join(config.Data, settings.SandboxFile)), "sandbox_settings")
	return s
}

func (s *Server) open(url, table string) *sqldb.DB {
	s.t.Helper()
	db, err := sqldb.Open(context.Background(), sqldb.Config{URL: url, Table: table})
	if err != nil {
		s.t.Fatalf("tenantrytest: %v", err)
	}
	s.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			s.t.Errorf("tenantrytest: %v", err)
		}
	})
	return db
}

// plain returns the settings of a service whose files are in folder.
func plain(folder string) settings.Settings {
	return settings.Settings{
		Addr: "127.0.0.1:0", DemoDefaultPlan: "free", RateLimits: map[string]int{}, InvoiceMode: settings.InvoicesByPSP,
		LogFormat: settings.LogJSON, LogLevel: slog.LevelWarn, HashCost: account.HashCost{MemoryKiB: 64, Passes: 1},
		DatabasePatience: 30 * time.Second, // test machines are often busy
		Data:             folder, DatabaseURL: settings.Secret(sqldb.FileURL(filepath.Join(folder, settings.DatabaseFile))),
	}
}

// address matches the service's URL in its greeting.
var address = regexp.MustCompile(`http://[^/\s]+`)

// run starts a service. stop stops it and returns its error.
func run(config settings.Settings, log io.Writer) (url string, stop func() error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := app.Dev(ctx, config, write, log)
		_ = write.CloseWithError(fmt.Errorf("it did not start: %w", err))
		done <- err
	}()
	greeting := make([]byte, 4096)
	n, err := read.Read(greeting)
	if err != nil {
		cancel()
		return "", nil, err
	}
	return address.FindString(string(greeting[:n])), sync.OnceValue(func() error { cancel(); return <-done }), nil
}

// seed contains the files of a service that was stopped after its first start, which creates the
// demo data. Creating them takes longer than many tests, so each process creates them once.
type seed struct{ database, sandbox []byte }

// demo creates the seed once.
var demo = sync.OnceValues(func() (*seed, error) {
	folder, err := os.MkdirTemp("", "tenantrytest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	log := &buffer{}
	_, stop, err := run(plain(folder), log)
	if err == nil {
		err = stop()
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	database, err := os.ReadFile(filepath.Join(folder, settings.DatabaseFile))
	if err != nil {
		return nil, err
	}
	world, err := os.ReadFile(filepath.Join(folder, settings.SandboxFile))
	return &seed{database, world}, err
})

func (s *seed) write(folder string) error {
	if err := os.WriteFile(filepath.Join(folder, settings.DatabaseFile), s.database, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, settings.SandboxFile), s.sandbox, 0o600)
}

// buffer is a concurrent buffer for the log.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Client returns a client of the service, with options such as credentials.
func (s *Server) Client(options ...client.Option) *client.Client {
	s.t.Helper()
	c, err := client.New(s.URL, options...)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Admin returns a client that is logged in as platform admin.
func (s *Server) Admin() *client.Client {
	s.t.Helper()
	return s.Client(client.WithLogin(sandbox.AdminEmail, sandbox.AdminPassword))
}

// want reads and closes a response and checks its status.
func (s *Server) want(resp *http.Response, err error, status int) []byte {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("tenantrytest: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if closing := resp.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		s.t.Fatalf("tenantrytest: %v", err)
	}
	if resp.StatusCode != status {
		s.t.Fatalf("tenantrytest: %s %s: %s, want %d: %s", resp.Request.Method, resp.Request.URL.Path, resp.Status, status, body)
	}
	return body
}
