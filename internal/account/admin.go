package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Admin is a platform admin. Who is one, and with which permissions, is decided on the
// command line only, never over HTTP (rules: account#platform-admins).
type Admin struct {
	User
	// Permissions are the ones that they hold; nil is all.
	Permissions []string
}

// CreateAdmin makes an account that is a platform admin. No permissions means all
// of them.
func (s *Service) CreateAdmin(ctx context.Context, name, email, password string, permissions []string) (User, error) {
	address, err := normalizeEmail(email)
	if err != nil {
		return User{}, err
	}
	name = shape.NormalText(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > 255 || !shape.IsName(name) {
		return User{}, errors.New("name: must have 1 to 255 characters, none of them for control, format or private use")
	}
	if shape.PasswordLength(password) < 8 || len(password) > 1024 {
		return User{}, errors.New("password: must have at least 8 characters and at most 1024 bytes")
	}
	if isCommonPassword(password) {
		return User{}, errors.New("password: everybody uses this one; choose another")
	}
	list, err := permissionList(permissions)
	if err != nil {
		return User{}, err
	}
	hash, err := s.deps.Passwords.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	row := newUser{name: name, email: address, passwordHash: &hash, platformAdmin: true, permissions: list, verified: true}
	user := User{Name: name, Email: address, IsPlatformAdmin: true}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if user.ID, err = s.store.insertUser(ctx, row, s.deps.Clock.Now()); err != nil {
			return err
		}
		return s.recordAdmin(ctx, "admin.created", user.ID, nil, adminAuditFields(true, list))
	})
	if errors.Is(err, errEmailTaken) {
		err = ErrEmailTaken
	}
	return user, err
}

// Admins lists the platform admins, the oldest account first.
func (s *Service) Admins(ctx context.Context) ([]Admin, error) {
	return s.store.admins(ctx)
}

// GrantAdmin makes an account a platform admin, or changes the permissions of one. No
// permissions means all of them. Who becomes one must log in again, so that no older
// login gains rights, and impersonations of them end. Their provider identities are
// removed: control of an identity provider must not give control of the platform (rules:
// account#platform-admins). errNoAccount where the email has no account, errUnverified
// where nobody has proved that it is theirs.
func (s *Service) GrantAdmin(ctx context.Context, email string, permissions []string) (User, error) {
	list, err := permissionList(permissions)
	if err != nil {
		return User{}, err
	}
	return s.changeAdmin(ctx, "admin.granted", email, true, permissions, list)
}

// RevokeAdmin makes a platform admin an ordinary account again. It ends everything
// that authenticates them, and their impersonation of somebody else. errNoAccount
// where the email has no account, errNotAdmin where it is no admin's.
func (s *Service) RevokeAdmin(ctx context.Context, email string) (User, error) {
	return s.changeAdmin(ctx, "admin.revoked", email, false, nil, nil)
}

func (s *Service) changeAdmin(ctx context.Context, action, email string, isAdmin bool, permissions []string, list sqldb.JSON) (User, error) {
	address, err := normalizeEmail(email)
	if err != nil {
		return User{}, err
	}
	var user User
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		id, _, err := s.store.userOfEmail(ctx, address)
		if errors.Is(err, errNoUser) {
			return errNoAccount
		}
		if err != nil {
			return err
		}
		old, err := s.lockTarget(ctx, id)
		switch {
		case err != nil:
			return err
		case !isAdmin && !old.IsPlatformAdmin:
			return errNotAdmin
		case isAdmin && !old.IsPlatformAdmin && !old.verified:
			return errUnverified
		}
		now := s.deps.Clock.Now()
		user = old.User
		user.IsPlatformAdmin = isAdmin
		if err := s.store.setAdmin(ctx, old.ID, isAdmin, list, now); err != nil {
			return err
		}
		if isAdmin != old.IsPlatformAdmin {
			if err := s.endAll(ctx, old.ID, now); err != nil {
				return err
			}
			if err := s.deps.Impersonations.EndForTarget(ctx, old.ID); err != nil {
				return err
			}
		}
		switch {
		case isAdmin && !old.IsPlatformAdmin:
			if err := s.removeIdentities(ctx, old.ID); err != nil {
				return err
			}
		case isAdmin && len(permissions) > 0 && !slices.Contains(permissions, authz.ImpersonationStart):
			if err := s.deps.Impersonations.Expire(ctx, old.ID); err != nil {
				return err
			}
		}
		return s.recordAdmin(ctx, action, old.ID, adminAuditFields(old.IsPlatformAdmin, old.permissions), adminAuditFields(isAdmin, list))
	})
	return user, err
}

func normalizeEmail(email string) (string, error) {
	address, err := mail.NormalizeAddress(email)
	if err != nil {
		return "", fmt.Errorf("email %q: %w", email, err)
	}
	return address, nil
}

// permissionList encodes permissions as a sorted list; nil, for an empty list, is
// all of them.
func permissionList(permissions []string) (sqldb.JSON, error) {
	if len(permissions) == 0 {
		return nil, nil
	}
	for _, p := range permissions {
		if !slices.Contains(authz.PlatformPermissions(), p) {
			return nil, fmt.Errorf("%w: %q", ErrUnknownPermission, p)
		}
	}
	return json.Marshal(slices.Compact(slices.Sorted(slices.Values(permissions))))
}

// adminAuditFields is what the trail keeps of a platform admin.
func adminAuditFields(isAdmin bool, list sqldb.JSON) map[string]any {
	return map[string]any{"is_platform_admin": isAdmin, "platform_permissions": list}
}

// recordAdmin adds an entry to the trail, if the service has one.
func (s *Service) recordAdmin(ctx context.Context, action string, userID int64, before, after any) error {
	if s.deps.Audit == nil {
		return nil
	}
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, Resource: "user", ResourceID: strconv.FormatInt(userID, 10), Before: before, After: after,
	})
}
