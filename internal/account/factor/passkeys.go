package factor

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// maxPasskeys is the number of passkeys that a user can have.
	maxPasskeys = 20
	// handleLength is the length of a user handle in bytes.
	handleLength = 32
)

// Passkey is a passkey of a user.
type Passkey struct {
	ID         uuid.UUID
	Name       string
	CreatedAt  time.Time
	LastUsedAt *time.Time
	record     webauthn.Credential
}

// IsSynced reports whether the passkey was backed up at its last use.
func (p Passkey) IsSynced() bool { return p.record.Flags.BackupState }

// The kinds of WebAuthn challenges. A challenge of one kind does not work for another.
const (
	challengeRegistration = "registration"
	challengeConfirmation = "confirmation"
	challengeLogin        = "login"
)

// Options are the options of a WebAuthn ceremony, as JSON for the browser.
type Options struct {
	ChallengeID uuid.UUID
	JSON        []byte
}

// user returns a user in the form that the WebAuthn library needs. It creates the user handle if it
// is missing; the handle never changes. The caller has locked the user.
func (s *Service) user(ctx context.Context, userID int64) (passkeyUser, error) {
	user, handle, err := s.store.user(ctx, userID)
	if err != nil {
		return passkeyUser{}, err
	}
	if handle == "" {
		random := make([]byte, handleLength)
		_, _ = rand.Read(random) // crypto/rand never fails: it crashes the program instead
		handle = base64.RawURLEncoding.EncodeToString(random)
		if err := s.store.setHandle(ctx, userID, handle); err != nil {
			return passkeyUser{}, err
		}
	}
	if user.handle, err = base64.RawURLEncoding.DecodeString(handle); err != nil {
		return passkeyUser{}, err
	}
	user.passkeys, err = s.store.passkeys(ctx, userID)
	return user, err
}

// keep stores a challenge with its session data. userID is nil for a login.
func (s *Service) keep(ctx context.Context, kind string, userID *int64, options, session []byte) (Options, error) {
	id := uuid.New() // random, because the ID of a login's challenge is not bound to a user
	return Options{id, options}, s.store.insertChallenge(ctx, id, kind, userID, session, s.deps.Clock.Now())
}

// useChallenge calls verify with the session data of a challenge, and uses up the challenge if
// verify succeeds. It returns errUnverified for an unknown, used or expired challenge, and for a
// challenge of another kind or user. userID is 0 for a login. The caller has locked the user.
func (s *Service) useChallenge(ctx context.Context, text, kind string, userID int64, verify func(session []byte) error) error {
	id, err := uuid.Parse(text)
	if err != nil {
		return errUnverified
	}
	owner, session, err := s.store.challenge(ctx, id, kind, s.deps.Clock.Now())
	switch {
	case errors.Is(err, errAbsent):
		return errUnverified
	case err != nil:
		return err
	case owner != userID:
		return errUnverified
	}
	if err := verify(session); err != nil {
		return err
	}
	return s.store.takeChallenge(ctx, id)
}

// RegistrationOptions returns the options to register a passkey of the caller.
func (s *Service) RegistrationOptions(ctx context.Context, caller *authz.Caller, c Confirmation) (o Options, err error) {
	err = s.RunConfirmed(ctx, caller, c, func(ctx context.Context, self account.Self) error {
		user, err := s.user(ctx, self.ID)
		if err != nil {
			return err
		}
		options, session, err := s.creationOptions(user)
		if err != nil {
			return err
		}
		o, err = s.keep(ctx, challengeRegistration, &self.ID, options, session)
		return err
	})
	return o, err
}

// ConfirmationOptions returns the options to confirm a request with a passkey of the caller.
func (s *Service) ConfirmationOptions(ctx context.Context, caller *authz.Caller) (o Options, err error) {
	err = s.deps.Accounts.RunInPerson(ctx, caller, func(ctx context.Context, self account.Self) error {
		user, err := s.user(ctx, self.ID)
		if err != nil {
			return err
		}
		options, session, err := s.requestOptions(user)
		if err != nil {
			return err
		}
		o, err = s.keep(ctx, challengeConfirmation, &self.ID, options, session)
		return err
	})
	return o, err
}

// NewPasskey is a passkey to add.
type NewPasskey struct {
	ChallengeID string
	Name        string
	Credential  []byte
}

// AddPasskey registers a passkey of the caller. It returns the recovery codes if this is the first
// factor.
func (s *Service) AddPasskey(ctx context.Context, caller *authz.Caller, n NewPasskey) (p Passkey, codes []string, err error) {
	err = s.deps.Accounts.RunInPerson(ctx, caller, func(ctx context.Context, self account.Self) error {
		user, err := s.user(ctx, self.ID)
		if err != nil {
			return err
		}
		var limit error
		if len(user.passkeys) >= maxPasskeys {
			limit = errTooManyPasskeys
		}
		p = Passkey{ID: sqldb.NewID(), Name: n.Name, CreatedAt: s.deps.Clock.Now()}
		err = s.useChallenge(ctx, n.ChallengeID, challengeRegistration, self.ID, func(session []byte) (err error) {
			p.record, err = s.verifyCreation(user, session, n.Credential)
			return err
		})
		if errors.Is(err, errUnverified) {
			err = errCredential
		}
		if err := fault.Join(limit, err); err != nil {
			return err
		}
		if err := s.store.insertPasskey(ctx, self.ID, p); err != nil {
			return err
		}
		codes, err = s.completeAddition(ctx, self, caller.Family, notice{kindPasskey, p.Name}, auditedPasskey(p))
		return err
	})
	return p, codes, err
}

func auditedPasskey(p Passkey) map[string]any {
	return map[string]any{"type": kindPasskey, "id": p.ID, "name": p.Name}
}

// passkey returns a passkey of a user, or an error (404).
func (s *Service) passkey(ctx context.Context, userID int64, id uuid.UUID) (Passkey, error) {
	all, err := s.store.passkeys(ctx, userID)
	if err != nil {
		return Passkey{}, err
	}
	i := slices.IndexFunc(all, func(p Passkey) bool { return p.ID == id })
	if i < 0 {
		return Passkey{}, errNotFound
	}
	return all[i], nil
}

// RenamePasskey changes the name of a passkey of the caller.
func (s *Service) RenamePasskey(ctx context.Context, caller *authz.Caller, id uuid.UUID, name string) (p Passkey, err error) {
	err = s.deps.Accounts.RunInPerson(ctx, caller, func(ctx context.Context, self account.Self) error {
		if p, err = s.passkey(ctx, self.ID, id); err != nil || p.Name == name {
			return err
		}
		before := auditedPasskey(p)
		p.Name = name
		if err := s.store.renamePasskey(ctx, self.ID, p); err != nil {
			return err
		}
		return s.deps.Accounts.Record(ctx, self.ID, "factor.renamed", before, auditedPasskey(p))
	})
	return p, err
}

// RemovePasskey removes a passkey of the caller.
func (s *Service) RemovePasskey(ctx context.Context, caller *authz.Caller, id uuid.UUID, c Confirmation) error {
	if _, err := s.passkey(ctx, caller.UserID, id); err != nil {
		return err
	}
	return s.RunConfirmed(ctx, caller, c, func(ctx context.Context, self account.Self) error {
		p, err := s.passkey(ctx, self.ID, id)
		if err != nil {
			return err
		}
		if err := s.store.deletePasskey(ctx, self.ID, id); err != nil {
			return err
		}
		return s.completeRemoval(ctx, self.ID, notice{kindPasskey, p.Name}, auditedPasskey(p))
	})
}

// usePasskey verifies an assertion of a passkey of a user, who is locked, and records the use. It
// reports whether the authenticator has verified the user. It returns errUnverified if the
// assertion does not verify.
func (s *Service) usePasskey(ctx context.Context, userID int64, session, credential []byte) (userVerified bool, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(credential)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errUnverified, err)
	}
	user, err := s.user(ctx, userID)
	if err != nil {
		return false, err
	}
	p, userVerified, err := s.verifyAssertion(ctx, user, session, parsed)
	if err != nil {
		return false, err
	}
	return userVerified, s.store.usePasskey(ctx, p, s.deps.Clock.Now())
}

// CanLogIn reports whether a user can log in with a passkey.
func (s *Service) CanLogIn(ctx context.Context, userID int64) (bool, error) {
	all, err := s.store.passkeys(ctx, userID)
	return len(all) > 0, err
}
