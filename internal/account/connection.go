package account

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// LockForLogin locks the account that uses a verified email, for a login through the single sign-on
// of a tenant, in the transaction of ctx. It reports whether there is an account.
func (s *Service) LockForLogin(ctx context.Context, email string) (self Self, found bool, err error) {
	user, err := s.lockByVerifiedEmail(ctx, email)
	if errors.Is(err, errNoUser) {
		return Self{}, false, nil
	}
	return newSelf(user), err == nil, err
}

// CreateForLogin creates an account with a verified email and without a password, and calls join,
// which adds the user to a tenant. It returns an error if an account uses the email (see
// IsEmailTaken).
func (s *Service) CreateForLogin(ctx context.Context, name, email string, join func(ctx context.Context, userID int64) error) (int64, error) {
	user, err := s.insertVerified(ctx, name, email)
	if err != nil {
		return 0, err
	}
	if err := join(ctx, user.ID); err != nil {
		return 0, err
	}
	return user.ID, s.welcome(ctx, user)
}

// Claim removes the password and ends the logins of an account whose email was never verified, for
// the person who has just proved ownership of the email. The caller has locked the account with
// LockForLogin.
func (s *Service) Claim(ctx context.Context, userID int64) error { return s.claim(ctx, userID, false) }

// EndConnection ends the logins, one-time codes, login challenges and open redirects of a single
// sign-on connection, in a transaction that has locked its tenant. Linking a user needs the same
// lock, so the connection cannot link a user meanwhile.
func (s *Service) EndConnection(ctx context.Context, connection uuid.UUID) error {
	users, err := s.store.usersOfConnection(ctx, connection)
	if err != nil {
		return err
	}
	if err := s.LockAll(ctx, users); err != nil {
		return err
	}
	for _, user := range users {
		if err := s.store.deleteConnectionChallenges(ctx, user); err != nil {
			return err
		}
	}
	return s.store.endConnection(ctx, connection, s.deps.Clock.Now())
}

// useIdentity marks the identity of a delegated login as used. For a login through single sign-on,
// it also sets the connection and the maximum lifetime of the grant.
func (s *Service) useIdentity(ctx context.Context, grant *Grant, now time.Time) error {
	switch {
	case grant.Identity == nil:
		return nil
	case grant.Provider != authz.SSO:
		return s.store.markIdentityUsed(ctx, *grant.Identity, now)
	}
	connection, maxLife, err := s.deps.SignOn.UseIdentity(ctx, *grant.Identity)
	grant.Connection, grant.MaxLife = &connection, maxLife
	return err
}

// recordExempt records the login of an owner whose tenant requires single sign-on for their email,
// unless the login came through the connection.
func (s *Service) recordExempt(ctx context.Context, user User, grant Grant) error {
	if s.deps.SignOn == nil || grant.Provider == authz.SSO {
		return nil
	}
	in, err := s.store.signOnOf(ctx, user)
	if errors.Is(err, errNoSignOn) {
		return nil
	}
	if err != nil || !in.isExempt {
		return err
	}
	return s.deps.SignOn.RecordExempt(ctx, in.tenant, user)
}

// ownerRole is the built-in role of the owner of a tenant.
const ownerRole = "owner"

// domainOf returns the domain of an email.
func domainOf(email string) string { return email[strings.LastIndexByte(email, '@')+1:] }

// signOn is the single sign-on of a user's tenant.
type signOn struct {
	tenant   uuid.UUID
	isExempt bool // the user owns the tenant, which requires single sign-on for their email
}
