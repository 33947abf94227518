package domain

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// hangingDNS does not answer for dead.example, and finds no record of other domains.
type hangingDNS struct{}

func (hangingDNS) LookupTXT(ctx context.Context, name string) ([]string, error) {
	if name == recordName("dead.example") {
		<-ctx.Done()
		return nil, &net.DNSError{Err: "i/o timeout", Name: name, IsTimeout: true}
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

type anyTenant struct{}

func (anyTenant) Get(context.Context, uuid.UUID) (t tenant.Tenant, err error)        { return }
func (anyTenant) LockLive(context.Context, uuid.UUID) (t tenant.Tenant, err error)   { return }
func (anyTenant) Owner(context.Context, uuid.UUID) (owner *tenant.Member, err error) { return }
func (anyTenant) Locale(context.Context, tenant.Tenant, string) (locale string, err error) {
	return "en", nil
}

// A domain whose name servers hang, so that the job runs out of time, does not keep the job from
// the domains after it.
func TestCheckWithDeadNameServers(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db := dbtest.New(t, dialect)
			now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
			c := clock.NewFixed(now)
			s := NewService(Deps{DB: db, Clock: c, Tenants: anyTenant{}, Resolver: hangingDNS{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
			exec := func(q string, a ...any) {
				if _, err := db.Conn(t.Context()).ExecContext(t.Context(), q, a...); err != nil {
					t.Fatal(err)
				}
			}
			of, other := sqldb.NewID(), sqldb.NewID()
			exec(`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'A', 'a', 'EUR', $2, $2)`, of, now)
			add := func(id uuid.UUID, name string, checked time.Time) {
				exec(`INSERT INTO tenant_domains (id, tenant_id, domain, status, token, role_id, verified_at, last_checked_at, created_at, updated_at)
					VALUES ($1, $2, $3, 'verified', 'x', (SELECT min(id) FROM roles), $4, $4, $4, $4)`, id, of, name, checked)
			}
			add(sqldb.NewID(), "dead.example", now)
			add(other, "other.example", now.Add(time.Second))
			c.Set(now.Add(24 * time.Hour))
			for range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				if err := s.Check(ctx); err == nil {
					t.Error("the job did not run out of time")
				}
				cancel()
			}
			d, err := s.store.get(t.Context(), of, other)
			if err != nil {
				t.Fatal(err)
			}
			if d.FailedChecks != 1 {
				t.Errorf("other.example was checked %d times", d.FailedChecks)
			}
		})
	}
}
