package sso

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/tenant/domain"
)

// admitAttempts is the number of attempts if another request creates the account concurrently.
const admitAttempts = 3

// admit finds or creates the account of a person, and returns a one-time code for the browser with
// the key. For a person who cannot log in, it returns a LoginError and changes nothing.
//
// Invariant: the tenant is locked from the first check until the code is stored. Joining, leaving,
// linking and changing the connection also lock the tenant, so concurrent first logins create one
// account per person and never take more than the free seats.
func (s *Service) admit(ctx context.Context, connection uuid.UUID, who person, key string) (code string, err error) {
	for range admitAttempts {
		err = s.inTenant(ctx, connection, func(ctx context.Context, c Connection) error {
			d, err := s.decide(ctx, c, who)
			if err != nil {
				return err
			}
			code, err = s.apply(ctx, c, who, d, key)
			return err
		})
		if !account.IsEmailTaken(err) {
			break
		}
	}
	return code, err
}

// checkAdmission returns the error that admit would return, and changes nothing.
func (s *Service) checkAdmission(ctx context.Context, connection uuid.UUID, who person) error {
	return s.inTenant(ctx, connection, func(ctx context.Context, c Connection) error {
		_, err := s.decide(ctx, c, who)
		return err
	})
}

// inTenant calls f with a connection, in a transaction that has locked its tenant. If the connection
// was deleted, inTenant returns errInvalidState.
func (s *Service) inTenant(ctx context.Context, connection uuid.UUID, f func(ctx context.Context, c Connection) error) error {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		c, err := s.store.byID(ctx, connection)
		if err != nil {
			return err
		}
		if _, err := s.deps.Tenants.LockLive(ctx, c.TenantID); err != nil {
			return err
		}
		if c, err = s.store.byID(ctx, connection); err != nil { // read again under the lock
			return err
		}
		return f(ctx, c)
	})
	if errors.Is(err, errNotFound) || errors.Is(err, tenant.ErrNotFound) {
		return errInvalidState
	}
	return err
}

// decision is the outcome of a login that is allowed.
type decision struct {
	userID     int64      // 0 for a new account
	identity   *uuid.UUID // the existing link; nil for a new one
	isVerified bool       // the email of the account is verified
	claims     bool       // the account was registered by a person who never verified the email
	provisions bool       // the person becomes a member
}

// decide checks the cases of a login in the order of the rules (rules: tenant#single-sign-on). The
// caller has locked the tenant.
func (s *Service) decide(ctx context.Context, c Connection, who person) (decision, error) {
	known, err := s.store.link(ctx, c.ID, who.subject)
	if err != nil {
		return decision{}, err
	}
	if known != nil {
		return s.decideKnown(ctx, c, *known)
	}
	if !slices.Contains(c.Domains, domain.OfEmail(who.email)) {
		return decision{}, errDomainMismatch
	}
	self, found, err := s.deps.Accounts.LockForLogin(ctx, who.email)
	if err != nil {
		return decision{}, err
	}
	if found {
		m, err := s.store.membership(ctx, self.ID)
		isInside := m.tenantID == c.TenantID
		switch {
		case err != nil:
			return decision{}, err
		case self.IsPlatformAdmin, self.Verified && !isInside:
			return decision{}, errElsewhere
		case isInside:
			return decision{userID: self.ID, isVerified: self.Verified}, s.checkLink(ctx, c, self, m)
		}
	}
	if !c.ProvisionMembers {
		return decision{}, errNotProvisioned
	}
	switch hasSeat, err := s.deps.Team.HasSeatFor(ctx, c.TenantID, who.email); {
	case err != nil:
		return decision{}, err
	case !hasSeat:
		return decision{}, errSeatLimit
	}
	return decision{userID: self.ID, isVerified: true, claims: found, provisions: true}, nil
}

// decideKnown decides about a person who is linked to an account.
func (s *Service) decideKnown(ctx context.Context, c Connection, known link) (decision, error) {
	self, err := s.deps.Accounts.LockSelf(ctx, known.userID)
	if err != nil {
		return decision{}, err
	}
	m, err := s.store.membership(ctx, known.userID)
	if err == nil && (self.IsPlatformAdmin || m.tenantID != c.TenantID) {
		err = errElsewhere
	}
	return decision{userID: known.userID, identity: &known.id, isVerified: true}, err
}

// checkLink rejects a member whom the connection must not log in. The user who set the issuer
// controls who logs in through it. So the connection must not log in a member with permissions that
// this user lacked.
func (s *Service) checkLink(ctx context.Context, c Connection, self account.Self, m membership) error {
	isLinked, err := s.store.isLinked(ctx, c.ID, self.ID)
	switch {
	case err != nil:
		return err
	case isLinked, !c.setFully(m.permissions), m.isOwner && (c.setBy == nil || *c.setBy != self.ID):
		return errLinkRefused
	}
	return nil
}

// apply carries out a decision: it creates or claims the account, links it, and adds it to the
// tenant. It returns a one-time code.
func (s *Service) apply(ctx context.Context, c Connection, who person, d decision, key string) (string, error) {
	of := oauth.Subject{UserID: d.userID, Connection: c.ID, IsNew: d.userID == 0}
	if d.provisions {
		var err error
		if of.UserID, err = s.provision(ctx, c, who, d); err != nil {
			return "", err
		}
	}
	if d.identity != nil {
		of.Identity = *d.identity
		if err := s.store.setEmail(ctx, of.Identity, who.email); err != nil {
			return "", err
		}
		return s.flows.IssueCode(ctx, of, key)
	}
	of.Identity = sqldb.NewID()
	if err := s.store.insertLink(ctx, c.ID, who, link{of.Identity, of.UserID}, s.deps.Clock.Now()); err != nil {
		return "", err
	}
	if !d.provisions {
		if err := s.deps.Accounts.Record(ctx, of.UserID, "sso.linked", nil, map[string]any{"id": of.Identity}); err != nil {
			return "", err
		}
	}
	if !d.isVerified { // the issuer chosen by the domain's owner has confirmed the email
		if err := s.deps.Accounts.Verify(ctx, of.UserID); err != nil {
			return "", err
		}
	}
	return s.flows.IssueCode(ctx, of, key)
}

// provision makes a person a member, with a new account or the account that they claim.
func (s *Service) provision(ctx context.Context, c Connection, who person, d decision) (userID int64, err error) {
	join := func(ctx context.Context, userID int64) error {
		ctx = authz.With(ctx, &authz.Caller{UserID: userID}) // the user is the actor
		return s.deps.Team.Enrol(ctx, c.TenantID, userID, c.RoleID)
	}
	if !d.claims {
		return s.deps.Accounts.CreateForLogin(ctx, who.name, who.email, join)
	}
	if err := s.deps.Accounts.Claim(ctx, d.userID); err != nil {
		return 0, err
	}
	// Claim does not remove the user from a tenant with other members or invoices.
	if m, err := s.store.membership(ctx, d.userID); err != nil || m.tenantID != uuid.Nil {
		return 0, errors.Join(err, errElsewhere)
	}
	return d.userID, join(ctx, d.userID)
}
