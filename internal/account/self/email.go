package self

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
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
	if err != nil {
		return err
	}
	proof, err := s.deps.Accounts.Prove(ctx, caller, password)
	if err != nil {
		return err
	}
	return s.deps.Accounts.InPersonWith(ctx, caller, proof, func(ctx context.Context, self account.Self) error {
		if err := s.store.deleteOtherVerifications(ctx, self.ID, self.Email); err != nil {
			return err
		}
		locale, err := s.deps.Accounts.LocaleFor(ctx, self.User, i18n.Locale(ctx))
		if err != nil {
			return err
		}
		taken, err := s.store.taken(ctx, address)
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
	err = s.deps.Accounts.InPerson(ctx, caller, func(ctx context.Context, self account.Self) error {
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
	return s.deps.Notices.VerifyEmail(ctx, locale, address, user.Name, token)
}

// VerifyEmail uses a link: the user's email is proved to be theirs, and becomes the one
// that the link was mailed to. Unknown, used and expired tokens get the same refusal, as
// does one for an address that somebody else has registered meanwhile.
//
// Invariant: what ends links locks the user, and so does this before it uses one. So of a
// new password and a link at the same moment, either the link was used before or it is
// refused.
func (s *Service) VerifyEmail(ctx context.Context, token string) error {
	hash, now := account.HashSecret(token), s.deps.Clock.Now()
	userID, err := s.store.verification(ctx, hash, now)
	if err != nil {
		return err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		self, err := s.deps.Accounts.LockSelf(ctx, userID)
		if err != nil {
			return errToken.Wrap(err)
		}
		email, err := s.store.takeVerification(ctx, userID, hash, now)
		if err != nil {
			return err
		}
		if email == self.Email {
			return s.deps.Accounts.Verify(ctx, userID)
		}
		if err := s.store.changeEmail(ctx, userID, email, now); err != nil {
			return err
		}
		return s.deps.Accounts.EndLinks(ctx, userID) // those of the former email
	})
	if sqldb.IsUnique(err) { // somebody has registered it at the same moment
		return errToken
	}
	return err
}

// Prune deletes links that do not work any more.
func (s *Service) Prune(ctx context.Context) error {
	return s.store.deleteExpiredVerifications(ctx, s.deps.Clock.Now())
}
