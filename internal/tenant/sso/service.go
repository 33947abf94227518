package sso

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Path is the path of the public routes below the service's public URL.
const Path = "/api/v1/auth/sso/"

// Feature is the code of the feature that lets a tenant change its domains and its connection. If
// the catalog does not have the feature, all tenants can change them.
const Feature = "tenant-sso"

// Tenants is the part of the tenant domain that single sign-on uses.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	// LockLive locks a tenant until the transaction of ctx ends, and checks the caller's
	// permissions again.
	LockLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
}

// Team is the part of the team domain that single sign-on uses.
type Team interface {
	// GrantableRole returns the role with a name, if the actor can assign it.
	GrantableRole(ctx context.Context, by team.Actor, tenantID uuid.UUID, name string) (team.Role, error)
	// HasSeatFor reports whether the user with an email can become a member.
	HasSeatFor(ctx context.Context, tenantID uuid.UUID, email string) (bool, error)
	// Enrol adds a user who joins without an invitation.
	Enrol(ctx context.Context, tenantID uuid.UUID, userID, roleID int64) error
}

// Accounts is the part of the account domain that single sign-on uses.
type Accounts interface {
	// LockSelf locks a user.
	LockSelf(ctx context.Context, userID int64) (account.Self, error)
	// LockForLogin locks the account with an email, if there is one.
	LockForLogin(ctx context.Context, email string) (account.Self, bool, error)
	// CreateForLogin creates an account with a verified email, and calls join to add it to a tenant.
	CreateForLogin(ctx context.Context, name, email string, join func(ctx context.Context, userID int64) error) (int64, error)
	// Claim removes the password and ends the logins of an account whose email was never verified.
	Claim(ctx context.Context, userID int64) error
	// Verify marks the email of a user as verified.
	Verify(ctx context.Context, userID int64) error
	// EndConnection ends the logins, one-time codes and open redirects of a connection.
	EndConnection(ctx context.Context, connection uuid.UUID) error
	Record(ctx context.Context, userID int64, action string, before, after any) error
}

// Flows is the part of delegated login that single sign-on uses.
type Flows interface {
	Begin(ctx context.Context, f oauth.Flow, known string) (key string, err error)
	Take(ctx context.Context, state, key string) (oauth.Flow, error)
	IssueCode(ctx context.Context, of oauth.Subject, key string) (string, error)
	FrontendURL(host string, query url.Values) string
}

// Plans decides which features tenants have.
type Plans interface {
	// HasFeature reports whether a tenant has a feature. It reports true if the catalog does not
	// have the feature.
	HasFeature(ctx context.Context, tenantID uuid.UUID, code string) (bool, error)
}

// Secrets protects the client secrets at rest.
type Secrets interface {
	Seal(place, secret string) string
	Open(place, stored string) (string, error)
	Hash(place, code string) string
}

// Letters sends mail in the transaction of ctx.
type Letters interface {
	SSOExemptLogin(ctx context.Context, locale, to string, l letters.SSOExemptLogin) error
}

// Audit records changes in the audit trail.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB        *sqldb.DB
	Clock     clock.Clock
	Tenants   Tenants
	Team      Team
	Accounts  Accounts
	Plans     Plans
	Secrets   Secrets
	Letters   Letters
	Audit     Audit
	PublicURL string // without a trailing slash
	// Client requests the documents of issuers. Reachable lists networks that are not public but
	// that issuers can use, even without https. The sandbox sets it to its own network.
	Client    *safehttp.Client
	Reachable []netip.Prefix
	Log       *slog.Logger
}

// Service manages the single sign-on of tenants.
type Service struct {
	deps    Deps
	store   store
	issuers *issuers
	flows   Flows
}

// NewService returns a new Service. Call Connect before the first login.
func NewService(d Deps) *Service {
	return &Service{deps: d, store: store{d.DB}, issuers: newIssuers(d.Client, d.Reachable, d.Clock)}
}

// Connect sets the service that stores the state of logins. NewService cannot set it, because that
// service depends on the Service.
func (s *Service) Connect(flows Flows) { s.flows = flows }

// RequireFeature rejects a tenant whose plan does not include single sign-on (403).
func (s *Service) RequireFeature(ctx context.Context, tenantID uuid.UUID) error {
	has, err := s.deps.Plans.HasFeature(ctx, tenantID, Feature)
	if err == nil && !has {
		err = errNotInPlan
	}
	return err
}

// Get returns the connection of a tenant, or nil.
func (s *Service) Get(ctx context.Context, tenantID uuid.UUID) (*Connection, error) {
	c, err := s.store.ofTenant(ctx, tenantID)
	if errors.Is(err, errNotFound) {
		return nil, nil //nolint:nilnil // there is no connection
	}
	return &c, err
}

// Put replaces the connection of a tenant. An empty secret keeps the stored one. If the issuer or
// the client ID changes, the links and logins of the old connection end.
func (s *Service) Put(ctx context.Context, tenantID uuid.UUID, t Terms) (Connection, error) {
	roleErr, err := s.check(ctx, tenantID, t)
	if err == nil {
		err = roleErr
	}
	if err != nil {
		return Connection{}, err
	}
	var c Connection
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.LockLive(ctx, tenantID); err != nil {
			return err
		}
		old, err := s.Get(ctx, tenantID)
		if err != nil {
			return err
		}
		if err := checkStored(old, t); err != nil {
			return err
		}
		caller := authz.FromContext(ctx)
		role, err := s.deps.Team.GrantableRole(ctx, team.MemberActor(caller), tenantID, t.Role)
		if err != nil {
			return err
		}
		c = Connection{ID: sqldb.NewID(), TenantID: tenantID, Terms: t, RoleID: role.ID, setBy: &caller.UserID, setPermissions: heldBy(caller)}
		if err := s.replace(ctx, old, &c); err != nil {
			return err
		}
		if c, err = s.store.ofTenant(ctx, tenantID); err != nil {
			return err
		}
		return s.record(ctx, "sso.updated", c, auditFields(old), auditFields(&c))
	})
	return c, err
}

// replace stores a connection in place of the old one, which may be nil.
func (s *Service) replace(ctx context.Context, old, c *Connection) error {
	now := s.deps.Clock.Now()
	same := old != nil && old.sameClient(c.Terms)
	if same {
		c.ID = old.ID
	}
	if c.Secret == "" {
		c.Secret = old.Secret // checkStored ensures that old is set
	} else {
		c.Secret = s.deps.Secrets.Seal(secretPlace(c.ID), c.Secret)
	}
	if same {
		return s.store.update(ctx, *c, now)
	}
	if old != nil {
		if err := s.end(ctx, *old); err != nil {
			return err
		}
	}
	return s.store.insert(ctx, *c, now)
}

// secretPlace names the column that stores the secret of a connection.
func secretPlace(id uuid.UUID) string { return "sso_connections.client_secret " + id.String() }

// check validates the fields of Put, and reads the discovery document of the issuer. roleErr is the
// error for a role that the caller cannot assign. The caller returns roleErr only if the other
// fields are valid.
func (s *Service) check(ctx context.Context, tenantID uuid.UUID, t Terms) (roleErr, err error) {
	old, err := s.Get(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	_, roleErr = s.deps.Team.GrantableRole(ctx, team.MemberActor(authz.FromContext(ctx)), tenantID, t.Role)
	var unknown error
	if refused, ok := errors.AsType[*fault.Error](roleErr); ok && len(refused.Fields) > 0 {
		unknown, roleErr = roleErr, nil
	}
	return roleErr, fault.Join(s.checkIssuer(ctx, t.Issuer), checkStored(old, t), unknown)
}

// checkStored validates the fields that depend on the stored connection, which may be nil.
func checkStored(old *Connection, t Terms) error {
	same := old != nil && old.sameClient(t)
	var noSecret, noLogin error
	if t.Secret == "" && !same {
		noSecret = errSecret
	}
	if t.Required && (!same || old.LastLoginAt == nil) {
		noLogin = errRequired
	}
	return fault.Join(noSecret, noLogin)
}

// checkIssuer reads the discovery document of an issuer.
func (s *Service) checkIssuer(ctx context.Context, issuer string) error {
	if issuer == "" { // reported as missing
		return nil
	}
	if !isIssuer(issuer) || s.issuers.checkURL(issuer) != nil {
		return errIssuer
	}
	if err := s.issuers.read(ctx, issuer); err != nil {
		s.deps.Log.InfoContext(ctx, "failed to read the discovery document", "issuer", safehttp.Redact(issuer), "error", oauth.Describe(err))
		return errDiscovery
	}
	return nil
}

// Delete deletes the connection of a tenant, if there is one. Its logins, one-time codes and open
// redirects end.
func (s *Service) Delete(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.LockLive(ctx, tenantID); err != nil {
			return err
		}
		old, err := s.Get(ctx, tenantID)
		if err != nil || old == nil {
			return err
		}
		if err := s.end(ctx, *old); err != nil {
			return err
		}
		return s.record(ctx, "sso.deleted", *old, auditFields(old), nil)
	})
}

// end deletes a connection with its links, and ends its logins. The tenant is locked.
func (s *Service) end(ctx context.Context, c Connection) error {
	if err := s.deps.Accounts.EndConnection(ctx, c.ID); err != nil {
		return err
	}
	return s.store.delete(ctx, c)
}

// RecordExempt records and mails the login of an owner who is exempt from the required single
// sign-on, in the transaction of the login.
func (s *Service) RecordExempt(ctx context.Context, tenantID uuid.UUID, user account.User) error {
	if err := s.deps.Accounts.Record(ctx, user.ID, "sso.exempt_login", nil, nil); err != nil {
		return err
	}
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return err
	}
	locale, err := s.deps.Tenants.Locale(ctx, t, "")
	if err != nil {
		return err
	}
	return s.deps.Letters.SSOExemptLogin(ctx, locale, user.Email, letters.SSOExemptLogin{
		Name: user.Name, Tenant: t.Name, At: s.deps.Clock.Now(), IP: authz.SourceOf(ctx).IP,
	})
}

// CountsAsMFA implements oauth.Connections.
func (s *Service) CountsAsMFA(ctx context.Context, connection, identity uuid.UUID) (counts, ok bool, err error) {
	return s.store.countsAsMFA(ctx, connection, identity)
}

// UseIdentity marks an identity and its connection as used by a login, and returns the connection
// and the maximum lifetime of the login. It returns an error (401) if the identity was removed.
func (s *Service) UseIdentity(ctx context.Context, identity uuid.UUID) (connection uuid.UUID, maxLife time.Duration, err error) {
	now := s.deps.Clock.Now()
	connection, err = s.store.markUsed(ctx, identity, now)
	if err != nil {
		return uuid.Nil, 0, err
	}
	hours, err := s.store.completeLogin(ctx, connection, now)
	return connection, time.Duration(hours) * time.Hour, err
}

func (s *Service) record(ctx context.Context, action string, c Connection, before, after any) error {
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, TenantID: &c.TenantID, Resource: "sso", ResourceID: c.ID.String(), Before: before, After: after,
	})
}
