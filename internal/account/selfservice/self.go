// Package selfservice is what users do with their own account: its name, language, password and
// email, its logins, what is kept about it, and its end (rules: account#own-account).
package selfservice

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Notices sends the mails about an account, in the locale of the reader.
type Notices interface {
	// VerifyEmail mails the link that proves an email. account is the present email of the
	// account that asks.
	VerifyEmail(ctx context.Context, locale, to, name, account, token string) error
	// EmailChange tells the owner of an account, at the present address, that another is
	// to take its place.
	EmailChange(ctx context.Context, locale, to, name string) error
}

// Limiter decides whether one more of a group may pass for a key.
type Limiter interface {
	Allow(ctx context.Context, group, key string) limit.Decision
}

// Deps is what the service needs.
type Deps struct {
	DB          *sqldb.DB
	Clock       clock.Clock
	Accounts    *account.Service
	Notices     Notices
	Limiter     Limiter
	Memberships Memberships
	Avatars     Avatars
	Audit       Audit
}

// Service does what users ask for about themselves.
type Service struct {
	deps  Deps
	store store
}

// NewService returns the service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// ProfileChange is what changes of a profile; nil stays as it is.
type ProfileChange struct {
	Name   *string
	Locale **string // to nil for none
}

// ChangeProfile changes a caller's name and language.
func (s *Service) ChangeProfile(ctx context.Context, caller *authz.Caller, change ProfileChange) error {
	return s.deps.Accounts.RunInPerson(ctx, caller, func(ctx context.Context, self account.Self) error {
		if change.Name != nil {
			self.Name = *change.Name
		}
		if change.Locale != nil {
			self.Locale = *change.Locale
		}
		caller.Name, caller.Locale = self.Name, self.Locale
		return s.store.changeProfile(ctx, self.User, s.deps.Clock.Now())
	})
}

// Login is a login that lives: all credentials that descend from it.
type Login struct {
	ID         uuid.UUID // the family of its credentials
	Kind       string    // session or token
	IP         string    // of the last request that was given a credential
	UserAgent  string
	CreatedAt  time.Time
	LastUsedAt time.Time // to the minute
	ExpiresAt  time.Time // if it is not used any more
}

// credential is what may authenticate a user, alive or expired.
type credential struct {
	login     Login
	expiresAt time.Time
}

// Logins lists the logins of a user that live, the newest first.
func (s *Service) Logins(ctx context.Context, userID int64) ([]Login, error) {
	now := s.deps.Clock.Now()
	credentials, err := s.store.credentials(ctx, userID, now)
	if err != nil {
		return nil, err
	}
	return loginsOf(credentials, now), nil
}

// loginsOf joins credentials, the oldest first, to the logins that they descend from.
func loginsOf(credentials []credential, now time.Time) []Login {
	var logins []Login
	for _, c := range credentials {
		i := slices.IndexFunc(logins, func(l Login) bool { return l.ID == c.login.ID })
		if i < 0 {
			i = len(logins)
			logins = append(logins, c.login)
		}
		l := &logins[i]
		l.IP, l.UserAgent = c.login.IP, c.login.UserAgent
		if c.login.LastUsedAt.After(l.LastUsedAt) {
			l.LastUsedAt = c.login.LastUsedAt
		}
		if c.expiresAt.After(l.ExpiresAt) {
			l.ExpiresAt = c.expiresAt
		}
	}
	logins = slices.DeleteFunc(logins, func(l Login) bool { return !l.ExpiresAt.After(now) })
	slices.SortStableFunc(logins, func(a, b Login) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return logins
}
