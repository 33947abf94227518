package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// ErrEmailTaken says that an email has an account already.
var ErrEmailTaken = errors.New("this email has an account already")

// CreateAdmin makes a platform admin: from the command line alone, never over
// HTTP. No permissions means all of them. Errors are for the operator's eyes.
func (s *Service) CreateAdmin(ctx context.Context, name, email, password string, permissions []string) (User, error) {
	address, err := mail.NormalizeAddress(email)
	if err != nil {
		return User{}, fmt.Errorf("email %q: %w", email, err)
	}
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > 255 {
		return User{}, errors.New("name: must have 1 to 255 characters")
	}
	if utf8.RuneCountInString(password) < 8 || len(password) > 1024 {
		return User{}, errors.New("password: must have at least 8 characters and at most 1024 bytes")
	}
	var list sqldb.JSON
	if len(permissions) > 0 {
		for _, p := range permissions {
			if !slices.Contains(authz.PlatformPermissions(), p) {
				return User{}, fmt.Errorf("permission %q: unknown", p)
			}
		}
		if list, err = json.Marshal(permissions); err != nil {
			return User{}, err
		}
	}
	hash, err := s.deps.Passwords.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	row := newUser{name: name, email: address, passwordHash: hash, platformAdmin: true, permissions: list, verified: true}
	id, err := s.store.insertUser(ctx, row, s.deps.Clock.Now())
	if errors.Is(err, errEmailTaken) {
		return User{}, ErrEmailTaken
	}
	return User{ID: id, Name: name, Email: address, IsPlatformAdmin: true}, err
}
