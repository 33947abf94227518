// Package selfservice lets users manage their own account: name, language, password, email, logins,
// the export of their data, and the deletion of the account (rules: account#own-account).
package selfservice

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/factor"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Notices sends mail about an account, in the language of the recipient.
type Notices interface {
	// VerifyEmail mails a verification link. account is the current email of the account.
	VerifyEmail(ctx context.Context, locale, to, name, account, token string) error
	// EmailChange notifies the user at the current email that a change was requested.
	EmailChange(ctx context.Context, locale, to, name string) error
}

// Limiter decides whether a request of a group is within the limit of a key.
type Limiter interface {
	Allow(ctx context.Context, group, key string) limit.Decision
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB          *sqldb.DB
	Clock       clock.Clock
	Accounts    *account.Service
	Notices     Notices
	Limiter     Limiter
	Memberships Memberships
	Avatars     Avatars
	Audit       Audit
	Factors     *factor.Service
	// Passwords, Passkeys and EmailCodes are the enabled methods of logins.
	Passwords, Passkeys, EmailCodes bool
	// Providers returns the identity providers by which users can log in.
	Providers func() []string
}

// Service implements the requests of users about their own account.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a new Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// ProfileChange holds the changes of a profile. nil leaves a field unchanged.
type ProfileChange struct {
	Name   *string
	Locale **string // a pointer to nil clears it
}

// ChangeProfile changes the caller's name and language.
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

// Login is an active login with all its credentials.
type Login struct {
	ID         uuid.UUID // family of the credentials
	Kind       string    // session or token
	IP         string    // of the last request that issued a credential
	UserAgent  string
	CreatedAt  time.Time
	LastUsedAt time.Time // truncated to the minute
	ExpiresAt  time.Time // unless the login is used again
}

// credential is an unrevoked credential, which may have expired.
type credential struct {
	login     Login
	expiresAt time.Time
}

// Logins returns the active logins of a user, newest first.
func (s *Service) Logins(ctx context.Context, userID int64) ([]Login, error) {
	now := s.deps.Clock.Now()
	credentials, err := s.store.credentials(ctx, userID, now)
	if err != nil {
		return nil, err
	}
	return loginsOf(credentials, now), nil
}

// loginsOf groups credentials, which must be ordered by creation time, into logins.
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
