package blackbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/sandbox/clock"
)

// rig is the team service on a database with one tenant. Its dependencies other than accounts and
// tenants are in-memory fakes.
type rig struct {
	t        *testing.T
	db       *sqldb.DB
	clock    *clock.Adjustable
	accounts *account.Service
	tenants  *tenant.Service
	team     *team.Service

	tenant uuid.UUID
	owner  account.User
	by     team.Actor // the owner

	limit atomic.Int64 // of seats; 0 means unlimited

	mu     sync.Mutex
	tokens map[string]string // by email, from the newest mail
	trail  []audit.Entry
}

func each(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, newRig(t, db)) })
}

func newRig(t *testing.T, db *sqldb.DB) *rig {
	t.Helper()
	passwords := account.NewPasswords(account.HashCost{})
	r := &rig{t: t, db: db, clock: clock.NewAdjustable(clock.System(), 0), tokens: map[string]string{}}
	r.tenants = tenant.NewService(tenant.Deps{DB: db, Clock: r.clock, Subscriptions: r})
	r.accounts = account.NewService(account.Deps{
		DB: db, Clock: r.clock, Passwords: passwords, Tenants: r.tenants, Notices: r, Lifetimes: account.DefaultLifetimes(),
	})
	r.team = team.NewService(team.Deps{
		DB: db, Clock: r.clock, Tenants: r.tenants, Accounts: r.accounts, Seats: r, Billing: r, Letters: r, Audit: r,
		ExpiryDays: team.DefaultExpiryDays,
	})
	r.owner = r.user("owner")
	r.tenant = r.found(r.owner)
	r.by = team.MemberActor(&authz.Caller{UserID: r.owner.ID, Tenant: &authz.Membership{Permissions: authz.TenantPermissions()}})
	return r
}

func (r *rig) Overview(_ context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]tenant.Overview, error) {
	active := map[uuid.UUID]tenant.Overview{}
	for _, id := range tenantIDs {
		active[id] = tenant.Overview{Status: "active"}
	}
	return active, nil
}

func (r *rig) RecordEntitlements(context.Context, uuid.UUID) error { return nil }

func (r *rig) HasActive(context.Context, uuid.UUID) (bool, error) { return true, nil }

func (r *rig) OwnerChanged(context.Context, uuid.UUID) error { return nil }

func (r *rig) HasBought(context.Context, uuid.UUID) (bool, error) { return false, nil }

func (r *rig) SeatFreed(ctx context.Context, id uuid.UUID) error { return r.SeatsChanged(ctx, id) }

// SeatsChanged must be called in the transaction that changes the team.
func (r *rig) SeatsChanged(ctx context.Context, _ uuid.UUID) error {
	if !sqldb.InTx(ctx) {
		return errors.New("seats changed outside of a transaction")
	}
	return nil
}

func (r *rig) SeatLimit(context.Context, uuid.UUID) (*int64, error) {
	if limit := r.limit.Load(); limit > 0 {
		return &limit, nil
	}
	return nil, nil
}

func (r *rig) PasswordReset(context.Context, string, string, string, string) error { return nil }
func (r *rig) NewOwner(context.Context, string, string, string, string, string, time.Time) error {
	return nil
}
func (r *rig) PasswordChanged(context.Context, string, string, string) error { return nil }
func (r *rig) NewLogin(context.Context, string, string, string, string, string) error {
	return nil
}
func (r *rig) EmailCode(context.Context, string, string, string, string) error { return nil }
func (r *rig) Welcome(context.Context, string, string, string) error           { return nil }

func (r *rig) Invitation(_ context.Context, _, to string, i letters.Invitation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokens[to] = i.Token
	return nil
}

func (r *rig) OwnershipTransferred(context.Context, string, string, letters.OwnershipTransferred) error {
	return nil
}

func (r *rig) Record(_ context.Context, e audit.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trail = append(r.trail, e)
	return nil
}

// token returns the token that was mailed to an address last.
func (r *rig) token(email string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tokens[email]
}

func (r *rig) exec(text string) {
	r.t.Helper()
	if _, err := r.db.Conn(r.t.Context()).ExecContext(r.t.Context(), text); err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
}

// user creates an account without a password.
func (r *rig) user(name string) account.User {
	r.t.Helper()
	u := account.User{Name: name, Email: name + "@example.com"}
	row := r.db.Conn(r.t.Context()).QueryRowContext(r.t.Context(), `INSERT INTO users (name, email, created_at, updated_at)
		VALUES ('`+name+`', '`+u.Email+`', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00') RETURNING id`)
	if err := row.Scan(&u.ID); err != nil {
		r.t.Fatal(err)
	}
	return u
}

// found creates a tenant.
func (r *rig) found(owner account.User) uuid.UUID {
	r.t.Helper()
	id, err := r.tenants.Create(r.t.Context(), owner.ID, owner.Name)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *rig) invite(email string) (team.Invitation, error) {
	return r.team.Invite(r.t.Context(), r.by, r.tenant, team.NewInvitation{Email: email, Role: team.MemberRole})
}

func (r *rig) invited(email string) team.Invitation {
	r.t.Helper()
	i, err := r.invite(email)
	if err != nil {
		r.t.Fatalf("invite %s: %v", email, err)
	}
	return i
}

func (r *rig) seats(want string) {
	r.t.Helper()
	s, err := r.team.Seats(r.t.Context(), r.tenant)
	if got := fmt.Sprintf("%d+%d", s.Members, s.Invitations); err != nil || got != want {
		r.t.Errorf("members and invitations are %s, want %s (%v)", got, want, err)
	}
}
