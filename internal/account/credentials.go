package account

import (
	"context"
)

// RevokeCredentials revokes all credentials of a user, and ends the impersonations that depend on
// them.
func (s *Service) RevokeCredentials(ctx context.Context, userID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.lock(ctx, userID); err != nil {
			return err
		}
		return s.endAll(ctx, userID, s.deps.Clock.Now())
	})
}
