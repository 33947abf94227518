package factor

import (
	"context"
	"errors"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
)

// Attempt is an attempt to complete a login. Exactly one of Code, RecoveryCode and Credential is
// set.
type Attempt struct {
	Challenge          string
	Code, RecoveryCode string
	Credential         []byte
	Remember           *bool // nil keeps the choice of the login
}

// CompleteLogin verifies the second factor of a login and issues the credentials.
func (s *Service) CompleteLogin(ctx context.Context, a Attempt, grant account.Grant) (account.User, account.Tokens, account.Challenge, error) {
	f := account.SecondFactor{Challenge: a.Challenge, IsCode: len(a.Credential) == 0, Remember: a.Remember}
	f.Verify = func(ctx context.Context, login account.Challenge) (string, error) {
		switch {
		case a.Code != "":
			return authz.TOTP, s.useTOTP(ctx, login.UserID, a.Code)
		case a.RecoveryCode != "":
			return authz.RecoveryCode, s.useRecoveryCode(ctx, login.UserID, a.RecoveryCode)
		case login.PasskeySession == nil:
			return "", errWrongFactor
		}
		_, err := s.usePasskey(ctx, login.UserID, login.PasskeySession, a.Credential)
		if errors.Is(err, errUnverified) {
			err = errWrongFactor.Wrap(err)
		}
		return authz.Passkey, err
	}
	return s.deps.Accounts.CompleteLogin(ctx, f, grant)
}

// SecondFactorOptions returns the options to complete a login with a passkey.
func (s *Service) SecondFactorOptions(ctx context.Context, challenge string, grant account.Grant) (options []byte, err error) {
	err = s.deps.Accounts.PendingLogin(ctx, challenge, grant, func(ctx context.Context, login account.Challenge) (session []byte, err error) {
		if !slices.Contains(login.Factors, kindPasskey) {
			return nil, errNoPasskey
		}
		user, err := s.user(ctx, login.UserID)
		if err != nil {
			return nil, err
		}
		options, session, err = s.requestOptions(user)
		return session, err
	})
	return options, err
}

// LoginOptions returns the options to log in with a passkey, without an email.
func (s *Service) LoginOptions(ctx context.Context) (Options, error) {
	options, session, err := s.discoverableOptions()
	if err != nil {
		return Options{}, err
	}
	return s.keep(ctx, challengeLogin, nil, options, session)
}

// LogIn logs a user in with a passkey. If the authenticator has verified the user, the passkey
// counts as two factors. Otherwise the login needs another factor of the user. For every credential
// that does not verify, LogIn returns the same error (INVALID_CREDENTIALS).
func (s *Service) LogIn(ctx context.Context, challengeID string, credential []byte, grant account.Grant) (user account.User, tokens account.Tokens, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(credential)
	if err != nil {
		return user, tokens, errCredentials.Wrap(err)
	}
	userID, err := s.store.ownerOfPasskey(ctx, encodeID(parsed.RawID))
	if errors.Is(err, errAbsent) {
		return user, tokens, errCredentials
	}
	if err != nil {
		return user, tokens, err
	}
	user, tokens, err = s.deps.Accounts.LogIn(ctx, userID, grant, func(ctx context.Context, grant *account.Grant) error {
		return s.useChallenge(ctx, challengeID, challengeLogin, 0, func(session []byte) error {
			verified, err := s.usePasskey(ctx, userID, session, credential)
			grant.Methods, grant.FactorPassed = []string{authz.Passkey}, verified
			return err
		})
	})
	if errors.Is(err, errUnverified) || account.IsUserDeleted(err) {
		err = errCredentials.Wrap(err)
	}
	return user, tokens, err
}
