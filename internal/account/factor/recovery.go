package factor

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
)

const (
	// codeAlphabet is Crockford's base32: without I, L, O and U.
	codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// recoveryLength is the number of characters of a recovery code, without the hyphen.
	recoveryLength = 10
	recoverySet    = 10 // codes of a user
	fewCodes       = 3  // fewer remaining codes are mailed to the user
)

// newRecoveryCode returns a random code in two groups of five.
func newRecoveryCode() string {
	random := make([]byte, recoveryLength)
	_, _ = rand.Read(random) // crypto/rand never fails: it crashes the program instead
	for i, b := range random {
		random[i] = codeAlphabet[int(b)%len(codeAlphabet)] // 256 is a multiple of 32
	}
	return string(random[:recoveryLength/2]) + "-" + string(random[recoveryLength/2:])
}

// normalRecoveryCode normalizes a code: upper case, without hyphens and spaces, and with digits in
// place of letters that look like them. It reports false if the text cannot be a code.
func normalRecoveryCode(text string) (string, bool) {
	text = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(text))
	return text, len(text) == recoveryLength && strings.Trim(text, codeAlphabet) == ""
}

// hashRecoveryCode returns the hash under which the code of a user is stored.
func (s *Service) hashRecoveryCode(userID int64, normal string) string {
	return s.deps.Secrets.Hash("recovery_codes:"+strconv.FormatInt(userID, 10), normal)
}

// replaceRecoveryCodes replaces the recovery codes of a user, who is locked, and returns the new
// codes.
func (s *Service) replaceRecoveryCodes(ctx context.Context, userID int64, now time.Time) ([]string, error) {
	if err := s.store.deleteRecoveryCodes(ctx, userID); err != nil {
		return nil, err
	}
	codes := make([]string, recoverySet)
	for i := range codes {
		codes[i] = newRecoveryCode()
		normal, _ := normalRecoveryCode(codes[i])
		if err := s.store.insertRecoveryCode(ctx, userID, s.hashRecoveryCode(userID, normal), now); err != nil {
			return nil, err
		}
	}
	return codes, nil
}

// useRecoveryCode uses up a recovery code of a user, who is locked. It returns errWrongFactor for a
// wrong or used code.
func (s *Service) useRecoveryCode(ctx context.Context, userID int64, text string) error {
	normal, ok := normalRecoveryCode(text)
	if !ok {
		return errWrongFactor
	}
	used, err := s.store.useRecoveryCode(ctx, userID, s.hashRecoveryCode(userID, normal), s.deps.Clock.Now())
	if err == nil && !used {
		err = errWrongFactor
	}
	if err != nil {
		return err
	}
	_, remaining, err := s.store.countRecoveryCodes(ctx, userID)
	if err != nil {
		return err
	}
	if remaining < fewCodes {
		if err := s.mail(ctx, userID, func(to recipient) error {
			return s.deps.Notices.RecoveryCodesLow(ctx, to.locale, to.Email, to.Name, remaining)
		}); err != nil {
			return err
		}
	}
	return s.deps.Accounts.Record(ctx, userID, "recovery_code.used", nil, map[string]any{"remaining": remaining})
}

// GenerateRecoveryCodes replaces the recovery codes of the caller and returns the new codes.
func (s *Service) GenerateRecoveryCodes(ctx context.Context, caller *authz.Caller, c Confirmation) (codes []string, err error) {
	err = s.RunConfirmed(ctx, caller, c, func(ctx context.Context, self account.Self) error {
		if !self.HasFactor {
			return errNotEnabled
		}
		if codes, err = s.replaceRecoveryCodes(ctx, self.ID, s.deps.Clock.Now()); err != nil {
			return err
		}
		if err := s.mail(ctx, self.ID, func(to recipient) error {
			return s.deps.Notices.RecoveryCodesGenerated(ctx, to.locale, to.Email, to.Name)
		}); err != nil {
			return err
		}
		return s.deps.Accounts.Record(ctx, self.ID, "recovery_codes.generated", nil, nil)
	})
	return codes, err
}
