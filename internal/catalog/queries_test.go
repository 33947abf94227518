package catalog_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// counter counts queries.
type counter struct {
	sqldb.DBTX
	queries *atomic.Int64
	fail    *atomic.Bool
}

var errDown = errors.New("the database is down")

func (c counter) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	c.queries.Add(1)
	if c.fail.Load() {
		return nil, errDown
	}
	return c.DBTX.QueryContext(ctx, query, args...)
}

func (c counter) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	c.queries.Add(1)
	return c.DBTX.QueryRowContext(ctx, query, args...)
}

// count makes the server count its queries.
func (s *server) count() counter {
	c := counter{queries: new(atomic.Int64), fail: new(atomic.Bool)}
	s.svc.WrapConn(func(conn sqldb.DBTX) sqldb.DBTX {
		return counter{DBTX: conn, queries: c.queries, fail: c.fail}
	})
	return c
}

// large returns a catalog of n products with two plans each.
func large(n int) string {
	var b strings.Builder
	b.WriteString("products:\n")
	for i := range n {
		fmt.Fprintf(&b, `
  - slug: product-%[1]d
    name: {en: Product %[1]d}
    plans:
      - {slug: a-%[1]d, name: {en: A}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 1, USD: 2}, entitlements: {team-members: 3}}
      - {slug: b-%[1]d, name: {en: B}, pricing_type: flat, billing_cycle: monthly}
`, i)
	}
	return b.String()
}

// The catalog is read once a minute with a fixed number of queries, regardless of its size and the
// number of requests.
func TestQueriesAreFixed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		for _, products := range []int{1, 30} {
			s.apply(t, large(products))
			c := s.count()
			for _, path := range []string{"/catalog/products", "/catalog/plans", "/catalog/plans?currency=EUR", "/catalog/features", "/currencies"} {
				for _, locale := range []string{"en", "fr", "es", "it", "de"} {
					body(t, s.get(t, "/api/v1"+path, "Accept-Language", locale), 200)
				}
			}
			if got := c.queries.Load(); got != 7 {
				t.Errorf("%d products: %d queries for the public catalog, want 7", products, got)
			}
			s.clock.Set(s.clock.Now().Add(time.Minute))
			body(t, s.get(t, "/api/v1/currencies"), 200)
			if got := c.queries.Load(); got != 14 {
				t.Errorf("%d products: %d queries after a minute, want 14", products, got)
			}
			c.queries.Store(0)
			s.admin(t, "/api/v1/admin/products?include=plans,plansCount&per_page=100", 200)
			if got := c.queries.Load(); got != 5 {
				t.Errorf("%d products: %d queries for the admin list, want 5", products, got)
			}
			c.queries.Store(0)
			if _, err := s.svc.PlansForTenant(t.Context()); err != nil || c.queries.Load() != 4 {
				t.Errorf("%d products: %d queries for a tenant's list, %v; want 4", products, c.queries.Load(), err)
			}
		}
	})
}

// If many readers find the cached catalog outdated, one of them reads it for all.
func TestReadersShareOneRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, dbtest.New(t, sqldb.SQLite))
	c := s.count()
	var readers sync.WaitGroup
	for range 50 {
		readers.Go(func() {
			if _, err := s.svc.Public(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	if got := c.queries.Load(); got != 7 {
		t.Errorf("%d queries, want 7", got)
	}
}

func TestDatabaseDown(t *testing.T) {
	t.Parallel()
	s := newServer(t, dbtest.New(t, sqldb.SQLite))
	c := s.count()
	c.fail.Store(true)
	r := s.get(t, "/api/v1/catalog/plans")
	if text := body(t, r, http.StatusInternalServerError); strings.Contains(text, errDown.Error()) {
		t.Errorf("response contains an internal error: %s", text)
	}
	if got := r.Header().Get("Cache-Control"); strings.Contains(got, "public") {
		t.Errorf("an error response may be cached: %q", got)
	}
	c.fail.Store(false)
	body(t, s.get(t, "/api/v1/catalog/plans"), 200)
}

// A reader that stops waiting does not keep others from reading.
func TestReaderGivesUp(t *testing.T) {
	t.Parallel()
	s := newServer(t, dbtest.New(t, sqldb.SQLite))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.svc.Public(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if _, err := s.svc.Public(t.Context()); err != nil {
		t.Error(err)
	}
}

// Currencies without prices share one cached response, so that made-up codes cannot exhaust memory.
func TestMadeUpCurrencies(t *testing.T) {
	t.Parallel()
	s := newServer(t, dbtest.New(t, sqldb.SQLite))
	s.apply(t, shop)
	for _, currency := range []string{"AAA", "AAB", "ZZZ", "non", "123", "GBP"} {
		body(t, s.get(t, "/api/v1/catalog/plans?currency="+currency), 200)
		if got := s.http.StoredAnswers(); got != 1 {
			t.Errorf("%d stored answers after %s, want 1", got, currency)
		}
	}
	body(t, s.get(t, "/api/v1/catalog/plans?currency=EUR"), 200)
	if got := s.http.StoredAnswers(); got != 2 {
		t.Errorf("%d stored answers, want 2", got)
	}
}
