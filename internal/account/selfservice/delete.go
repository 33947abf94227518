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

// Memberships are the tenants that users are in.
type Memberships interface {
	// CloseOwnedTenant deletes the tenant of a user if it is theirs alone, and returns the one that
	// they are in, which is locked, and whether they owned it; Nil for none.
	CloseOwnedTenant(ctx context.Context, userID int64) (id uuid.UUID, owned bool, err error)
	// Deleted takes a user out of a tenant that is not theirs.
	Deleted(ctx context.Context, tenantID uuid.UUID, userID int64) error
}

// Avatars are the pictures of users.
type Avatars interface {
	Clear(ctx context.Context, userID int64) error
}

// Audit is the trail of changes.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// errJoined means that a user has joined a tenant since their place was looked up.
var errJoined = errors.New("the user has joined a tenant")

// joinTries is how often a deletion is tried again for a user who joins a tenant meanwhile.
const joinTries = 3

// Delete deletes a caller's account: everything that authenticates them and all that is
// kept about them, but for what the law asks for (rules: account#deletion). OWNS_TENANT
// refuses the owner of a tenant that has other members or a subscription.
//
// Invariant: the tenant is locked before the user. Whoever gives the user a place in a
// tenant locks the user first and refuses one who is deleted, so that nobody who is gone
// is a member.
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
		id, owned, err := s.deps.Memberships.CloseOwnedTenant(ctx, caller.UserID)
		if err != nil {
			return err
		}
		if id != uuid.Nil && !owned {
			if err := s.deps.Memberships.Deleted(ctx, id, caller.UserID); err != nil {
				return err
			}
		}
		return s.deps.Accounts.RunInPersonWithPassword(ctx, caller, proof, func(ctx context.Context, self account.Self) error {
			return s.erase(ctx, self)
		})
	})
}

// erase empties what is kept of a user, who is locked.
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
	if err := s.deps.Avatars.Clear(ctx, self.ID); err != nil {
		return err
	}
	if err := s.store.erase(ctx, self.User, s.deps.Clock.Now()); err != nil {
		return err
	}
	return s.deps.Audit.Record(ctx, audit.Entry{Action: "account.deleted", Resource: "user", ResourceID: strconv.FormatInt(self.ID, 10)})
}
