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

// linkLifetime is how long a verification link is valid.
const linkLifetime = 24 * time.Hour

// ChangeEmail starts a change of the caller's email. It mails a link to the new address if no
// account uses it, and a notice to the current address. The response does not reveal whether the
// new address is in use. A later change replaces an earlier one.
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

// RequestVerification mails a verification link to the caller's current email. It reports whether the
// email needed verification.
func (s *Service) RequestVerification(ctx context.Context, caller *authz.Caller) (needed bool, err error) {
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

// mailLink mails a verification link. Users can request mail to arbitrary addresses, so at most one
// per minute is sent to each address. The response is the same if no mail is sent.
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

// VerifyEmail uses a link. It marks the email that the link was mailed to as verified, and makes it
// the user's email. Unknown, used and expired tokens return the same error. So does a link for an
// address that another user has registered in the meantime.
//
// A link for a change of email also needs a login of the account or its password (422 on
// current_password). Otherwise an attacker could request a change to the address of another person,
// who follows the link and then uses the attacker's account. The change ends everything that
// belonged to the former email.
//
// Invariant: operations that end links lock the user, and so does VerifyEmail before it uses a
// link. If a password change and a link run concurrently, the link is either used first or
// rejected.
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
	if sqldb.IsUnique(err) { // another user has registered it concurrently
		return errToken
	}
	return err
}

// verifyPresent uses a link that was mailed to the user's current email.
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

// completeChange uses a link that was mailed to the user's new email.
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
		if err := s.deps.Memberships.EmailChanged(ctx, userID); err != nil {
			return err
		}
		if err := s.deps.Accounts.RevokeFormerEmail(ctx, userID, email, owner.Family); err != nil {
			return err
		}
		return s.deps.Accounts.Record(ctx, userID, "email.changed", map[string]any{"email": self.Email}, map[string]any{"email": email})
	})
}

// Prune deletes expired links.
func (s *Service) Prune(ctx context.Context) error {
	return s.store.deleteExpiredVerifications(ctx, s.deps.Clock.Now())
}
