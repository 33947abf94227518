// Package account manages users, their passwords and their credentials (rules: account#logins).
package account

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// User is an account.
type User struct {
	ID              int64
	Name            string
	Email           string // normalized by mail.NormalizeAddress
	IsPlatformAdmin bool
	Locale          *string // language of mail to the user; nil if the user has not chosen one
}

// Tokens holds the secrets that a login issues: an access and a refresh token, or a session. Only
// their SHA-256 hashes are stored. If the user has a second factor, there is a challenge instead.
type Tokens struct {
	Access    string
	Refresh   string
	Session   string
	Challenge *Challenge
}

// Grant describes the credentials that a login issues.
type Grant struct {
	// Session requests a session instead of tokens.
	Session bool
	// Remember makes the session outlive the browser.
	Remember bool
	// Replaces is the previous session of the browser, or "". The login ends it, so that an
	// attacker who knows its secret does not become logged in as the user.
	Replaces string
	// Browser is the key of the browser in cookie mode, or "". Only this browser can complete the
	// login if it needs a second factor.
	Browser string
	// RevokePrevious ends all other logins of the user.
	RevokePrevious bool
	// Methods are the methods of the login so far (authz.Password and others).
	Methods []string
	// FactorPassed means that the login has passed two factors, or a passkey with user verification.
	FactorPassed bool
	// Identity and Provider describe the provider identity of a delegated login, and IsNewUser
	// whether the login created the account. They are nil, "" and false for other logins.
	Identity  *uuid.UUID
	Provider  string
	IsNewUser bool
	// Connection is the tenant's single sign-on connection of the login; nil for other logins. MaxLife
	// limits the lifetime of its credentials, even while they are in use. 0 means no limit.
	Connection *uuid.UUID
	MaxLife    time.Duration
}

// method returns the name of the login in the audit log: the provider, or the first method.
func (g Grant) method() string {
	switch {
	case g.Provider != "":
		return g.Provider
	case len(g.Methods) > 0 && g.Methods[0] != authz.Password:
		return g.Methods[0]
	}
	return "password"
}

// Membership is a user's membership in a tenant, as shown in the profile.
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

// tenantStore is the part of the tenant service that accounts use.
type tenantStore interface {
	// Create creates a tenant that the user owns, in the transaction of ctx.
	Create(ctx context.Context, ownerID int64, name string) (uuid.UUID, error)
	// MembershipsOf returns the memberships of a user: at most one.
	MembershipsOf(ctx context.Context, userID int64) ([]Membership, error)
	// MarkActive records an authenticated request of a member.
	MarkActive(tenantID uuid.UUID)
	// LocaleOf returns the language of mail to a user: the language in the settings of their tenant,
	// or else own, or else otherwise.
	LocaleOf(ctx context.Context, userID int64, own *string, otherwise string) (string, error)
	// LockTenantOf locks the tenant of a user, if there is one, in the transaction of ctx.
	LockTenantOf(ctx context.Context, userID int64) error
	// RemoveUnverifiedOwner removes a user from the tenant that another person created with the
	// user's email. The user stays in a tenant that has ever paid. The caller has locked the tenant
	// in the transaction of ctx.
	RemoveUnverifiedOwner(ctx context.Context, userID int64) error
}

// domainStore lets users join the tenant of the domain of their verified email.
type domainStore interface {
	// Join adds a user without a tenant to the tenant. It reports whether the user has joined.
	Join(ctx context.Context, userID int64) (joined bool, err error)
	// LockFor locks the tenant that a new user with the verified email joins, in the transaction of
	// ctx. It returns the ID of the tenant, or Nil if the user does not join one.
	LockFor(ctx context.Context, email string) (uuid.UUID, error)
	// AddNew adds a new user to the tenant of LockFor. It reports whether the user has joined.
	AddNew(ctx context.Context, tenantID uuid.UUID, userID int64) (bool, error)
}

// signOnStore is the single sign-on of tenants.
type signOnStore interface {
	// UseIdentity marks an identity of a connection as used, and returns the connection and the
	// maximum lifetime of the login. It returns an error (401) if the identity was removed.
	UseIdentity(ctx context.Context, identity uuid.UUID) (connection uuid.UUID, maxLife time.Duration, err error)
	// RecordExempt records the login of an owner who is exempt from the required single sign-on, in
	// the transaction of ctx.
	RecordExempt(ctx context.Context, tenantID uuid.UUID, user User) error
}

// Lifetimes holds the lifetimes of credentials.
type Lifetimes struct {
	Access     time.Duration // of an access token
	Refresh    time.Duration // of a refresh token
	Family     time.Duration // of all refresh tokens of one login
	Session    time.Duration // idle timeout of a session
	Remembered time.Duration // idle timeout of a remembered session
	// SessionEnd and RememberedEnd limit the lifetime of sessions that are in use.
	SessionEnd    time.Duration
	RememberedEnd time.Duration
}

// DefaultLifetimes returns the default lifetimes (rules: account#lifetimes).
func DefaultLifetimes() Lifetimes {
	const day = 24 * time.Hour
	return Lifetimes{
		Access: 15 * time.Minute, Refresh: 30 * day, Family: 90 * day,
		Session: 2 * time.Hour, SessionEnd: day, Remembered: 30 * day, RememberedEnd: 90 * day,
	}
}
