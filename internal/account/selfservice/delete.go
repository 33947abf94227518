package selfservice

import (
	"context"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
)

// Memberships manages the memberships of users in tenants.
type Memberships interface {
	// LockTenantOf locks the tenant of a user, if there is one, in the transaction of ctx.
	LockTenantOf(ctx context.Context, userID int64) error
	// CloseOwnedTenant deletes the user's tenant if the user is its owner and only member. It
	// returns the locked tenant of the user, or Nil for a user without a tenant, and whether the
	// user owned it.
	CloseOwnedTenant(ctx context.Context, userID int64) (id uuid.UUID, owned bool, err error)
	// RemoveDeletedUser removes a user from a tenant that they do not own.
	RemoveDeletedUser(ctx context.Context, tenantID uuid.UUID, userID int64) error
	// EmailChanged is called when the email of a user changes, in the transaction of the change.
	EmailChanged(ctx context.Context, userID int64) error
}

// Avatars manages the avatars of users.
type Avatars interface {
	Clear(ctx context.Context, userID int64) error
}

// Audit records changes in the audit log.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// errJoined means that the user has joined a tenant since their membership was read.
var errJoined = errors.New("the user has joined a tenant")

// joinTries is the number of attempts if the user joins a tenant concurrently.
const joinTries = 3

// Delete deletes the caller's account: all credentials and all personal data, except data that must
// be kept by law (rules: account#deletion). It returns OWNS_TENANT for the owner of a tenant that
// has other members or a subscription.
//
// Invariant: a deleted user is never a member. Delete locks the tenant before the user. Operations
// that add a user to a tenant lock the user first and reject a deleted user.
func (s *Service) Delete(ctx context.Context, caller *authz.Caller, password string) error {
	proof, err := s.deps.Accounts.VerifyPassword(ctx, caller, password)
	if err != nil {
		return err
	}
	for range joinTries {
		if err = s.delete(ctx, caller, proof); !errors.Is(err, errJoined) {
			return err
		}
	}
	return err
}

func (s *Service) delete(ctx context.Context, caller *authz.Caller, proof account.Proof) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.deps.Memberships.LockTenantOf(ctx, caller.UserID); err != nil {
			return err
		}
		// The login is checked first, because a login through single sign-on ends with the membership.
		return s.deps.Accounts.RunInPersonWithPassword(ctx, caller, proof, func(ctx context.Context, self account.Self) error {
			if err := s.leave(ctx, self.ID); err != nil {
				return err
			}
			return s.erase(ctx, self)
		})
	})
}

// leave removes a user from their tenant, or deletes the tenant if the user owns it.
func (s *Service) leave(ctx context.Context, userID int64) error {
	id, owned, err := s.deps.Memberships.CloseOwnedTenant(ctx, userID)
	if err != nil || id == uuid.Nil || owned {
		return err
	}
	return s.deps.Memberships.RemoveDeletedUser(ctx, id, userID)
}

// erase deletes the personal data of a user. The caller has locked the user.
func (s *Service) erase(ctx context.Context, self account.Self) error {
	placed, err := s.store.isInTenant(ctx, self.ID)
	if err == nil && placed {
		err = errJoined
	}
	if err != nil {
		return err
	}
	if err := s.deps.Accounts.EndAll(ctx, self.ID); err != nil {
		return err
	}
	if err := s.deps.Factors.Erase(ctx, self.ID); err != nil {
		return err
	}
	if err := s.deps.Avatars.Clear(ctx, self.ID); err != nil {
		return err
	}
	if err := s.store.erase(ctx, self.User, s.deps.Clock.Now()); err != nil {
		return err
	}
	return s.deps.Audit.Record(ctx, audit.Entry{Action: "account.deleted", Resource: "user", ResourceID: strconv.FormatInt(self.ID, 10)})
}
