package account

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// activeCredential is an active credential of a user.
type activeCredential struct {
	ID        uuid.UUID
	Kind      string    // access, refresh or session
	Family    uuid.UUID // shared by all credentials of one login
	CreatedAt time.Time
	ExpiresAt time.Time
}

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
