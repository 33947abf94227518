package account

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Credential is something that authenticates a user at present.
type Credential struct {
	ID        uuid.UUID
	Kind      string    // access, refresh or session
	Family    uuid.UUID // shared by all that descends from one login
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Credentials lists everything that authenticates a user, the newest first.
func (s *Service) Credentials(ctx context.Context, userID int64) ([]Credential, error) {
	return s.store.credentials(ctx, userID, s.deps.Clock.Now())
}

// RevokeCredentials ends everything that authenticates a user, and with it their
// impersonation of somebody else.
func (s *Service) RevokeCredentials(ctx context.Context, userID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.lock(ctx, userID); err != nil {
			return err
		}
		return s.endAll(ctx, userID, s.deps.Clock.Now())
	})
}
