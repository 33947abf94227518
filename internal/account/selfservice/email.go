package selfservice

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// linkLifetime is how long a link that proves an email works.
const linkLifetime = 24 * time.Hour

// ChangeEmail begins the change of a caller's email: a link goes to the new address, if it
// is free, and a notice to the present one. The caller cannot tell whether it is free. Of
// several changes the newest counts.
func (s *Service) ChangeEmail(ctx context.Context, caller *authz.Caller, email, password string) error {
	address, err := mail.NormalizeAddress(email)
	proof, proofErr := s.deps.Accounts.VerifyPassword(ctx, caller, password)
	if err := fault.Join(err, proofErr); err != nil {
		return err
	}
	return s.deps.Accounts.RunInPersonWithPassword(ctx, caller, proof, func(ctx context.Context, self account.Self) error {
		if err := s.store.deleteOtherVerifications(ctx, self.ID, self.Email); err != nil {
			return err
		}
		locale, err := s.deps.Accounts.LocaleFor(ctx, self.User, i18n.Locale(ctx))
		if err != nil {
			return err
		}
		taken, err := s.store.isEmailTaken(ctx, address)
		if err != nil {
			return err
		}
		if !taken {
			if err := s.mailLink(ctx, self.User, address, locale); err != nil {
				return err
			}
		}
		return s.deps.Notices.EmailChange(ctx, locale, self.Email, self.Name)
	})
}

// AskVerification mails a caller a link that proves their present email. It reports
// whether the email needs it.
func (s *Service) AskVerification(ctx context.Context, caller *authz.Caller) (needed bool, err error) {
	err = s.deps.Accounts.RunInPerson(ctx, caller, func(ctx context.Context, self account.Self) error {
		if needed = !self.Verified; !needed {
			return nil
		}
		locale, err := s.deps.Accounts.LocaleFor(ctx, self.User, i18n.Locale(ctx))
		if err != nil {
			return err
		}
		return s.mailLink(ctx, self.User, self.Email, locale)
	})
	return needed, err
}

// mailLink mails a link that proves an address. Anybody can have mail sent to any address
// this way, so that there is at most one a minute for each; the answer stays the same.
func (s *Service) mailLink(ctx context.Context, user account.User, address, locale string) error {
	if !s.deps.Limiter.Allow(ctx, limit.AccountMail, address).Allowed {
		return nil
	}
	token := account.NewSecret()
	now := s.deps.Clock.Now()
	if err := s.store.putVerification(ctx, user.ID, address, account.HashSecret(token), now); err != nil {
		return err
	}
	return s.deps.Notices.VerifyEmail(ctx, locale, address, user.Name, user.Email, token)
}

// VerifyEmail uses a link: the user's email is proved to be theirs, and becomes the one
// that the link was mailed to. Unknown, used and expired tokens get the same refusal, as
// does one for an address that somebody else has registered meanwhile.
//
// A link of an email change also needs a login of the account or its password (422 on
// current_password). Otherwise anyone could ask for a change to the address of another
// person, who follows the link and takes the account for their own. The change ends what
// belonged to the former email.
//
// Invariant: what ends links locks the user, and so does this before it uses one. So of a
// new password and a link at the same moment, either the link was used before or it is
// refused.
func (s *Service) VerifyEmail(ctx context.Context, token, password string) error {
	hash, now := account.HashSecret(token), s.deps.Clock.Now()
	userID, isChange, err := s.store.verification(ctx, hash, now)
	if err != nil {
		return err
	}
	if isChange {
		err = s.completeChange(ctx, userID, hash, password)
	} else {
		err = s.verifyPresent(ctx, userID, hash)
	}
	if sqldb.IsUnique(err) { // somebody has registered it at the same moment
		return errToken
	}
	return err
}

// verifyPresent uses a link that was mailed to the present email of a user.
func (s *Service) verifyPresent(ctx context.Context, userID int64, hash string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		self, err := s.deps.Accounts.LockSelf(ctx, userID)
		if err != nil {
			return errToken.Wrap(err)
		}
		email, err := s.store.takeVerification(ctx, userID, hash, s.deps.Clock.Now())
		if err == nil && email != self.Email { // the email has changed since
			err = errToken
		}
		if err != nil {
			return err
		}
		if err := s.deps.Accounts.Verify(ctx, userID); err != nil {
			return err
		}
		return s.deps.Accounts.Record(ctx, userID, "email.verified", nil, nil)
	})
}

// completeChange uses a link that was mailed to the new email of a user.
func (s *Service) completeChange(ctx context.Context, userID int64, hash, password string) error {
	owner, err := s.deps.Accounts.VerifyOwner(ctx, userID, password)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		self, err := s.deps.Accounts.LockOwner(ctx, userID, owner)
		if err != nil {
			return err
		}
		email, err := s.store.takeVerification(ctx, userID, hash, now)
		if err != nil {
			return err
		}
		if err := s.store.changeEmail(ctx, userID, email, now); err != nil {
			return err
		}
		if err := s.deps.Accounts.RevokeFormerEmail(ctx, userID, email, owner.Family); err != nil {
			return err
		}
		return s.deps.Accounts.Record(ctx, userID, "email.changed", map[string]any{"email": self.Email}, map[string]any{"email": email})
	})
}

// Prune deletes links that do not work any more.
func (s *Service) Prune(ctx context.Context) error {
	return s.store.deleteExpiredVerifications(ctx, s.deps.Clock.Now())
}
