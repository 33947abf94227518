package account

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Credential is an active credential of a user.
type Credential struct {
	ID        uuid.UUID
	Kind      string    // access, refresh or session
	Family    uuid.UUID // shared by all credentials of one login
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Credentials returns the active credentials of a user, newest first.
func (s *Service) Credentials(ctx context.Context, userID int64) ([]Credential, error) {
	return s.store.credentials(ctx, userID, s.deps.Clock.Now())
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
