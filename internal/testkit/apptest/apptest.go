// Package apptest starts the whole service for black-box tests and gives them one
// vocabulary. A test of what callers, people or the payment provider see stands
// beside the domain that it is about, in the external test package:
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
//			ada.Token = s.LogIn("ada@example.com") // the old token has expired meanwhile
//			if got := s.Subscription(ada).At("data"); got != nil {
//				t.Errorf("after its end there is still %v", got)
//			}
//		})
//	}
//
// What a test is made of:
//
//   - [Each] runs the test as a parallel subtest on SQLite and on PostgreSQL, each
//     time against a service of its own with a database of its own. [Start] starts
//     one service, with changed settings where a test needs them. Logs are read at
//     the end of each test: a password or token in them fails it.
//   - [Server.Call] makes a request. The [Reply] is asked by paths:
//     [Reply.Want] the status, [Reply.At] and [Reply.Str] a value, [Reply.WantAt] a
//     value that is known, [Reply.WantRefused] and [Reply.WantInvalid] a refusal.
//   - [Server.Register] makes a user with a tenant, an [Owner]; [Server.Admin] logs
//     the platform administrator in; [Server.Join] adds a member to a team.
//   - [Server.BuyPlan] pays with [CardPays]; other cards have other names. A
//     [Customer] is a tenant that is followed through time ([Customer.WantStatus]).
//   - [CatalogAdmin] makes products, plans, prices and features.
//   - [Server.Advance] lets time go by, [Server.AwaitNotifications] waits for what
//     the provider sends, [Eventually] for anything else. Tests never sleep.
//   - [Server.AtProvider] does something at the payment provider itself, as its own
//     account's owner can; [Server.ProviderObjects] reads what is there.
//     [Server.Chaos] makes the provider misbehave at random, a [Proxy] does so
//     exactly.
//
// The package's TestMain must call [Main].
//
// A helper that two packages need belongs here, with a doc comment. One that a
// single package needs stays in that package's tests, as a function that takes the
// server.
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

// Option changes the settings that a service is started with.
type Option = func(*settings.Settings)

// dialects returns the databases that a test of the whole service runs on. Under the race
// detector that is one of them, chosen by a hash of the test's name, because the detector
// watches the same Go code on both. Long runs always use all of them.
func dialects(t testing.TB) []sqldb.Dialect {
	t.Helper()
	all := dbtest.Dialects(t)
	if !raced || dbtest.IsLong() {
		return all
	}
	name := fnv.New32a()
	_, _ = name.Write([]byte(t.Name())) // a hash takes everything
	i := int(name.Sum32() % uint32(len(all)))
	return all[i : i+1]
}

// Each runs f as a parallel subtest on each kind of database, each time against a
// whole service on a fresh one.
func Each(t *testing.T, f func(t *testing.T, s *Server), options ...Option) {
	t.Helper()
	for _, dialect := range dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			f(t, Start(t, dialect, options...))
		})
	}
}

// EachWithProxy is [Each] with a [Proxy] between the service and its payment
// provider.
func EachWithProxy(t *testing.T, f func(t *testing.T, s *Server, p *Proxy)) {
	t.Helper()
	for _, dialect := range dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			p := &Proxy{}
			f(t, Start(t, dialect, p.Option), p)
		})
	}
}

// Start starts a service on a fresh database of a kind. It stops when t ends.
func Start(t testing.TB, dialect sqldb.Dialect, options ...Option) *Server {
	t.Helper()
	return StartWith(t, NewSettings(t, dialect, options...))
}

// NewSettings are the settings of a service on a fresh database of a kind with the
// sandbox's demo data, without rate limits, with cheap password hashes and a log of
// everything. A test that starts a service twice on the same data hands them to
// [StartWith] twice.
func NewSettings(t testing.TB, dialect sqldb.Dialect, options ...Option) settings.Settings {
	t.Helper()
	dbtest.Require(t, dialect)
	s := plainSettings()
	for _, option := range options {
		option(&s)
	}
	seed := seedOf(t, dialect, s.InvoiceMode)
	s.DatabaseURL, s.Data = settings.Secret(dbtest.CopyURL(t, seed.database)), dbtest.TempDir(t)
	if err := os.WriteFile(filepath.Join(s.Data, settings.SandboxFile), seed.sandbox, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// plainSettings lack the places of the data.
func plainSettings() settings.Settings {
	return settings.Settings{
		Addr: "127.0.0.1:0", RateLimits: map[string]int{}, InvoiceMode: settings.InvoicesByPSP,
		LogFormat: settings.LogJSON, LogLevel: slog.LevelDebug, HashCost: cheapHash, StripeSecretKey: providerKey,
		DatabasePatience: dbtest.ConnTimeout,
	}
}

// cheapHash is what hashing a password costs in tests.
var cheapHash = account.HashCost{MemoryKiB: 64, Passes: 1}

// StartWith starts a service with settings as they are. When t ends it stops, and
// its log must not have anything secret that the test's traffic carried.
func StartWith(t testing.TB, config settings.Settings) *Server {
	t.Helper()
	return start(t, config, usesThreeInstances(config))
}

// start is StartWith with one instance or with three.
func start(t testing.TB, config settings.Settings, three bool) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	s := newServer(t, config.DatabaseURL.Reveal(), config.Data)
	if three {
		s.front = putInFront(s, &config)
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
			t.Logf("what the service logged:\n%s", s.log.warnings())
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
		T: t, Database: database, log: &logBuffer{},
		db: open(database, ""), sandbox: open(sqldb.FileURL(filepath.Join(data, settings.SandboxFile)), "sandbox_settings"),
	}
}

// Limited is the option that turns the rate limits on.
func Limited(s *settings.Settings) { s.RateLimits = limit.Defaults() }

// WithPlatformInvoices is the option that lets the service issue the invoices itself.
func WithPlatformInvoices(s *settings.Settings) {
	s.InvoiceMode = settings.InvoicesByPlatform
	s.Invoices.Taxes = map[string]int64{"GB": 200_000}
	s.Invoices.Seller.Name = "Analytical Sellers"
}

// FreeAddress returns an address of this machine that nobody listens on. Its port is none of those
// that the system gives to connections: one of them could take it until somebody listens.
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
