// Package account has the users of the service, their passwords and the credentials
// that authenticate them (rules: account#logins).
package account

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// User is an account.
type User struct {
	ID              int64
	Name            string
	Email           string // in the form of mail.NormalizeAddress
	IsPlatformAdmin bool
	Locale          *string // the language of mails to the user; nil where none was chosen
}

// Tokens is what a login hands out: a pair of tokens, or a session. Only their
// SHA-256 hashes are stored.
type Tokens struct {
	Access  string
	Refresh string
	Session string
}

// Grant says what a login hands out.
type Grant struct {
	// Session asks for a session instead of tokens.
	Session bool
	// Remember makes the session outlive the browser.
	Remember bool
	// Replaces is the session that the browser had before, "" for none. It ends, so
	// that nobody who knows its secret is logged in as the user.
	Replaces string
	// Identity and Provider are the identity that a delegated login came through; nil and
	// "" for other logins.
	Identity *uuid.UUID
	Provider string
}

// Membership is a user's place in a tenant, as the profile shows it.
type Membership struct {
	TenantID              uuid.UUID
	Name                  string
	Slug                  string
	Role                  string
	HasActiveSubscription bool
	SubscriptionStatus    string            // empty for none
	PlanName              map[string]string // by locale; nil without a subscription and a default plan
	HasBillingDetails     bool
	OnboardingCompletedAt *time.Time
}

// tenantStore is what accounts need from the tenant domain.
type tenantStore interface {
	// Create makes a tenant that the user owns, in the transaction of ctx.
	Create(ctx context.Context, ownerID int64, name string) (uuid.UUID, error)
	// MembershipsOf lists the tenants that a user is in: at most one.
	MembershipsOf(ctx context.Context, userID int64) ([]Membership, error)
	// LocaleOf returns the language of mail to a user whose own is given: the one that
	// their tenant has set, else their own, else another.
	LocaleOf(ctx context.Context, userID int64, own *string, otherwise string) (string, error)
	// LockTenantOf locks the tenant that a user is in, if any, in the transaction of ctx.
	LockTenantOf(ctx context.Context, userID int64) error
	// RemoveUnverifiedOwner takes a user out of the tenant that somebody else made in their name, in
	// the transaction of ctx, which has locked it. A tenant that pays is kept.
	RemoveUnverifiedOwner(ctx context.Context, userID int64) error
}

// Lifetimes say how long credentials live.
type Lifetimes struct {
	Access     time.Duration // of an access token
	Refresh    time.Duration // of one refresh token
	Family     time.Duration // of all refresh tokens that descend from one login
	Session    time.Duration // of a session without use
	Remembered time.Duration // of a session without use that was to be remembered
	// SessionEnd and RememberedEnd limit the life of sessions that stay in use.
	SessionEnd    time.Duration
	RememberedEnd time.Duration
}

// DefaultLifetimes returns the lifetimes that hold when none are configured (rules:
// account#lifetimes).
func DefaultLifetimes() Lifetimes {
	const day = 24 * time.Hour
	return Lifetimes{
		Access: 15 * time.Minute, Refresh: 30 * day, Family: 90 * day,
		Session: 2 * time.Hour, SessionEnd: day, Remembered: 30 * day, RememberedEnd: 90 * day,
	}
}
