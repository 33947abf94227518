package apptest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// seed is the state of a service after its first start, which fills the sandbox with demo data.
// That takes longer than many tests, so each process does it once, and the services of tests start
// with copies.
type seed struct {
	database string // URL of the service's database
	sandbox  []byte // the sandbox's database
	key      []byte // the file of package secrets
}

// seedKey identifies a seed. The invoice of the demo subscription depends on the invoice mode.
type seedKey struct {
	dialect sqldb.Dialect
	mode    settings.InvoiceMode
}

// seeds are the seeds of this process.
var seeds struct {
	mu    sync.Mutex
	all   map[seedKey]func(t testing.TB) *seed
	scope scope
}

// seedOf returns a seed. The first caller creates it; if that fails, the next caller tries again.
func seedOf(t testing.TB, dialect sqldb.Dialect, mode settings.InvoiceMode) *seed {
	t.Helper()
	key := seedKey{dialect, mode}
	seeds.mu.Lock()
	if seeds.all == nil {
		seeds.mu.Unlock()
		t.Fatal("the package's TestMain does not call apptest.Main")
	}
	get := seeds.all[key]
	if get == nil {
		var mu sync.Mutex
		var made *seed
		get = func(t testing.TB) *seed {
			mu.Lock()
			defer mu.Unlock()
			if made == nil {
				made = makeSeed(t, key)
			}
			return made
		}
		seeds.all[key] = get
	}
	seeds.mu.Unlock()
	return get(t)
}

func makeSeed(t testing.TB, of seedKey) *seed {
	t.Helper()
	process, data, running := &scoped{t, &seeds.scope}, &scoped{t, &scope{}}, &scoped{t, &scope{}}
	defer data.end()
	config := plainSettings()
	if config.InvoiceMode = of.mode; of.mode == settings.InvoicesByPlatform {
		WithPlatformInvoices(&config)
	}
	database := dbtest.URL(process, of.dialect)
	config.DatabaseURL, config.Data = settings.Secret(database), dbtest.TempDir(data)
	s := start(running, config, false)
	s.AwaitNotifications()
	running.end()
	sandbox, err := os.ReadFile(filepath.Join(config.Data, settings.SandboxFile))
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(config.SecretsKey())
	if err != nil {
		t.Fatal(err)
	}
	return &seed{database, sandbox, key}
}

// scope collects functions that run at its end.
type scope struct {
	mu       sync.Mutex
	cleanups []func()
}

func (s *scope) end() {
	s.mu.Lock()
	cleanups := s.cleanups
	s.cleanups = nil
	s.mu.Unlock()
	for _, f := range slices.Backward(cleanups) {
		f()
	}
}

// scoped is a test whose resources live until the end of a scope.
type scoped struct {
	testing.TB
	*scope
}

func (s *scoped) Context() context.Context { return context.Background() }

func (s *scoped) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, f)
}

func (s *scoped) TempDir() string {
	dir, err := os.MkdirTemp("", "tenantry-test-")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
