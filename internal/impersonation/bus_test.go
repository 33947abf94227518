package impersonation_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// accounts implements impersonation.Accounts for callers with bearer tokens.
type accounts struct{}

func (accounts) RenewSession(context.Context, uuid.UUID) (string, time.Duration, error) {
	return "", 0, nil
}

func (accounts) SessionUser(_ context.Context, id int64) (account.SessionUser, error) {
	return account.SessionUser{ID: id}, nil
}

// rig is the service with a database that has an admin (1) with a token, and a member of a tenant
// (2).
type rig struct {
	t     *testing.T
	db    *sqldb.DB
	svc   *impersonation.Service
	clock *clock.Fixed
	token uuid.UUID
	to    impersonation.Target
}

func newRig(t *testing.T, db *sqldb.DB) rig {
	t.Helper()
	now := clock.NewFixed(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	r := rig{t: t, db: db, clock: now, token: sqldb.NewID(), to: impersonation.Target{UserID: 2, TenantID: sqldb.NewID()}}
	r.svc = impersonation.NewService(impersonation.Deps{
		DB: db, Clock: now, Accounts: accounts{}, Audit: audit.New(audit.Deps{DB: db, Clock: now}),
	})
	for _, row := range []struct {
		text string
		args []any
	}{
		{"INSERT INTO users (id, name, email, is_platform_admin, created_at, updated_at) VALUES (1, 'A', 'a@example.com', true, $1, $1), (2, 'B', 'b@example.com', false, $1, $1)", []any{now.Now()}},
		{"INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'T', 't', 'EUR', $2, $2)", []any{r.to.TenantID, now.Now()}},
		{"INSERT INTO memberships (tenant_id, user_id, role_id, joined_at) SELECT $1, 2, id, $2 FROM roles WHERE name = 'member'", []any{r.to.TenantID, now.Now()}},
		{
			"INSERT INTO credentials (id, user_id, kind, token_hash, family, family_expires_at, expires_at, idle_seconds, login_at, created_at) VALUES ($1, 1, 'access', 'h', $2, $3, $3, 0, $4, $4)",
			[]any{r.token, sqldb.NewID(), now.Now().Add(time.Hour), now.Now()},
		},
	} {
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), row.text, row.args...); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// as returns a context in which the admin acts as themself or as the target.
func (r rig) as(impersonating bool) context.Context {
	caller := &authz.Caller{UserID: 1, IsPlatformAdmin: true, TokenID: r.token}
	if impersonating {
		caller = &authz.Caller{UserID: 2, TokenID: r.token, Impersonator: &authz.Impersonator{UserID: 1, Name: "A"}}
	}
	return authz.With(authz.WithSource(r.t.Context(), authz.Source{IP: "192.0.2.1", UserAgent: "curl"}), caller)
}

func (r rig) count(text string) int {
	r.t.Helper()
	var n int
	if err := r.db.Conn(r.t.Context()).QueryRowContext(r.t.Context(), text).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// Both events carry all facts. They are published after the state has changed, in its transaction.
func TestEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRig(t, db)
		const active = "SELECT count(*) FROM credentials WHERE impersonated_user_id = 2"
		var told []any
		seen := func(ctx context.Context) (n int) {
			if err := db.Conn(ctx).QueryRowContext(ctx, active).Scan(&n); err != nil || !sqldb.InTx(ctx) {
				t.Errorf("%v, in a transaction: %t", err, sqldb.InTx(ctx))
			}
			return n
		}
		r.svc.Bus().Started.Listen(func(ctx context.Context, e impersonation.StartEvent) error {
			told = append(told, e, seen(ctx))
			return nil
		})
		r.svc.Bus().Ended.Listen(func(ctx context.Context, e impersonation.EndEvent) error {
			told = append(told, e, seen(ctx))
			return nil
		})
		if _, err := r.svc.Start(r.as(false), r.to, impersonation.Limits{}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.svc.Stop(r.as(true)); err != nil {
			t.Fatal(err)
		}
		facts := impersonation.Facts{ImpersonatorID: 1, ImpersonatedID: 2, TenantID: r.to.TenantID, IPAddress: "192.0.2.1", UserAgent: "curl"}
		want := []any{impersonation.StartEvent{Facts: facts}, 1, impersonation.EndEvent{Facts: facts}, 0}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}
		if n := r.count("SELECT count(*) FROM impersonation_logs"); n != 2 {
			t.Errorf("%d records", n)
		}
	})
}

// A failing listener rolls back the change and its log record.
func TestAFailingListener(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRig(t, db)
		failure := errors.New("no")
		r.svc.Bus().Started.Listen(func(context.Context, impersonation.StartEvent) error { return failure })
		if _, err := r.svc.Start(r.as(false), r.to, impersonation.Limits{}); !errors.Is(err, failure) {
			t.Fatal(err)
		}
		for _, text := range []string{
			"SELECT count(*) FROM credentials WHERE impersonated_user_id IS NOT NULL",
			"SELECT count(*) FROM impersonation_logs", "SELECT count(*) FROM audit_logs",
		} {
			if n := r.count(text); n != 0 {
				t.Errorf("%s: %d", text, n)
			}
		}
	})
}

// An impersonation ends once, even if several instances sweep.
func TestSweepOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRig(t, db)
		if _, err := r.svc.Start(r.as(false), r.to, impersonation.Limits{}); err != nil {
			t.Fatal(err)
		}
		if err := r.svc.Sweep(t.Context()); err != nil || r.count("SELECT count(*) FROM impersonation_logs") != 1 {
			t.Fatalf("sweep ended a running impersonation: %v", err)
		}
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), "UPDATE credentials SET revoked_at = created_at"); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 8)
		for range cap(failed) {
			go func() { failed <- r.svc.Sweep(t.Context()) }()
		}
		for range cap(failed) {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		if n := r.count("SELECT count(*) FROM impersonation_logs WHERE action = 'ended'"); n != 1 {
			t.Errorf("ended %d times", n)
		}
		if n := r.count("SELECT count(*) FROM audit_logs WHERE action = 'impersonation.ended' AND actor_id IS NULL"); n != 1 {
			t.Errorf("%d entries in the audit log", n)
		}
	})
}

// Sweep records the end of an expired impersonation once. The credential keeps its target until the
// credential expires.
func TestSweepRecordsTheEnd(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRig(t, db)
		if _, err := r.svc.Start(r.as(false), r.to, impersonation.Limits{}); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			after             time.Duration
			ended, credential int
		}{{59 * time.Minute, 0, 1}, {time.Minute, 1, 1}, {9 * time.Minute, 1, 1}, {time.Minute, 1, 0}} {
			r.clock.Set(r.clock.Now().Add(step.after))
			for range 2 {
				if err := r.svc.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			ended := r.count("SELECT count(*) FROM impersonation_logs WHERE action = 'ended'")
			impersonating := r.count("SELECT count(*) FROM credentials WHERE impersonated_user_id = 2")
			if ended != step.ended || impersonating != step.credential {
				t.Errorf("after %s more: %d records, %d credentials", step.after, ended, impersonating)
			}
		}
	})
}
