// Package factor manages the second factors of users: an authenticator app (TOTP), passkeys and
// recovery codes. It verifies them in logins and in requests that a user must confirm (rules:
// account#second-factors).
package factor

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Notices sends mail about factors, in the language of the recipient. kind is one of the kinds of
// factors, and passkey the name of a passkey.
type Notices interface {
	// FactorAdded notifies the user of a new factor.
	FactorAdded(ctx context.Context, locale, to, name, kind, passkey string) error
	// FactorRemoved notifies the user that one factor was removed, or all factors.
	FactorRemoved(ctx context.Context, locale, to, name, kind, passkey string) error
	// RecoveryCodesGenerated notifies the user that new recovery codes replace the old ones.
	RecoveryCodesGenerated(ctx context.Context, locale, to, name string) error
	// RecoveryCodesLow notifies the user that few recovery codes are left.
	RecoveryCodesLow(ctx context.Context, locale, to, name string, remaining int64) error
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Accounts *account.Service
	Secrets  *secrets.Key // nil in commands, which only reset factors
	Notices  Notices      // nil in commands
	Jobs     *jobs.Queue
	AppName  string // shown in authenticator apps and in passkey dialogs
	// RPID is the relying party ID of WebAuthn. FirstParty reports whether passkeys can be used on
	// pages of an origin.
	RPID       string
	FirstParty func(origin string) bool
	Log        *slog.Logger
}

// Service manages second factors.
//
// Invariant: an operation that adds, uses or removes a factor locks its user first. So each time
// step, recovery code and challenge is accepted only once. If two factors are added concurrently,
// only the first one creates the recovery codes.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a new Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// Overview is the state of a user's factors, without secrets.
type Overview struct {
	TOTP     *TOTP // confirmed; nil without one
	Passkeys []Passkey
	// HasRecoveryCodes means that the user has a set of recovery codes, and Remaining is the number of unused codes.
	HasRecoveryCodes bool
	Remaining        int64
}

// TOTP is a confirmed authenticator app.
type TOTP struct {
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// IsEnabled reports whether the user has a second factor.
func (o Overview) IsEnabled() bool { return o.TOTP != nil || len(o.Passkeys) > 0 }

// Overview returns the state of a user's factors.
func (s *Service) Overview(ctx context.Context, userID int64) (Overview, error) {
	var o Overview
	totp, found, err := s.store.totp(ctx, userID)
	if err != nil {
		return o, err
	}
	if found && totp.isConfirmed {
		o.TOTP = &TOTP{CreatedAt: totp.createdAt, LastUsedAt: totp.lastUsedAt}
	}
	if o.Passkeys, err = s.store.passkeys(ctx, userID); err != nil {
		return o, err
	}
	codes, remaining, err := s.store.countRecoveryCodes(ctx, userID)
	o.HasRecoveryCodes, o.Remaining = codes > 0, remaining
	return o, err
}

// completeAddition completes the addition of a factor: it creates recovery codes if the user lacks
// them, marks the caller's login as having passed a factor, and notifies the user. The caller has
// locked the user.
func (s *Service) completeAddition(ctx context.Context, self account.Self, family uuid.UUID, n notice, after map[string]any) (codes []string, err error) {
	now := s.deps.Clock.Now()
	existing, _, err := s.store.countRecoveryCodes(ctx, self.ID)
	if err != nil {
		return nil, err
	}
	if existing == 0 {
		if codes, err = s.replaceRecoveryCodes(ctx, self.ID, now); err != nil {
			return nil, err
		}
	}
	if err := s.store.updateEnabled(ctx, self.ID); err != nil {
		return nil, err
	}
	if err := s.deps.Accounts.RecordFactor(ctx, self.ID, family); err != nil {
		return nil, err
	}
	if err := s.mail(ctx, self.ID, func(to recipient) error {
		return s.deps.Notices.FactorAdded(ctx, to.locale, to.Email, to.Name, n.kind, n.passkey)
	}); err != nil {
		return nil, err
	}
	return codes, s.deps.Accounts.Record(ctx, self.ID, "factor.added", nil, after)
}

// completeRemoval completes the removal of a factor. With the last factor, it deletes the recovery codes.
// The caller has locked the user.
func (s *Service) completeRemoval(ctx context.Context, userID int64, n notice, before map[string]any) error {
	if err := s.store.updateEnabled(ctx, userID); err != nil {
		return err
	}
	isEnabled, err := s.store.hasFactor(ctx, userID)
	if err != nil {
		return err
	}
	if !isEnabled {
		if err := s.store.deleteRecoveryCodes(ctx, userID); err != nil {
			return err
		}
	}
	if err := s.deps.Accounts.EndChallenges(ctx, userID); err != nil {
		return err
	}
	if err := s.mail(ctx, userID, func(to recipient) error {
		return s.deps.Notices.FactorRemoved(ctx, to.locale, to.Email, to.Name, n.kind, n.passkey)
	}); err != nil {
		return err
	}
	return s.deps.Accounts.Record(ctx, userID, "factor.removed", before, nil)
}

// recipient is a user with the language of mail to them.
type recipient struct {
	account.User
	locale string
}

// mail calls send with a user and the language of mail to them.
func (s *Service) mail(ctx context.Context, userID int64, send func(recipient) error) error {
	if s.deps.Notices == nil {
		return nil
	}
	self, err := s.deps.Accounts.LockSelf(ctx, userID)
	if err != nil {
		return err
	}
	locale, err := s.deps.Accounts.LocaleFor(ctx, self.User, i18n.Locale(ctx))
	if err != nil {
		return err
	}
	return send(recipient{self.User, locale})
}

// Prune deletes expired passkey challenges.
func (s *Service) Prune(ctx context.Context) error {
	return s.store.deleteOldChallenges(ctx, s.deps.Clock.Now())
}
