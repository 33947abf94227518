// Package apptest starts the whole service for black-box tests and provides helpers for them. A
// test of behavior that callers, users or the payment provider can observe is in the external test
// package of the domain:
//
//	package subscription_test
//
//	func TestCanceledSubscriptionEnds(t *testing.T) {
//		t.Parallel()
//		apptest.Each(t, func(t *testing.T, s *apptest.Server) {
//			ada := s.Register("ada@example.com", true)
//			s.BuyPlan(ada, "starter")
//			s.Call("POST", ada.Path("/subscription/cancel"), ada.Token, nil).
//				Want(200).WantAt("data.cancel_at_period_end", true)
//			s.Advance(32 * apptest.Day)
//			ada.Token = s.LogIn("ada@example.com") // the old token has expired
//			if got := s.Subscription(ada).At("data"); got != nil {
//				t.Errorf("after its end there is still %v", got)
//			}
//		})
//	}
//
// The main helpers:
//
//   - [Each] runs the test as a parallel subtest on SQLite and on PostgreSQL, each time with a new
//     service and a new database. [Start] starts one service, optionally with changed settings. At
//     the end of a test, a password or token in the log fails it.
//   - [Server.Run] runs a subtest on the same service, for a part of a test with a name of its own.
//   - [Server.Call] makes a request and returns a [Reply]. [Reply.Want] checks the status,
//     [Reply.At] and [Reply.Str] return a value at a path, [Reply.WantAt] checks a value, and
//     [Reply.WantRefused] and [Reply.WantInvalid] check an error.
//   - [Server.Register] creates a user with a tenant, an [Owner]. [Server.Admin] logs the platform
//     admin in. [Server.Join] adds a member to a team.
//   - [Server.BuyPlan] pays with [CardPays]; there are constants for other cards. A [Customer] is a
//     tenant that a test follows over time ([Customer.WantStatus]).
//   - [CatalogAdmin] creates products, plans, prices and features.
//   - [Server.Advance] advances the clock, [Server.AwaitNotifications] waits for notifications of
//     the provider, and [Eventually] waits for any other condition. [Server.AvoidMidnight] is for
//     tests that compare dates. Tests never sleep.
//   - [Server.AtProvider] calls the payment provider directly, as the account's owner can.
//     [Server.ProviderObjects] returns the objects there. [Server.Chaos] causes random failures of
//     the provider, a [Proxy] specific ones.
//
// The package's TestMain must call [Main].
//
// A helper that two packages need belongs here and has a doc comment. A helper for a single package
// belongs in that package's tests, as a function with the server as a parameter.
package apptest

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Option changes the settings of a service before its start.
type Option = func(*settings.Settings)

// dialects returns the databases for a test of the whole service. With the race detector it returns
// only one, chosen by a hash of the test's name, because both databases run the same Go code. Long
// runs always use all databases.
func dialects(t testing.TB) []sqldb.Dialect {
	t.Helper()
	all := dbtest.Dialects(t)
	if !raced || dbtest.IsLong() {
		return all
	}
	name := fnv.New32a()
	_, _ = name.Write([]byte(t.Name())) // a hash never returns an error
	i := int(name.Sum32() % uint32(len(all)))
	return all[i : i+1]
}

// Each runs f as a parallel subtest on each kind of database, each time with a new service on a
// fresh database.
func Each(t *testing.T, f func(t *testing.T, s *Server), options ...Option) {
	t.Helper()
	for _, dialect := range dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			f(t, Start(t, dialect, options...))
		})
	}
}

// EachWithProxy is [Each] with a [Proxy] between the service and its payment provider. The jobs that
// run at the start have ended.
func EachWithProxy(t *testing.T, f func(t *testing.T, s *Server, p *Proxy)) {
	t.Helper()
	for _, dialect := range dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			p := &Proxy{}
			s := Start(t, dialect, p.Option)
			s.AwaitJobs()
			f(t, s, p)
		})
	}
}

// Start starts a service on a fresh database of the dialect. The service stops when t ends.
func Start(t testing.TB, dialect sqldb.Dialect, options ...Option) *Server {
	t.Helper()
	return StartWith(t, NewSettings(t, dialect, options...))
}

// NewSettings returns settings of a service on a fresh database with the sandbox's demo data,
// without rate limits, with cheap password hashes and a debug log. To start a service twice on the
// same data, pass them to [StartWith] twice.
func NewSettings(t testing.TB, dialect sqldb.Dialect, options ...Option) settings.Settings {
	t.Helper()
	dbtest.Require(t, dialect)
	s := plainSettings()
	for _, option := range options {
		option(&s)
	}
	seed := seedOf(t, dialect, s.InvoiceMode)
	s.DatabaseURL, s.Data = settings.Secret(dbtest.CopyURL(t, seed.database)), dbtest.TempDir(t)
	for file, content := range map[string][]byte{filepath.Join(s.Data, settings.SandboxFile): seed.sandbox, s.SecretsKey(): seed.key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// plainSettings returns settings without the data folder and the database.
func plainSettings() settings.Settings {
	return settings.Settings{
		Addr: "127.0.0.1:0", RateLimits: map[string]int{}, InvoiceMode: settings.InvoicesByPSP,
		LogFormat: settings.LogJSON, LogLevel: slog.LevelDebug, HashCost: cheapHash, StripeSecretKey: providerKey,
		DatabasePatience: dbtest.ConnTimeout,
	}
}

// cheapHash is the cost of password hashes in tests.
var cheapHash = account.HashCost{MemoryKiB: 64, Passes: 1}

// StartWith starts a service with the settings. When t ends, the service stops, and its log must
// not contain any secret of the test's traffic.
func StartWith(t testing.TB, config settings.Settings) *Server {
	t.Helper()
	return start(t, config, usesThreeInstances(config))
}

// start is StartWith with one or three instances.
func start(t testing.TB, config settings.Settings, three bool) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	s := newServer(t, config.DatabaseURL.Reveal(), config.Data)
	if three {
		s.front = startProxy(s, &config)
	}
	done := make(chan error, 1)
	go func() {
		err := app.Dev(ctx, config, write, s.log)
		_ = write.Close()
		done <- err
	}()
	banner := make([]byte, 4096)
	n, err := read.Read(banner)
	if err != nil {
		t.Fatalf("the service did not start: %v\n%s", <-done, s.log)
	}
	s.URL = regexp.MustCompile(`http://[^/\s]+`).FindString(string(banner[:n]))
	s.stop = sync.OnceValue(func() (err error) {
		if three {
			err = s.front.stop()
		}
		cancel()
		return errors.Join(err, <-done)
	})
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("the service stopped with %v", err)
		}
		s.secrets.checkAbsent(t, s.Log())
		if t.Failed() {
			t.Logf("log of the service:\n%s", s.log.warnings())
		}
	})
	if three {
		if err := s.front.join(config); err != nil {
			t.Fatalf("a further instance did not start: %v\n%s", err, s.log.warnings())
		}
	}
	return s
}

func newServer(t testing.TB, database, data string) *Server {
	open := func(url, table string) func() *sqldb.DB {
		return sync.OnceValue(func() *sqldb.DB { return dbtest.OpenWith(t, sqldb.Config{URL: url, Table: table}) })
	}
	return &Server{
		T: t, Database: database, log: &logBuffer{}, secrets: &secrets{},
		db: open(database, ""), sandbox: open(sqldb.FileURL(filepath.Join(data, settings.SandboxFile)), "sandbox_settings"),
	}
}

// Limited is an [Option] that turns the rate limits on.
func Limited(s *settings.Settings) { s.RateLimits = limit.Defaults() }

// WithPlatformInvoices is an [Option] that makes the service issue invoices itself.
func WithPlatformInvoices(s *settings.Settings) {
	s.InvoiceMode = settings.InvoicesByPlatform
	s.Invoices.Taxes = map[string]int64{"GB": 200_000}
	s.Invoices.Seller.Name = "Analytical Sellers"
}

// FreeAddress returns an unused address of this machine. Its port is outside of the range that the
// system assigns to outgoing connections, which could otherwise take it before the caller listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const first, end = 20_000, 32_000
	for {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(first+rand.IntN(end-first)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
}
