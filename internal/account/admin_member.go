package account

import "context"

// HashedPassword is a password in the form in which it is stored. Make it before a
// transaction begins, because hashing takes long.
type HashedPassword struct{ phc string }

// HashPassword hashes a password for SetPassword.
func (s *Service) HashPassword(ctx context.Context, password string) (HashedPassword, error) {
	hash, err := s.deps.Passwords.HashNew(ctx, password)
	return HashedPassword{hash}, err
}

// SetPassword gives a user the password that an administrator has chosen, ends
// everything that authenticates the user and tells them by mail, all in the
// transaction of ctx if there is one. For a platform admin it is
// errPlatformAdminPassword.
func (s *Service) SetPassword(ctx context.Context, userID int64, password HashedPassword) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		// The lock also keeps the user from becoming a platform admin in between.
		user, err := s.lock(ctx, userID)
		if err != nil {
			return err
		}
		if user.IsPlatformAdmin {
			return errPlatformAdminPassword
		}
		if err := s.replacePassword(ctx, userID, password.phc, s.deps.Clock.Now()); err != nil {
			return err
		}
		return s.mailPasswordChanged(ctx, user.User)
	})
}

// Rename gives a user another name, in the transaction of ctx if there is one.
func (s *Service) Rename(ctx context.Context, userID int64, name string) error {
	return s.store.rename(ctx, userID, name, s.deps.Clock.Now())
}
