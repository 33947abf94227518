package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// What issues a credential and what ends credentials lock in one order (rules:
// account#lock-order): a tenant if it is needed, then users by their ids, and only then
// what belongs to users: credentials, one-time codes, reset tokens, push subscriptions.
//
// Invariant: whoever inserts, changes or ends a credential holds the lock of its user.
// Without it, at READ COMMITTED, an UPDATE that ends credentials does not see one that is
// inserted while it waits for another's row, and that one would live on. What a login
// was judged by (its password, its code, its refresh token) is read again under the
// lock, because it may have ended before.

// lockedUser is a user as it is under the lock.
type lockedUser struct {
	User
	passwordHash *string    // nil for a user without a password
	verified     bool       // the email is known to be the user's
	permissions  sqldb.JSON // of a platform admin; nil is all
}

// lock locks a user together with others, and returns the user; errNoUser where there is
// no such user. Others that are gone are left out.
func (s *Service) lock(ctx context.Context, id int64, others ...int64) (user lockedUser, err error) {
	ids := append([]int64{id}, others...)
	slices.Sort(ids)
	for _, each := range slices.Compact(ids) {
		u, err := s.store.lockUser(ctx, each)
		switch {
		case each == id && err != nil:
			return lockedUser{}, err
		case each == id:
			user = u
		case err != nil && !errors.Is(err, errNoUser):
			return lockedUser{}, err
		}
	}
	return user, nil
}

// lockTarget is lock with those who impersonate the user: ending that changes their
// credentials. Somebody who begins meanwhile waits for the user's lock.
func (s *Service) lockTarget(ctx context.Context, id int64) (lockedUser, error) {
	impersonators, err := s.deps.Impersonations.ImpersonatorsOf(ctx, id)
	if err != nil {
		return lockedUser{}, err
	}
	return s.lock(ctx, id, impersonators...)
}

// lockFor is lock with the owner of the session that the grant replaces, who may be
// somebody else.
func (s *Service) lockFor(ctx context.Context, id int64, grant Grant) (lockedUser, error) {
	owner, err := s.replacedOwner(ctx, grant)
	switch {
	case errors.Is(err, errNoCredential):
		return s.lock(ctx, id)
	case err != nil:
		return lockedUser{}, err
	}
	return s.lock(ctx, id, owner)
}

// replacedOwner returns whose session the grant replaces; errNoCredential for nobody's.
func (s *Service) replacedOwner(ctx context.Context, grant Grant) (int64, error) {
	if !grant.Session || grant.Replaces == "" {
		return 0, errNoCredential
	}
	return s.store.ownerOf(ctx, kindSession, grant.Replaces)
}

// lockReplaced locks the owner of the session that the grant replaces, if there is one.
func (s *Service) lockReplaced(ctx context.Context, grant Grant) error {
	owner, err := s.replacedOwner(ctx, grant)
	if err == nil {
		_, err = s.lock(ctx, owner)
	}
	if errors.Is(err, errNoCredential) || errors.Is(err, errNoUser) {
		return nil
	}
	return err
}

// endReplacedSession ends the session that the grant replaces, and its impersonation. Its owner
// is locked.
func (s *Service) endReplacedSession(ctx context.Context, grant Grant, now time.Time) error {
	owner, err := s.replacedOwner(ctx, grant)
	if errors.Is(err, errNoCredential) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.store.revokeSession(ctx, grant.Replaces, now); err != nil {
		return err
	}
	return s.deps.Impersonations.EndOrphaned(ctx, owner)
}

// Lock locks a user until the transaction of ctx ends, for whoever issues something that
// a login follows from.
func (s *Service) Lock(ctx context.Context, userID int64) error {
	_, err := s.lock(ctx, userID)
	return err
}

// LockExisting is Lock for whoever gives a user a place in a tenant. It refuses a user who
// has deleted their account (401), and keeps them from it until the transaction ends.
func (s *Service) LockExisting(ctx context.Context, userID int64) error {
	_, err := s.lock(ctx, userID)
	if errors.Is(err, errNoUser) {
		err = errUnauthenticated.Wrap(err)
	}
	return err
}

// endAll ends every credential and one-time code of a user, and the impersonations that
// depend on them, in the transaction of ctx. The user is locked.
func (s *Service) endAll(ctx context.Context, userID int64, now time.Time) error {
	if err := s.store.revokeAll(ctx, userID, now); err != nil {
		return err
	}
	return s.endCodes(ctx, userID)
}

// endCodes ends the one-time codes of a user, and the impersonations that depend on
// credentials which have ended. The user is locked.
func (s *Service) endCodes(ctx context.Context, userID int64) error {
	if err := s.store.deleteCodes(ctx, userID); err != nil {
		return err
	}
	return s.deps.Impersonations.EndOrphaned(ctx, userID)
}

// endOtherCredentials ends every login of a user but the one that the caller used, and every one-time
// code. The user is locked.
func (s *Service) endOtherCredentials(ctx context.Context, caller *authz.Caller, now time.Time) error {
	if err := s.store.revokeOtherCredentials(ctx, caller.UserID, caller.Family, now); err != nil {
		return err
	}
	return s.endCodes(ctx, caller.UserID)
}

// endLinks ends the links that were mailed to a user: for a new password, and for a change
// of their email. The user is locked.
func (s *Service) endLinks(ctx context.Context, userID int64) error {
	if err := s.store.deleteReset(ctx, userID); err != nil {
		return err
	}
	return s.store.deleteVerifications(ctx, userID)
}

// replacePassword ends everything that was issued while another password held: with the
// credentials the links for resetting it and for a change of the email. The user is locked.
func (s *Service) replacePassword(ctx context.Context, userID int64, hash string, now time.Time) error {
	if err := s.store.updatePassword(ctx, userID, hash, now); err != nil {
		return err
	}
	if err := s.endLinks(ctx, userID); err != nil {
		return err
	}
	return s.endAll(ctx, userID, now)
}

// EndTenantAccess ends what depended on the place of a user in a tenant: impersonations of the user,
// and one-time codes. It is called before the membership is deleted, in the transaction
// of ctx, which holds the tenant's lock. The user's logins live on.
func (s *Service) EndTenantAccess(ctx context.Context, userID int64) error {
	if _, err := s.lockTarget(ctx, userID); err != nil {
		return err
	}
	if err := s.deps.Impersonations.EndForTarget(ctx, userID); err != nil {
		return err
	}
	return s.store.deleteCodes(ctx, userID)
}
