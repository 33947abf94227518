package account

import "context"

// HashedPassword is the hash of a password. Compute it before a transaction begins, because hashing
// is slow.
type HashedPassword struct{ phc string }

// HashPassword hashes a password for SetPassword.
func (s *Service) HashPassword(ctx context.Context, password string) (HashedPassword, error) {
	hash, err := s.deps.Passwords.HashNew(ctx, password)
	return HashedPassword{hash}, err
}

// SetPassword sets the password that an admin has chosen for a user, ends all credentials of the
// user and notifies the user by mail. It uses the transaction of ctx if there is one. For a
// platform admin it returns errPlatformAdminPassword.
func (s *Service) SetPassword(ctx context.Context, userID int64, password HashedPassword) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		// The lock also prevents the user from becoming a platform admin concurrently.
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

// Rename changes the name of a user, in the transaction of ctx if there is one.
func (s *Service) Rename(ctx context.Context, userID int64, name string) error {
	return s.store.rename(ctx, userID, name, s.deps.Clock.Now())
}
