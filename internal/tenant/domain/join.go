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
	found, _, err := s.joinableBy(ctx, userID)
	if err != nil || found == uuid.Nil {
		return false, err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		joined = false
		if _, err := s.deps.Tenants.LockLive(ctx, found); err != nil {
			return err
		}
		if err := s.deps.Accounts.LockExisting(ctx, userID); err != nil {
			return err
		}
		tenantID, roleID, err := s.joinableBy(ctx, userID)
		if err != nil || tenantID != found {
			return err
		}
		joined, err = s.enrol(ctx, tenantID, userID, roleID)
		return err
	})
	if isTenantGone(err) {
		return false, nil
	}
	return joined, err
}

// joinableBy returns the tenant that a user can join, or Nil, and the ID of the new member's role.
func (s *Service) joinableBy(ctx context.Context, userID int64) (uuid.UUID, int64, error) {
	email, err := s.store.unplacedEmail(ctx, userID)
	if err != nil || email == "" {
		return uuid.Nil, 0, err
	}
	return s.store.joinable(ctx, OfEmail(email))
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
	found, roleID, err := s.joinableBy(ctx, userID)
	if err != nil || found != tenantID {
		return false, err
	}
	return s.enrol(ctx, tenantID, userID, roleID)
}

// enrol adds a user to a locked tenant, if a seat is free.
func (s *Service) enrol(ctx context.Context, tenantID uuid.UUID, userID, roleID int64) (bool, error) {
	seats, err := s.deps.Team.Seats(ctx, tenantID)
	if err != nil {
		return false, err
	}
	if left := seats.Available(); left != nil && *left < 1 {
		return false, nil
	}
	// The user is the actor of the change.
	ctx = authz.With(ctx, &authz.Caller{UserID: userID})
	return true, s.deps.Team.Enrol(ctx, tenantID, userID, roleID)
}
