package account

import (
	"context"
	"errors"
	"strings"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/bcrypt"
)

// maxBcryptCost bounds the time of a login with an imported hash.
const maxBcryptCost = 14

var (
	errHashFormat = errors.New("must be a bcrypt hash ($2a$, $2b$ or $2y$) or an Argon2id hash in the PHC format; leave it empty if the user should choose a new password")
	errHashCost   = errors.New("too expensive to verify: at most bcrypt cost 14, or Argon2id with 256 MiB and 10 passes; leave it empty if the user should choose a new password")
)

// ImportedUser is a user imported from another system.
type ImportedUser struct {
	Name         string
	Email        string // normalized by mail.NormalizeAddress
	Locale       *string
	PasswordHash *string // must pass CheckPasswordHash; nil for a user without a password
	Verified     bool
}

// ExistingUser is an existing account, as seen by an import.
type ExistingUser struct {
	User
	Verified bool
}

// CheckPasswordHash returns an error if the format of the password hash is not supported, or if its
// cost is too high for logins. The first login replaces an imported hash.
func (u ImportedUser) CheckPasswordHash() error {
	if u.PasswordHash == nil {
		return nil
	}
	return checkHash(*u.PasswordHash)
}

func checkHash(hash string) error {
	if isBcrypt(hash) {
		cost, err := bcrypt.Cost([]byte(hash))
		switch {
		case err != nil || len(hash) != 60:
			return errHashFormat
		case cost > maxBcryptCost:
			return errHashCost
		}
		return nil
	}
	params, salt, key, err := argon2id.DecodeHash(hash)
	switch {
	case err != nil || len(salt) < 8 || len(key) < 16 || params.Iterations < 1 || params.Parallelism < 1:
		return errHashFormat
	case params.Memory > 256*1024 || params.Iterations > 10 || params.Parallelism > 16 || len(key) > 64:
		return errHashCost
	}
	return nil
}

func isBcrypt(hash string) bool {
	return strings.HasPrefix(hash, "$2a$") || strings.HasPrefix(hash, "$2b$") || strings.HasPrefix(hash, "$2y$")
}

func matchesBcrypt(password, hash string) (bool, error) {
	err := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password))
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return false, nil
	}
	return err == nil, err
}

// Import creates an account without a tenant, in the transaction of ctx if there is one. It sends
// no mail. It returns errAccountExists if an account uses the email.
func (s *Service) Import(ctx context.Context, u ImportedUser) (int64, error) {
	id, err := s.store.insertUser(ctx, newUser{
		name: u.Name, email: u.Email, passwordHash: u.PasswordHash, verified: u.Verified, locale: u.Locale,
	}, s.deps.Clock.Now())
	if errors.Is(err, errEmailTaken) {
		err = errAccountExists
	}
	return id, err
}

// UpdateImported changes the name of an account, and marks its email as verified if u.Verified is
// set. It changes nothing else.
func (s *Service) UpdateImported(ctx context.Context, id int64, u ImportedUser) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		user, err := s.lockTarget(ctx, id)
		if err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		if user.Name != u.Name {
			if err := s.store.rename(ctx, id, u.Name, now); err != nil {
				return err
			}
		}
		if u.Verified && !user.verified {
			return s.store.verifyEmail(ctx, id, now)
		}
		return nil
	})
}

// Find returns the account with an email, and reports whether there is one. The email must be
// normalized by mail.NormalizeAddress.
func (s *Service) Find(ctx context.Context, email string) (ExistingUser, bool, error) {
	id, verified, err := s.store.userOfEmail(ctx, email)
	if errors.Is(err, errNoUser) {
		return ExistingUser{}, false, nil
	}
	if err != nil {
		return ExistingUser{}, false, err
	}
	user, err := s.store.user(ctx, id)
	return ExistingUser{User: user, Verified: verified}, err == nil, err
}
