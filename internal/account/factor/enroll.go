package factor

import (
	"context"
	"strconv"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
)

// notice describes a factor in a mail.
type notice struct {
	kind    string // one of the kinds below
	passkey string // name of a passkey
}

// The kinds of factors in mails and in the audit log.
const (
	kindTOTP    = "totp"
	kindPasskey = "passkey"
	kindAll     = "all" // every factor of the user
)

// Enrollment is a new authenticator app that is not confirmed yet. It is shown once.
type Enrollment struct{ Secret, URL, QR string }

// sealedPlace is the place of a user's TOTP secret (see secrets.Key.Seal).
func sealedPlace(userID int64) string { return "user_totp:" + strconv.FormatInt(userID, 10) }

// EnrollTOTP starts the enrollment of an authenticator app. It replaces an unconfirmed app.
func (s *Service) EnrollTOTP(ctx context.Context, caller *authz.Caller, c Confirmation) (e Enrollment, err error) {
	err = s.RunConfirmed(ctx, caller, c, func(ctx context.Context, self account.Self) error {
		present, found, err := s.store.totp(ctx, self.ID)
		if err != nil {
			return err
		}
		if found && present.isConfirmed {
			return errTOTPEnabled
		}
		e = Enrollment{Secret: newTOTPSecret()}
		e.URL = otpauthURL(s.deps.AppName, self.Email, e.Secret)
		if e.QR, err = qrSVG(e.URL); err != nil {
			return err
		}
		return s.store.putTOTP(ctx, self.ID, s.deps.Secrets.Seal(sealedPlace(self.ID), e.Secret), s.deps.Clock.Now())
	})
	return e, err
}

// ConfirmTOTP makes the caller's authenticator app a factor if the code is valid. It returns the
// recovery codes if this is the first factor.
func (s *Service) ConfirmTOTP(ctx context.Context, caller *authz.Caller, code string) (codes []string, err error) {
	err = s.deps.Accounts.RunInPerson(ctx, caller, func(ctx context.Context, self account.Self) error {
		totp, found, err := s.store.totp(ctx, self.ID)
		if err != nil {
			return err
		}
		if !found || totp.isConfirmed {
			return errCode
		}
		secret, err := s.deps.Secrets.Open(sealedPlace(self.ID), totp.secret)
		if err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		step, ok := matchTOTP(secret, code, totp.lastStep, now)
		if !ok {
			return errCode
		}
		if err := s.store.confirmTOTP(ctx, self.ID, step, now); err != nil {
			return err
		}
		codes, err = s.completeAddition(ctx, self, caller.Family, notice{kind: kindTOTP}, map[string]any{"type": kindTOTP})
		return err
	})
	return codes, err
}

// useTOTP verifies a code of a user's authenticator app and uses it up. It returns errWrongFactor
// if the code is wrong or used, or if the user lacks a confirmed app. The caller has locked the
// user.
func (s *Service) useTOTP(ctx context.Context, userID int64, code string) error {
	totp, found, err := s.store.totp(ctx, userID)
	if err != nil {
		return err
	}
	if !found || !totp.isConfirmed {
		return errWrongFactor
	}
	secret, err := s.deps.Secrets.Open(sealedPlace(userID), totp.secret)
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	step, ok := matchTOTP(secret, code, totp.lastStep, now)
	if !ok {
		return errWrongFactor
	}
	return s.store.useTOTP(ctx, userID, step, now)
}

// checkTOTP returns an error (404) if the user lacks a confirmed authenticator app.
func (s *Service) checkTOTP(ctx context.Context, userID int64) error {
	totp, found, err := s.store.totp(ctx, userID)
	if err == nil && (!found || !totp.isConfirmed) {
		err = errNotFound
	}
	return err
}

// RemoveTOTP removes the caller's authenticator app.
func (s *Service) RemoveTOTP(ctx context.Context, caller *authz.Caller, c Confirmation) error {
	if err := s.checkTOTP(ctx, caller.UserID); err != nil {
		return err
	}
	return s.RunConfirmed(ctx, caller, c, func(ctx context.Context, self account.Self) error {
		if err := s.checkTOTP(ctx, self.ID); err != nil {
			return err
		}
		if err := s.store.deleteTOTP(ctx, self.ID); err != nil {
			return err
		}
		return s.completeRemoval(ctx, self.ID, notice{kind: kindTOTP}, map[string]any{"type": kindTOTP})
	})
}
