package account

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
)

// Proof is evidence that the caller knows the password of their account. It is valid until the
// password changes.
type Proof struct{ hash *string }

// VerifyPassword checks the password of the caller. Call it before the transaction that needs it,
// because it is slow. A wrong or missing password is a validation error on current_password. A user
// without a password does not need the field.
func (s *Service) VerifyPassword(ctx context.Context, caller *authz.Caller, password string) (Proof, error) {
	hash, err := s.store.passwordOf(ctx, caller.UserID)
	if err != nil || hash == nil {
		return Proof{}, err
	}
	if password == "" {
		return Proof{}, errCurrentPassword
	}
	ok, err := s.deps.Passwords.Matches(ctx, password, hash)
	if err == nil && !ok {
		err = errCurrentPassword
	}
	return Proof{hash: hash}, err
}

// Self is a user who changes their own account, read under the lock.
type Self struct {
	User
	Verified    bool // the email is verified
	HasPassword bool
	HasFactor   bool // a second factor
}

// RunInPerson calls do in a transaction that has locked the caller's user.
//
// Invariant: do only runs for an active login. The caller's credential is read again under the
// lock, because it may have ended since the request was authenticated, and no change may follow
// from an ended credential.
func (s *Service) RunInPerson(ctx context.Context, caller *authz.Caller, do func(ctx context.Context, self Self) error) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		present, err := s.lockCaller(ctx, caller)
		if err != nil {
			return err
		}
		return do(ctx, newSelf(present))
	})
}

func newSelf(user lockedUser) Self {
	return Self{User: user.User, Verified: user.verified, HasPassword: user.passwordHash != nil, HasFactor: user.hasFactor}
}

// RunInPersonWithPassword is like RunInPerson for changes that need the password. It returns
// errCurrentPassword if the password has changed since it was checked.
func (s *Service) RunInPersonWithPassword(ctx context.Context, caller *authz.Caller, proof Proof, do func(ctx context.Context, self Self) error) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		present, err := s.lockCaller(ctx, caller)
		if err != nil {
			return err
		}
		if (present.passwordHash == nil) != (proof.hash == nil) || proof.hash != nil && *present.passwordHash != *proof.hash {
			return errCurrentPassword
		}
		return do(ctx, newSelf(present))
	})
}

// lockCaller locks the caller's user and the users who impersonate them. It returns an error if the
// caller's credential has ended.
func (s *Service) lockCaller(ctx context.Context, caller *authz.Caller) (lockedUser, error) {
	user, err := s.lockTarget(ctx, caller.UserID)
	if err != nil {
		return lockedUser{}, errUnauthenticated.Wrap(err)
	}
	lives, err := s.store.isCredentialActive(ctx, caller.TokenID, caller.UserID)
	if err == nil && !lives {
		err = errUnauthenticated
	}
	return user, err
}

// ChangePassword sets the caller's password, ends their other logins and links, and notifies them
// by mail (rules: account#own-account).
func (s *Service) ChangePassword(ctx context.Context, caller *authz.Caller, current, password string) error {
	proof, err := s.VerifyPassword(ctx, caller, current)
	hash, hashErr := s.deps.Passwords.HashNew(ctx, password)
	if err := fault.Join(err, hashErr); err != nil {
		return err
	}
	return s.RunInPersonWithPassword(ctx, caller, proof, func(ctx context.Context, self Self) error {
		now := s.deps.Clock.Now()
		if err := s.store.updatePassword(ctx, self.ID, hash, now); err != nil {
			return err
		}
		if err := s.endLinks(ctx, self.ID); err != nil {
			return err
		}
		if err := s.endOtherCredentials(ctx, caller, now); err != nil {
			return err
		}
		if err := s.Record(ctx, self.ID, "password.changed", nil, nil); err != nil {
			return err
		}
		return s.mailPasswordChanged(ctx, self.User)
	})
}

// EndLogin ends one login of the caller. It reports whether there was such a login.
func (s *Service) EndLogin(ctx context.Context, caller *authz.Caller, family uuid.UUID) (ended bool, err error) {
	err = s.RunInPerson(ctx, caller, func(ctx context.Context, self Self) error {
		if ended, err = s.store.revokeLogin(ctx, self.ID, family, s.deps.Clock.Now()); err != nil || !ended {
			return err
		}
		return s.endCodes(ctx, self.ID)
	})
	return ended, err
}

// EndOtherLogins ends all logins of the caller except the current one.
func (s *Service) EndOtherLogins(ctx context.Context, caller *authz.Caller) error {
	return s.RunInPerson(ctx, caller, func(ctx context.Context, _ Self) error {
		return s.endOtherCredentials(ctx, caller, s.deps.Clock.Now())
	})
}

// EndAll ends all credentials, codes and links of a user, and all impersonations of the user. The
// caller has locked the user in the transaction of ctx with RunInPerson or RunInPersonWithPassword.
func (s *Service) EndAll(ctx context.Context, userID int64) error {
	if err := s.endLinks(ctx, userID); err != nil {
		return err
	}
	if err := s.endAll(ctx, userID, s.deps.Clock.Now()); err != nil {
		return err
	}
	return s.deps.Impersonations.EndForTarget(ctx, userID)
}

// LocaleFor returns the language of mail to a user.
func (s *Service) LocaleFor(ctx context.Context, user User, otherwise string) (string, error) {
	return s.deps.Tenants.LocaleOf(ctx, user.ID, user.Locale, otherwise)
}

// Run stores the last-used times of credentials until ctx is done.
func (s *Service) Run(ctx context.Context) error { return s.uses.Run(ctx) }

// HasPassword reports whether a user has a password.
func (s *Service) HasPassword(ctx context.Context, userID int64) (bool, error) {
	hash, err := s.store.passwordOf(ctx, userID)
	return hash != nil, err
}

// LockSelf locks a user until the transaction of ctx ends, and returns the user.
func (s *Service) LockSelf(ctx context.Context, userID int64) (Self, error) {
	user, err := s.lock(ctx, userID)
	return newSelf(user), err
}
