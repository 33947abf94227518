package domain

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// Join adds a user without a tenant to the tenant that owns the domain of their verified email, if
// joining through the domain is on and a seat is free. It reports whether the user has joined.
//
// Invariant: the tenant is locked before the user, and everything that Join depends on is read
// again under the locks.
func (s *Service) Join(ctx context.Context, userID int64) (joined bool, err error) {
	found, err := s.joinableBy(ctx, userID)
	if err != nil || found.tenantID == uuid.Nil {
		return false, err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		joined = false
		if _, err := s.deps.Tenants.LockLive(ctx, found.tenantID); err != nil {
			return err
		}
		if err := s.deps.Accounts.LockExisting(ctx, userID); err != nil {
			return err
		}
		current, err := s.joinableBy(ctx, userID)
		if err != nil || current.tenantID != found.tenantID {
			return err
		}
		joined, err = s.enrol(ctx, userID, current)
		return err
	})
	if isTenantGone(err) {
		return false, nil
	}
	return joined, err
}

// place is a tenant that a user can join.
type place struct {
	tenantID uuid.UUID // Nil if the user cannot join a tenant
	roleID   int64     // role of the new member
	email    string    // verified email of the user
}

// joinableBy returns the tenant that a user can join.
func (s *Service) joinableBy(ctx context.Context, userID int64) (place, error) {
	email, err := s.store.unplacedEmail(ctx, userID)
	if err != nil || email == "" {
		return place{}, err
	}
	tenantID, roleID, err := s.store.joinable(ctx, OfEmail(email))
	return place{tenantID, roleID, email}, err
}

// LockFor locks the tenant that new users with a verified email join, in the transaction of ctx, and
// returns its ID. It returns Nil for other addresses.
func (s *Service) LockFor(ctx context.Context, email string) (uuid.UUID, error) {
	tenantID, _, err := s.store.joinable(ctx, OfEmail(email))
	if err != nil || tenantID == uuid.Nil {
		return uuid.Nil, err
	}
	_, err = s.deps.Tenants.LockLive(ctx, tenantID)
	return tenantID, err
}

// AddNew adds a new user to the tenant that LockFor returned. It reports whether the user has
// joined. The user does not join if the domain was changed before LockFor locked the tenant, or if
// no seat is free.
func (s *Service) AddNew(ctx context.Context, tenantID uuid.UUID, userID int64) (bool, error) {
	p, err := s.joinableBy(ctx, userID)
	if err != nil || p.tenantID != tenantID {
		return false, err
	}
	return s.enrol(ctx, userID, p)
}

// enrol adds a user to a locked tenant, if there is a seat for the user.
func (s *Service) enrol(ctx context.Context, userID int64, p place) (bool, error) {
	hasSeat, err := s.deps.Team.HasSeatFor(ctx, p.tenantID, p.email)
	if err != nil || !hasSeat {
		return false, err
	}
	// The user is the actor of the change.
	ctx = authz.With(ctx, &authz.Caller{UserID: userID})
	return true, s.deps.Team.Enrol(ctx, p.tenantID, userID, p.roleID)
}
