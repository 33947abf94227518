package account

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// OwnerProof is evidence that a request comes from the owner of an account: a login of the
// account, or its password.
type OwnerProof struct {
	Family uuid.UUID // of the login; Nil for a password
	token  uuid.UUID
	hash   *string
}

// VerifyOwner checks that the request of ctx comes from the owner of an account. Call it before the
// transaction that needs the proof. A wrong password counts as a failed login. If the caller is not
// logged in to the account, a missing or wrong password is a validation error on current_password.
func (s *Service) VerifyOwner(ctx context.Context, userID int64, password string) (OwnerProof, error) {
	if caller := authz.FromContext(ctx); caller != nil && caller.UserID == userID && caller.Impersonator == nil {
		return OwnerProof{Family: caller.Family, token: caller.TokenID}, nil
	}
	if password == "" {
		return OwnerProof{}, errOwner
	}
	user, err := s.store.user(ctx, userID)
	if err != nil {
		return OwnerProof{}, err
	}
	guess, err := s.countGuess(ctx, user.Email, errTooManyGuesses, func(ctx context.Context) error { return s.recordBlocked(ctx, user.Email) })
	if err != nil {
		return OwnerProof{}, err
	}
	ok := false
	hash, err := s.store.passwordOf(ctx, userID)
	if err == nil {
		ok, err = s.deps.Passwords.Matches(ctx, password, hash)
	}
	if err == nil && !ok {
		return OwnerProof{}, cmp.Or[error](guess.recordWrong(ctx), errOwner)
	}
	if err := errors.Join(guess.recordRight(ctx), err); err != nil {
		return OwnerProof{}, err
	}
	return OwnerProof{hash: hash}, nil
}

// LockOwner locks a user. It returns an error if the evidence has become invalid since VerifyOwner.
func (s *Service) LockOwner(ctx context.Context, userID int64, owner OwnerProof) (Self, error) {
	user, err := s.lock(ctx, userID)
	if err != nil {
		return Self{}, err
	}
	valid := owner.hash != nil && user.passwordHash != nil && *owner.hash == *user.passwordHash
	if owner.token != uuid.Nil {
		if valid, err = s.store.isCredentialActive(ctx, owner.token, userID); err != nil {
			return Self{}, err
		}
	}
	if !valid {
		return Self{}, errOwner
	}
	return newSelf(user), nil
}

// RevokeFormerEmail ends everything that belongs to the former email of a user: links, one-time
// codes, all logins except the given family, and provider identities whose email is not the given
// one. The caller has locked the user.
func (s *Service) RevokeFormerEmail(ctx context.Context, userID int64, email string, except uuid.UUID) error {
	if err := s.endLinks(ctx, userID); err != nil {
		return err
	}
	if err := s.store.revokeOtherCredentials(ctx, userID, except, s.deps.Clock.Now()); err != nil {
		return err
	}
	removed, err := s.store.deleteIdentitiesOfOtherEmails(ctx, userID, email)
	if err != nil {
		return err
	}
	if err := s.recordRemoved(ctx, userID, removed); err != nil {
		return err
	}
	return s.endCodes(ctx, userID)
}

// removeIdentities removes all provider identities of a user. The caller has locked the user.
func (s *Service) removeIdentities(ctx context.Context, userID int64) error {
	removed, err := s.store.deleteIdentities(ctx, userID)
	if err != nil {
		return err
	}
	return s.recordRemoved(ctx, userID, removed)
}

func (s *Service) recordRemoved(ctx context.Context, userID int64, removed []removedIdentity) error {
	for _, identity := range removed {
		err := s.Record(ctx, userID, "identity.removed", map[string]any{"id": identity.id, "provider": identity.provider}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// EndLoginsThrough ends the logins of a user through an identity, and the user's one-time codes.
// The caller has locked the user.
func (s *Service) EndLoginsThrough(ctx context.Context, userID int64, identity uuid.UUID) error {
	if err := s.store.revokeLoginsThrough(ctx, userID, identity, s.deps.Clock.Now()); err != nil {
		return err
	}
	return s.endCodes(ctx, userID)
}

// recentLogin is the maximum age of a login that can confirm a request if the account does not have
// a password.
const recentLogin = 10 * time.Minute

// RunInPersonConfirmed is like RunInPersonWithPassword, but an account without a password needs a
// recent login. A refresh does not make a login recent.
func (s *Service) RunInPersonConfirmed(ctx context.Context, caller *authz.Caller, proof Proof, do func(ctx context.Context, self Self) error) error {
	return s.RunInPersonWithPassword(ctx, caller, proof, func(ctx context.Context, self Self) error {
		if !self.HasPassword {
			began, err := s.store.loginStart(ctx, caller.TokenID)
			if err != nil {
				return err
			}
			if s.deps.Clock.Now().Sub(began) >= recentLogin {
				return errRecentLogin
			}
		}
		return do(ctx, self)
	})
}
