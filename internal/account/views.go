package account

import (
	"context"

	"github.com/google/uuid"
)

// sessionTenant is a tenant in the response of a login.
type sessionTenant struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Slug string    `json:"slug"`
}

// SessionUser is the user in the response of a login.
type SessionUser struct {
	ID              int64           `json:"id"`
	Name            string          `json:"name"`
	Email           string          `json:"email"`
	IsPlatformAdmin bool            `json:"is_platform_admin"`
	Tenants         []sessionTenant `json:"tenants"`
}

func (s *Service) sessionUser(ctx context.Context, user User) (SessionUser, error) {
	memberships, err := s.Memberships(ctx, user.ID)
	if err != nil {
		return SessionUser{}, err
	}
	tenants := make([]sessionTenant, len(memberships))
	for i, m := range memberships {
		tenants[i] = sessionTenant{ID: m.TenantID, Name: m.Name, Slug: m.Slug}
	}
	return SessionUser{
		ID: user.ID, Name: user.Name, Email: user.Email, IsPlatformAdmin: user.IsPlatformAdmin, Tenants: tenants,
	}, nil
}
