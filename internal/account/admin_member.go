package account

import (
	"context"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
)

// ErrPlatformAdminPassword says that nobody sets the password of a platform
// administrator over HTTP (403).
var ErrPlatformAdminPassword = fault.New(fault.Forbidden, "error.platform_admin_password")

// HashedPassword is a password in the form that is stored. It is made before a
// transaction begins: hashing takes long.
type HashedPassword struct{ phc string }

// HashPassword makes a password ready for SetPassword.
func (s *Service) HashPassword(ctx context.Context, password string) (HashedPassword, error) {
	hash, err := s.deps.Passwords.Hash(ctx, password)
	return HashedPassword{hash}, err
}

// SetPassword gives a user the password that an administrator has chosen, ends
// everything that authenticates the user and tells them by mail, all in the
// transaction of ctx if there is one.
func (s *Service) SetPassword(ctx context.Context, userID int64, password HashedPassword) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		// Locked, so that nobody becomes an administrator in between.
		user, err := s.store.q(ctx).LockUserByID(ctx, userID)
		if err != nil {
			return err
		}
		if user.IsPlatformAdmin {
			return ErrPlatformAdminPassword
		}
		now := s.deps.Clock.Now()
		if err := s.store.updatePassword(ctx, userID, password.phc, now); err != nil {
			return err
		}
		if err := s.store.revokeAll(ctx, userID, now); err != nil {
			return err
		}
		// A link that is on its way would take the new password away again.
		if err := s.store.q(ctx).DeletePasswordReset(ctx, userID); err != nil {
			return err
		}
		return s.deps.Notices.PasswordChanged(ctx, i18n.Locale(ctx), user.Email, user.Name)
	})
}

// Rename gives a user another name, in the transaction of ctx if there is one.
func (s *Service) Rename(ctx context.Context, userID int64, name string) error {
	return s.store.q(ctx).RenameUser(ctx, accountsql.RenameUserParams{ID: userID, Name: name, UpdatedAt: s.deps.Clock.Now()})
}
