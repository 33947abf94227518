package account

import (
	"context"
	"errors"
	"time"
)

// FindOrCreateVerified returns the account of somebody who has proved that an email is
// theirs, in the transaction of ctx if there is one, with the user locked. Where the
// email has no account, it makes one without a password, with its first tenant. email is
// in the form of mail.NormalizeAddress. It fails with ErrNeverLinked for a platform
// admin's account: whoever controls an identity provider must not get it.
//
// Whoever registered the email without proving it may have been somebody else who
// waited for its owner. So where the email was not verified yet, the account's password
// goes with everything else that claim ends.
func (s *Service) FindOrCreateVerified(ctx context.Context, name, email string) (userID int64, isNew bool, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		userID, err = s.store.insertUser(ctx, newUser{name: name, email: email, verified: true, locale: requestedLocale(ctx)}, now)
		isNew = err == nil
		if isNew {
			if _, err := s.deps.Tenants.Create(ctx, userID, firstTenantName(Registration{Name: name})); err != nil {
				return err
			}
			return s.welcome(ctx, email, name)
		}
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
		if err := s.store.removePassword(ctx, userID, now); err != nil {
			return err
		}
		return s.claim(ctx, userID, false, now)
	})
	return userID, isNew, err
}

// lockByVerifiedEmail locks the user whose email somebody has proved to be theirs, with all that
// claim changes; errNoUser where the email has no account.
func (s *Service) lockByVerifiedEmail(ctx context.Context, email string) (lockedUser, error) {
	id, verified, err := s.store.userOfEmail(ctx, email)
	if err != nil {
		return lockedUser{}, err
	}
	if !verified { // its tenant may have to be left; a verified email stays verified
		if err := s.deps.Tenants.LockTenantOf(ctx, id); err != nil {
			return lockedUser{}, err
		}
	}
	return s.lockTarget(ctx, id)
}

// claim gives an account whose email was never verified to whoever has just proved that
// the email is theirs: it ends what the one who registered it has left, so that they
// neither act as the account nor see what it does (rules: account#unproved-emails). The
// user is locked by lockProved. The tenant is left too, unless keepTenant.
func (s *Service) claim(ctx context.Context, userID int64, keepTenant bool, now time.Time) error {
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

// Verify records that a user's email is theirs, because the user, logged in, has shown a
// secret that was mailed there. Nothing of the account ends: it has one owner.
func (s *Service) Verify(ctx context.Context, userID int64) error {
	return s.store.verifyEmail(ctx, userID, s.deps.Clock.Now())
}

// KeepLocale keeps the language that the request of ctx asks for, for a user who has
// none yet.
func (s *Service) KeepLocale(ctx context.Context, userID int64) error {
	asked := requestedLocale(ctx)
	if asked == nil {
		return nil
	}
	return s.store.keepLocale(ctx, userID, *asked)
}

// LogIn issues what grant asks for to a user who has been authenticated elsewhere, in
// the transaction of ctx if there is one. use is called first, under the user's lock, to
// use up what authenticated them and to complete the grant.
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
		if tokens, err = s.issue(ctx, userID, grant, s.deps.Clock.Now()); err != nil {
			return err
		}
		return s.Record(ctx, userID, "login.succeeded", nil, map[string]any{"method": grant.Provider})
	})
	return user, tokens, err
}
