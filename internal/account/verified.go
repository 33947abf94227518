package account

import (
	"context"
	"errors"
)

// AdmitVerified returns the account of somebody who has proved that an email is
// theirs, in the transaction of ctx if there is one. Where the email has no account,
// it makes one without a password, with its first tenant. email is in the form of
// mail.NormalizeAddress.
//
// Whoever registered the email without proving it may have been somebody else who
// waited for its owner. So where the email was not verified yet, the account's
// password and all its logins end.
func (s *Service) AdmitVerified(ctx context.Context, name, email string) (userID int64, isNew bool, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		userID, err = s.store.insertUser(ctx, newUser{name: name, email: email, verified: true}, now)
		isNew = err == nil
		if isNew {
			_, err := s.deps.Tenants.Create(ctx, userID, firstTenantName(Registration{Name: name}))
			return err
		}
		if !errors.Is(err, errEmailTaken) {
			return err
		}
		var verified bool
		if userID, verified, err = s.store.lockEmail(ctx, email); err != nil || verified {
			return err
		}
		if err := s.store.removePassword(ctx, userID, now); err != nil {
			return err
		}
		return s.revokeAll(ctx, userID, now)
	})
	return userID, isNew, err
}

// LogIn issues what grant asks for to a user who has been authenticated elsewhere,
// in the transaction of ctx if there is one.
func (s *Service) LogIn(ctx context.Context, userID int64, grant Grant) (user User, tokens Tokens, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if user, err = s.store.user(ctx, userID); err != nil {
			return err
		}
		tokens, err = s.issue(ctx, userID, grant, s.deps.Clock.Now())
		return err
	})
	return user, tokens, err
}
