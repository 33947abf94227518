package factor

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// PresentCode is the code that an authenticator app shows at present.
type PresentCode struct {
	Email, Code string
	EndsAt      time.Time // start of the next time step
	IsUsed      bool      // this time step, or a later one, was accepted already
	IsConfirmed bool      // the app is a factor of the user
}

// PresentCodes returns the current codes of the authenticator apps of all users, by email. Only the
// sandbox uses it: it replaces the users' devices.
func (s *Service) PresentCodes(ctx context.Context) ([]PresentCode, error) {
	rows, err := s.store.allTOTP(ctx)
	if err != nil {
		return nil, err
	}
	step := s.deps.Clock.Now().Unix() / stepSeconds
	codes := make([]PresentCode, len(rows))
	for i, row := range rows {
		secret, err := s.deps.Secrets.Open(sealedPlace(row.UserID), row.Secret)
		if err != nil {
			return nil, err
		}
		key, err := secretEncoding.DecodeString(secret)
		if err != nil {
			return nil, err
		}
		codes[i] = PresentCode{
			Email: row.Email, Code: totpCode(key, step), EndsAt: time.Unix((step+1)*stepSeconds, 0).UTC(),
			IsUsed: row.LastStep >= step, IsConfirmed: row.ConfirmedAt != nil,
		}
	}
	return codes, nil
}

// ImportTOTP gives a user, who was created in the transaction of ctx, the confirmed authenticator
// app of another system. secret is in the form that ParseSecret returns. The user gets no recovery
// codes and no mail.
func (s *Service) ImportTOTP(ctx context.Context, userID int64, secret string) error {
	if !sqldb.InTx(ctx) {
		return errNoTransaction
	}
	now := s.deps.Clock.Now()
	if err := s.store.putTOTP(ctx, userID, s.deps.Secrets.Seal(sealedPlace(userID), secret), now); err != nil {
		return err
	}
	if err := s.store.confirmTOTP(ctx, userID, 0, now); err != nil {
		return err
	}
	return s.store.updateEnabled(ctx, userID)
}
