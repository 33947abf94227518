package account

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// FindOrCreateByVerifiedEmail returns the account of a person who has proved ownership of the
// email, and locks the user, in the transaction of ctx if there is one. If no account uses the
// email, it creates one with a first tenant and no password. The email must be normalized by
// mail.NormalizeAddress. For a platform admin it returns ErrNeverLinked: control of an identity
// provider must not give access to such an account.
//
// A person who registered an email without verifying it may not own the email, and may still know
// the password. If the email was not verified yet, FindOrCreateByVerifiedEmail therefore calls
// claim and also removes the password.
func (s *Service) FindOrCreateByVerifiedEmail(ctx context.Context, name, email string) (userID int64, isNew bool, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		userID, err = s.createByVerifiedEmail(ctx, name, email)
		isNew = err == nil
		if !errors.Is(err, errEmailTaken) {
			return err
		}
		user, err := s.lockByVerifiedEmail(ctx, email)
		if err != nil {
			return err
		}
		userID = user.ID
		switch {
		case user.IsPlatformAdmin:
			return ErrNeverLinked
		case user.verified:
			return nil
		}
		return s.claim(ctx, userID, false)
	})
	return userID, isNew, err
}

// createByVerifiedEmail creates an account with a verified email and no password. The user joins
// the tenant of the email's domain, or gets a new tenant. It returns errEmailTaken if an account
// uses the email.
func (s *Service) createByVerifiedEmail(ctx context.Context, name, email string) (int64, error) {
	joins := uuid.Nil
	if _, _, err := s.store.userOfEmail(ctx, email); errors.Is(err, errNoUser) && s.deps.Domains != nil {
		if joins, err = s.deps.Domains.LockFor(ctx, email); err != nil {
			return 0, err
		}
	}
	user, err := s.insertVerified(ctx, name, email)
	if err != nil {
		return 0, err
	}
	joined := false
	if joins != uuid.Nil {
		if joined, err = s.deps.Domains.AddNew(ctx, joins, user.ID); err != nil {
			return 0, err
		}
	}
	if !joined {
		if _, err := s.deps.Tenants.Create(ctx, user.ID, firstTenantName(Registration{Name: name})); err != nil {
			return 0, err
		}
	}
	return user.ID, s.welcome(ctx, user)
}

func (s *Service) insertVerified(ctx context.Context, name, email string) (user User, err error) {
	user = User{Name: name, Email: email, Locale: requestedLocale(ctx)}
	user.ID, err = s.store.insertUser(ctx, newUser{name: name, email: email, verified: true, locale: user.Locale}, s.deps.Clock.Now())
	return user, err
}

// claim gives an account to the person who has just proved ownership of its email, which was not
// verified before. It removes the password and calls transferToEmailOwner, which documents
// keepTenant. The caller has locked the user with lockByVerifiedEmail or lockForCode.
func (s *Service) claim(ctx context.Context, userID int64, keepTenant bool) error {
	now := s.deps.Clock.Now()
	if err := s.store.removePassword(ctx, userID, now); err != nil {
		return err
	}
	return s.transferToEmailOwner(ctx, userID, keepTenant, now)
}

// lockByVerifiedEmail locks the user whose email was just proved, with everything that claim
// changes. It returns errNoUser if no account uses the email.
func (s *Service) lockByVerifiedEmail(ctx context.Context, email string) (lockedUser, error) {
	id, verified, err := s.store.userOfEmail(ctx, email)
	if err != nil {
		return lockedUser{}, err
	}
	if !verified { // claim may remove the user from the tenant; a verified email stays verified
		if err := s.deps.Tenants.LockTenantOf(ctx, id); err != nil {
			return lockedUser{}, err
		}
	}
	return s.lockTarget(ctx, id)
}

// transferToEmailOwner gives an account with an unverified email to the person who has just proved
// ownership of the email. It ends everything that the person who registered the account may have
// left behind, so that they can neither use nor observe the account (rules:
// account#unproved-emails). The caller has locked the user with lockByVerifiedEmail or lockForCode.
// Unless keepTenant is set, the user leaves the tenant (see RemoveUnverifiedOwner).
func (s *Service) transferToEmailOwner(ctx context.Context, userID int64, keepTenant bool, now time.Time) error {
	if err := s.endAll(ctx, userID, now); err != nil {
		return err
	}
	if err := s.endLinks(ctx, userID); err != nil {
		return err
	}
	if err := s.store.deletePushSubscriptions(ctx, userID); err != nil {
		return err
	}
	if err := s.deps.Impersonations.EndForTarget(ctx, userID); err != nil {
		return err
	}
	if !keepTenant {
		if err := s.deps.Tenants.RemoveUnverifiedOwner(ctx, userID); err != nil {
			return err
		}
	}
	return s.store.verifyEmail(ctx, userID, now)
}

// Verify marks the email of a user as verified. The user has proved ownership while logged in, with
// a secret from a mail, so no credential of the account ends.
func (s *Service) Verify(ctx context.Context, userID int64) error {
	return s.store.verifyEmail(ctx, userID, s.deps.Clock.Now())
}

// SetLocaleIfUnset stores the language that the request of ctx asks for, if the user has not chosen one.
func (s *Service) SetLocaleIfUnset(ctx context.Context, userID int64) error {
	asked := requestedLocale(ctx)
	if asked == nil {
		return nil
	}
	return s.store.setLocaleIfUnset(ctx, userID, *asked)
}

// LogIn issues the credentials of grant to a user who was authenticated elsewhere, in the
// transaction of ctx if there is one. First it calls use under the user's lock. use consumes the
// evidence and completes the grant.
func (s *Service) LogIn(ctx context.Context, userID int64, grant Grant, use func(context.Context, *Grant) error) (user User, tokens Tokens, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		present, err := s.lockFor(ctx, userID, grant)
		if err != nil {
			return err
		}
		if err := use(ctx, &grant); err != nil {
			return err
		}
		user = present.User
		tokens, err = s.logIn(ctx, present, grant, s.deps.Clock.Now())
		return err
	})
	return user, tokens, err
}
