package account

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
)

// Proof is the password that a caller has shown to be theirs. It holds for as long as the
// password stays the same.
type Proof struct{ hash *string }

// VerifyPassword checks the password of a caller, before the transaction that needs it, because
// that takes long. A wrong or missing one is a validation error on current_password; a
// user without a password has none to show.
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

// Self is a user who changes their own account, as they are under the lock.
type Self struct {
	User
	Verified    bool // the email
	HasPassword bool
}

// RunInPerson calls do in a transaction that has locked the caller's user.
//
// Invariant: what do does follows from a login that lives. The credential of the request
// is read again under the lock, because it may have ended since it authenticated, and
// nothing may outlive what ends it.
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
	return Self{User: user.User, Verified: user.verified, HasPassword: user.passwordHash != nil}
}

// RunInPersonWithPassword is InPerson for what needs the password. One that was changed since it was
// checked is a wrong one.
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

// lockCaller locks the user of a caller, with those who impersonate them, and refuses a
// credential that has ended.
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

// ChangePassword gives a caller another password, ends every other login and link of
// theirs, and tells them by mail (rules: account#own-account).
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

// EndLogin ends one login of a caller, with all that descends from it. It reports whether
// there was one.
func (s *Service) EndLogin(ctx context.Context, caller *authz.Caller, family uuid.UUID) (ended bool, err error) {
	err = s.RunInPerson(ctx, caller, func(ctx context.Context, self Self) error {
		if ended, err = s.store.revokeLogin(ctx, self.ID, family, s.deps.Clock.Now()); err != nil || !ended {
			return err
		}
		return s.endCodes(ctx, self.ID)
	})
	return ended, err
}

// EndOtherLogins ends every login of a caller but the one of the request.
func (s *Service) EndOtherLogins(ctx context.Context, caller *authz.Caller) error {
	return s.RunInPerson(ctx, caller, func(ctx context.Context, _ Self) error {
		return s.endOtherCredentials(ctx, caller, s.deps.Clock.Now())
	})
}

// EndAll ends every credential, code and link of a user, whom the transaction of ctx has
// locked with InPersonWith, and every impersonation of theirs.
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

// Run stores when credentials were used until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.uses.Run(ctx) }

// LockSelf locks a user until the transaction of ctx ends, and returns them.
func (s *Service) LockSelf(ctx context.Context, userID int64) (Self, error) {
	user, err := s.lock(ctx, userID)
	return newSelf(user), err
}
