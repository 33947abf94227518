package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Code that issues or ends credentials takes locks in one order (rules: account#lock-order): first
// the tenant, if needed, then users by ID, and only then the rows of users: credentials, one-time
// codes, reset tokens and push subscriptions.
//
// Invariant: a transaction that inserts, changes or ends a credential holds the lock of its user.
// Otherwise, at READ COMMITTED, an UPDATE that ends the credentials of a user would miss a
// credential that is inserted while the UPDATE waits for another row lock, and that credential
// would survive. A login reads its evidence (password, code or refresh token) again under the lock,
// because the evidence may have become invalid.

// lockedUser is a user, read under the lock.
type lockedUser struct {
	User
	passwordHash *string    // nil for a user without a password
	verified     bool       // the user has proved ownership of the email
	hasFactor    bool       // the user has a second factor
	permissions  sqldb.JSON // of a platform admin; nil means all
}

// lock locks a user together with others and returns the user. It returns errNoUser if the user
// does not exist. It skips others that do not exist.
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

// lockTarget is like lock, but also locks the users who impersonate the user, because ending an
// impersonation changes their credentials. An impersonation that starts later waits for the user's
// lock.
func (s *Service) lockTarget(ctx context.Context, id int64) (lockedUser, error) {
	impersonators, err := s.deps.Impersonations.ImpersonatorsOf(ctx, id)
	if err != nil {
		return lockedUser{}, err
	}
	return s.lock(ctx, id, impersonators...)
}

// lockFor is like lock, but also locks the owner of the session that the grant replaces, who may be
// a different user.
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

// replacedOwner returns the owner of the session that the grant replaces. It returns
// errNoCredential if the session does not exist.
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

// endReplacedSession ends the session that the grant replaces, and an impersonation through it. The
// caller has locked the owner of the session.
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

// Lock locks a user until the transaction of ctx ends. Callers use it before they issue credentials
// or codes for a login.
func (s *Service) Lock(ctx context.Context, userID int64) error {
	_, err := s.lock(ctx, userID)
	return err
}

// LockExisting is like Lock, for callers that add a user to a tenant. It returns an error (401) if
// the user has deleted the account, and prevents the deletion until the transaction ends.
func (s *Service) LockExisting(ctx context.Context, userID int64) error {
	_, err := s.lock(ctx, userID)
	if errors.Is(err, errNoUser) {
		err = errUnauthenticated.Wrap(err)
	}
	return err
}

// endAll ends all credentials and one-time codes of a user, and the impersonations that depend on
// them, in the transaction of ctx. The caller has locked the user.
func (s *Service) endAll(ctx context.Context, userID int64, now time.Time) error {
	if err := s.store.revokeAll(ctx, userID, now); err != nil {
		return err
	}
	return s.endCodes(ctx, userID)
}

// endCodes deletes the one-time codes and login challenges of a user, and ends the impersonations
// that depend on ended credentials of the user. The caller has locked the user.
func (s *Service) endCodes(ctx context.Context, userID int64) error {
	if err := s.store.deleteCodes(ctx, userID); err != nil {
		return err
	}
	return s.deps.Impersonations.EndOrphaned(ctx, userID)
}

// endOtherCredentials ends all logins of a user except the caller's, and all one-time codes. The
// caller of the function has locked the user.
func (s *Service) endOtherCredentials(ctx context.Context, caller *authz.Caller, now time.Time) error {
	if err := s.store.revokeOtherCredentials(ctx, caller.UserID, caller.Family, now); err != nil {
		return err
	}
	return s.endCodes(ctx, caller.UserID)
}

// endLinks invalidates the links mailed to a user for a password reset or a change of email. The
// caller has locked the user.
func (s *Service) endLinks(ctx context.Context, userID int64) error {
	if err := s.store.deleteReset(ctx, userID); err != nil {
		return err
	}
	return s.store.deleteVerifications(ctx, userID)
}

// replacePassword sets the password and ends everything issued under the old one: credentials,
// one-time codes, and the links for a password reset or a change of email. The caller has locked
// the user.
func (s *Service) replacePassword(ctx context.Context, userID int64, hash string, now time.Time) error {
	if err := s.store.updatePassword(ctx, userID, hash, now); err != nil {
		return err
	}
	if err := s.endLinks(ctx, userID); err != nil {
		return err
	}
	return s.endAll(ctx, userID, now)
}

// EndTenantAccess ends everything that depends on a user's membership: impersonations of the user,
// one-time codes, and logins through the tenant's single sign-on. The user's other logins stay
// valid. Call it in a transaction that has locked the tenant, before deleting the membership.
func (s *Service) EndTenantAccess(ctx context.Context, userID int64) error {
	if _, err := s.lockTarget(ctx, userID); err != nil {
		return err
	}
	if err := s.deps.Impersonations.EndForTarget(ctx, userID); err != nil {
		return err
	}
	if err := s.store.endConnectionOfUser(ctx, userID, s.deps.Clock.Now()); err != nil {
		return err
	}
	return s.store.deleteCodes(ctx, userID)
}
