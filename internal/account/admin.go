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

// Admin is a platform admin. Only the CLI can grant, change and revoke this role, never the HTTP
// API (rules: account#platform-admins).
type Admin struct {
	User
	// Permissions are the admin's permissions; nil means all.
	Permissions []string
}

// CreateAdmin creates an account that is a platform admin. An empty list of permissions means all.
func (s *Service) CreateAdmin(ctx context.Context, name, email, password string, permissions []string) (User, error) {
	address, err := normalizeEmail(email)
	if err != nil {
		return User{}, err
	}
	name = shape.NormalText(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > 255 || !shape.IsName(name) {
		return User{}, errors.New("name: must have 1 to 255 characters, without control, format or private-use characters")
	}
	if shape.PasswordLength(password) < 8 || len(password) > 1024 {
		return User{}, errors.New("password: must have at least 8 characters and at most 1024 bytes")
	}
	if isCommonPassword(password) {
		return User{}, errors.New("password: too common; choose another one")
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
		err = errAccountExists
	}
	return user, err
}

// Admins returns the platform admins, ordered by ID.
func (s *Service) Admins(ctx context.Context) ([]Admin, error) {
	return s.store.admins(ctx)
}

// GrantAdmin makes an account a platform admin, or changes the permissions of an admin. An empty
// list of permissions means all. A new admin must log in again, so that no existing login gains
// permissions. Impersonations of the user end, and the user's provider identities are removed:
// control of an identity provider must not give control of the platform (rules:
// account#platform-admins). It returns errNoAccount if no account uses the email, and errUnverified
// if the email is not verified.
func (s *Service) GrantAdmin(ctx context.Context, email string, permissions []string) (User, error) {
	list, err := permissionList(permissions)
	if err != nil {
		return User{}, err
	}
	return s.changeAdmin(ctx, "admin.granted", email, true, permissions, list)
}

// RevokeAdmin makes a platform admin an ordinary user again. It ends all credentials of the user,
// and their impersonation of another user. It returns errNoAccount if no account uses the email,
// and errNotAdmin if the account is not an admin.
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

// permissionList encodes the permissions as a sorted list. It returns nil, which means all, for an
// empty list.
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

// adminAuditFields returns the audited fields of a platform admin.
func adminAuditFields(isAdmin bool, list sqldb.JSON) map[string]any {
	return map[string]any{"is_platform_admin": isAdmin, "platform_permissions": list}
}

// recordAdmin adds an audit entry, if auditing is enabled.
func (s *Service) recordAdmin(ctx context.Context, action string, userID int64, before, after any) error {
	if s.deps.Audit == nil {
		return nil
	}
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, Resource: "user", ResourceID: strconv.FormatInt(userID, 10), Before: before, After: after,
	})
}
