package account

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
)

// Credential is something that authenticates a user now.
type Credential struct {
	ID        uuid.UUID
	Kind      string    // access, refresh or session
	Family    uuid.UUID // what descends from one login has one
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Credentials lists everything that authenticates a user, the newest first.
func (s *Service) Credentials(ctx context.Context, userID int64) ([]Credential, error) {
	rows, err := s.store.q(ctx).CredentialsOfUser(ctx, accountsql.CredentialsOfUserParams{UserID: userID, Now: s.deps.Clock.Now()})
	credentials := make([]Credential, len(rows))
	for i, row := range rows {
		credentials[i] = Credential{ID: row.ID, Kind: row.Kind, Family: row.Family, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt}
	}
	return credentials, err
}

// RevokeCredentials ends everything that authenticates a user, in one statement,
// and with it what they do as somebody else.
func (s *Service) RevokeCredentials(ctx context.Context, userID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		return s.revokeAll(ctx, userID, s.deps.Clock.Now())
	})
}
