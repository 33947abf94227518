package factor

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Confirmation is the part of a request that confirms it (rules: account#confirmed-requests).
type Confirmation struct {
	CurrentPassword string       `json:"current_password,omitempty" format:"password" maxLength:"1024" doc:"Current password. Required if the account has a password."`
	Code            string       `json:"code,omitempty" format:"password" maxLength:"255" doc:"Code of the authenticator app, or a recovery code. Required if the account has a second factor, unless the request has an assertion."`
	Assertion       shape.Object `json:"assertion,omitempty" maxBytes:"65536" doc:"Assertion of a passkey, instead of a code: the challenge_id of the assertion options, and the credential of the browser."`
}

// RunConfirmed verifies the confirmation of a request, and calls do in a transaction that has
// locked the caller's user. A confirmation needs the password (or a recent login if the account
// does not have a password), and also a second factor if the user has enrolled one.
//
// Invariant: the factor is checked after the password, and used up only if do succeeds. A code is
// counted as a guess, and the count is committed, before the code is checked.
func (s *Service) RunConfirmed(ctx context.Context, caller *authz.Caller, c Confirmation, do func(ctx context.Context, self account.Self) error) error {
	proof, err := s.deps.Accounts.VerifyPassword(ctx, caller, c.CurrentPassword)
	if err != nil {
		return err
	}
	run := func(ctx context.Context) error {
		return s.deps.Accounts.RunInPersonConfirmed(ctx, caller, proof, func(ctx context.Context, self account.Self) error {
			if self.HasFactor {
				if err := s.confirm(ctx, self, c); err != nil {
					return err
				}
			}
			return do(ctx, self)
		})
	}
	if c.Code == "" {
		return run(ctx)
	}
	if err := s.deps.Accounts.GuessCode(ctx, caller.UserID, run); errors.Is(err, errWrongFactor) {
		return errCode
	} else if err != nil {
		return err
	}
	return nil
}

// confirm verifies the factor of a confirmation and uses it up. The caller has locked the user.
func (s *Service) confirm(ctx context.Context, self account.Self, c Confirmation) error {
	switch {
	case c.Code != "" && len(c.Code) == codeDigits:
		return s.useTOTP(ctx, self.ID, c.Code)
	case c.Code != "":
		return s.useRecoveryCode(ctx, self.ID, c.Code)
	case len(c.Assertion) == 0:
		return errCodeRequired
	}
	var a struct {
		ChallengeID string          `json:"challenge_id"`
		Credential  json.RawMessage `json:"credential"`
	}
	if err := json.Unmarshal(c.Assertion, &a); err != nil {
		return errAssertion
	}
	err := s.useChallenge(ctx, a.ChallengeID, challengeConfirmation, self.ID, func(session []byte) error {
		_, err := s.usePasskey(ctx, self.ID, session, a.Credential)
		return err
	})
	if errors.Is(err, errUnverified) {
		err = errAssertion
	}
	return err
}
