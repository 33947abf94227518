// Package account has the users of the service, their passwords and the tokens
// that authenticate them (spec: Authentication and account endpoints).
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
}

// Tokens is what a login hands out. Both are shown once and stored only as
// SHA-256 hashes.
type Tokens struct {
	Access  string
	Refresh string
}

// Membership is a user's place in a tenant, as the profile shows it.
type Membership struct {
	TenantID              uuid.UUID
	Name                  string
	Slug                  string
	Role                  string
	HasActiveSubscription bool
	HasBillingDetails     bool
	OnboardingCompletedAt *time.Time
}

// Tenants is what accounts need of the tenant domain.
type Tenants interface {
	// Create makes a tenant that the user owns, in the transaction of ctx.
	Create(ctx context.Context, ownerID int64, name string) (uuid.UUID, error)
	// MembershipsOf lists the tenants that a user is in: at most one.
	MembershipsOf(ctx context.Context, userID int64) ([]Membership, error)
}

// Lifetimes say how long tokens live.
type Lifetimes struct {
	Access  time.Duration // of an access token
	Refresh time.Duration // of one refresh token
	Family  time.Duration // of all refresh tokens that descend from one login
}

// DefaultLifetimes are those of the contract: 15 minutes, 30 and 90 days.
func DefaultLifetimes() Lifetimes {
	const day = 24 * time.Hour
	return Lifetimes{Access: 15 * time.Minute, Refresh: 30 * day, Family: 90 * day}
}
