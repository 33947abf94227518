package account

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

const (
	// challengeLifetime is how long a login can wait for its second factor.
	challengeLifetime = 5 * time.Minute
	// maxAttempts is the number of attempts at the second factor of one login.
	maxAttempts = 5
)

// The second factors of a user, as named in the API.
const (
	factorPasskey  = "passkey"
	factorRecovery = "recovery_code"
	factorTOTP     = "totp"
)

// Challenge is a login that waits for a second factor (rules: account#second-factors). It is not a
// credential: only its hash is stored, and it completes one login.
type Challenge struct {
	Secret    string   // only in the response of the login
	Factors   []string // the user's factors that can complete the login, sorted
	ExpiresAt time.Time

	UserID   int64
	Provider string // of a delegated login; "" for other logins
	IsNew    bool   // the delegated login created the account
	Remember bool   // the session outlives the browser
	// PasskeySession is the challenge data of the WebAuthn library, or nil.
	PasskeySession []byte

	grant Grant
}

// refusal returns the error (MFA_REQUIRED) of a login that needs a second factor.
func (c *Challenge) refusal() error {
	return errFactorNeeded.With("challenge", c.Secret).With("factors", c.Factors).With("expires_at", shape.T(c.ExpiresAt))
}

// challenge stores a challenge for the login, and returns it. It returns errCredentials if the user
// only has the passkey that the login has used.
func (s *Service) challenge(ctx context.Context, userID int64, grant Grant, now time.Time) (Tokens, error) {
	c := &Challenge{Secret: rand.Text(), ExpiresAt: now.Add(challengeLifetime), UserID: userID, grant: grant}
	var err error
	if c.Factors, err = s.factorsFor(ctx, userID, grant.Methods); err != nil {
		return Tokens{}, err
	}
	if len(c.Factors) == 0 {
		return Tokens{}, errCredentials
	}
	return Tokens{Challenge: c}, s.store.insertChallenge(ctx, c, now)
}

// factorsFor returns the factors that can complete a login with the given methods, sorted. If the
// first factor was a passkey, passkeys are not included.
func (s *Service) factorsFor(ctx context.Context, userID int64, methods []string) ([]string, error) {
	factors, err := s.store.factors(ctx, userID)
	if slices.Contains(methods, authz.Passkey) {
		factors = slices.DeleteFunc(factors, func(f string) bool { return f == factorPasskey })
	}
	return factors, err
}

// PendingLogin calls do with the login of a challenge, in a transaction that has locked the user,
// and stores the result of do as the PasskeySession. It returns an error (MFA_CHALLENGE_EXPIRED)
// unless the browser of grant can complete the login.
func (s *Service) PendingLogin(ctx context.Context, secret string, grant Grant, do func(context.Context, Challenge) (passkeySession []byte, err error)) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		c, err := s.store.loginChallenge(ctx, secret, grant, now)
		if err != nil {
			return err
		}
		if _, err := s.lock(ctx, c.UserID); errors.Is(err, errNoUser) {
			return errChallenge
		} else if err != nil {
			return err
		}
		if c.Factors, err = s.factorsFor(ctx, c.UserID, c.grant.Methods); err != nil {
			return err
		}
		session, err := do(ctx, c)
		if err != nil {
			return err
		}
		return s.store.setPasskeySession(ctx, secret, session)
	})
}

// SecondFactor is an attempt to complete a login.
type SecondFactor struct {
	Challenge string
	// IsCode means that the factor is a code. Codes count as guesses across all logins of the
	// account.
	IsCode bool
	// Remember overrides the choice made when the login began, unless it is nil.
	Remember *bool
	// Verify verifies and consumes the factor, in a transaction that has locked the user, and
	// returns its method. It returns INVALID_MFA_CODE if the factor is wrong.
	Verify func(ctx context.Context, login Challenge) (method string, err error)
}

// CompleteLogin verifies the second factor of a login, issues the credentials, and returns the
// login.
//
// Invariant: an attempt is counted, and committed, before its factor is verified. So concurrent
// attempts cannot together exceed the limits: maxAttempts per login, and the limit of guesses per
// account for codes. The challenge, the factor and the credentials change in one transaction.
func (s *Service) CompleteLogin(ctx context.Context, f SecondFactor, grant Grant) (user User, tokens Tokens, login Challenge, err error) {
	var guess countedGuess
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if login, err = s.store.reserveAttempt(ctx, f.Challenge, grant, s.deps.Clock.Now()); err != nil {
			return err
		}
		if !f.IsCode {
			guess = uncounted
			return nil
		}
		guess, err = s.countCode(ctx, login.UserID)
		return err
	})
	if err != nil {
		return User{}, Tokens{}, Challenge{}, err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) (err error) {
		if f.Remember != nil {
			login.Remember = *f.Remember
		}
		user, tokens, err = s.completeLogin(ctx, f, login, grant)
		return err
	})
	switch {
	case errors.Is(err, errWrongFactor):
		return User{}, Tokens{}, Challenge{}, errors.Join(guess.recordWrong(ctx), err)
	case err != nil:
		return User{}, Tokens{}, Challenge{}, errors.Join(guess.recordRight(ctx), err)
	}
	return user, tokens, login, guess.recordRight(ctx)
}

func (s *Service) completeLogin(ctx context.Context, f SecondFactor, login Challenge, grant Grant) (User, Tokens, error) {
	user, err := s.lockFor(ctx, login.UserID, grant)
	if errors.Is(err, errNoUser) {
		return User{}, Tokens{}, errChallenge
	}
	if err != nil {
		return User{}, Tokens{}, err
	}
	if err := s.store.takeChallenge(ctx, f.Challenge); err != nil {
		return User{}, Tokens{}, err
	}
	method, err := f.Verify(ctx, login)
	if err != nil {
		return User{}, Tokens{}, err
	}
	began := login.grant
	grant.Remember = grant.Session && login.Remember
	grant.RevokePrevious, grant.Identity, grant.Provider, grant.IsNewUser = began.RevokePrevious, began.Identity, began.Provider, began.IsNewUser
	grant.Methods, grant.FactorPassed = append(slices.Clone(began.Methods), method), true
	tokens, err := s.logIn(ctx, user, grant, s.deps.Clock.Now())
	return user.User, tokens, err
}

// uncounted is a guess that does not count.
var uncounted = countedGuess{
	func(context.Context) error { return nil }, func(context.Context) error { return nil },
}

// GuessCode counts a code of a user's second factors as a guess, and calls check, which returns
// INVALID_MFA_CODE if the code is wrong. Codes are counted across all logins and requests of the
// account, separately from wrong passwords. After too many wrong codes it returns an error with the
// time to wait, even if this code is correct.
func (s *Service) GuessCode(ctx context.Context, userID int64, check func(context.Context) error) error {
	guess, err := s.countCode(ctx, userID)
	if err != nil {
		return err
	}
	if err := check(ctx); errors.Is(err, errWrongFactor) {
		return errors.Join(guess.recordWrong(ctx), err)
	} else if err != nil {
		return errors.Join(guess.recordRight(ctx), err)
	}
	return guess.recordRight(ctx)
}

func (s *Service) countCode(ctx context.Context, userID int64) (countedGuess, error) {
	return s.countGuess(ctx, codeGuesses(userID), errTooManyCodes, func(ctx context.Context) error {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			return s.Record(ctx, userID, "login.blocked", nil, map[string]any{"method": "code"})
		})
	})
}

// codeGuesses returns the key under which a user's wrong codes are counted. It cannot equal an
// email, which is the key for wrong passwords.
func codeGuesses(userID int64) string { return "codes of user " + strconv.FormatInt(userID, 10) }

// RecordFactor records that the login of the caller has passed the second factor, because the
// caller has just enrolled one. The user is locked.
func (s *Service) RecordFactor(ctx context.Context, userID int64, family uuid.UUID) error {
	return s.store.markFactorPassed(ctx, userID, family)
}

// EndChallenges ends all logins that wait for a user's second factor. The caller has locked the
// user.
func (s *Service) EndChallenges(ctx context.Context, userID int64) error {
	return s.store.deleteChallenges(ctx, userID)
}
