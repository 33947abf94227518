package selfservice

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Kept is everything that is kept about a user: nothing of others, and nothing that
// somebody could log in with. Export adds the lists that can be long: invitations that the
// user has sent, and what the user has changed.
type Kept struct {
	ExportedAt    shape.Time       `json:"exported_at"`
	Account       KeptAccount      `json:"account"`
	Tenants       []KeptPlace      `json:"tenants"`
	Logins        []UserSession    `json:"logins"`
	Identities    []KeptIdentity   `json:"identities"`
	Browsers      []KeptBrowser    `json:"push_subscriptions"`
	Links         []KeptLink       `json:"email_verifications"`
	Invitations   []KeptInvitation `json:"invitations_received"`
	Keys          []KeptKey        `json:"api_keys_created"`
	Impersonation []KeptActed      `json:"impersonations"`
}

// KeptAccount is the user's own row.
type KeptAccount struct {
	ID              int64       `json:"id"`
	Name            string      `json:"name"`
	Email           string      `json:"email"`
	EmailVerifiedAt *shape.Time `json:"email_verified_at"`
	Locale          *string     `json:"locale"`
	HasPassword     bool        `json:"has_password"`
	Avatar          *string     `json:"avatar"` // its path
	IsPlatformAdmin bool        `json:"is_platform_admin"`
	CreatedAt       shape.Time  `json:"created_at"`
	UpdatedAt       shape.Time  `json:"updated_at"`
}

// KeptPlace is a tenant that the user is in, or was in until it was deleted.
type KeptPlace struct {
	ID        uuid.UUID   `json:"id"`
	Name      string      `json:"name"`
	Role      string      `json:"role"`
	JoinedAt  shape.Time  `json:"joined_at"`
	DeletedAt *shape.Time `json:"deleted_at"`
}

// KeptIdentity is who the user is at an identity provider.
type KeptIdentity struct {
	Provider   string      `json:"provider"`
	Subject    string      `json:"subject"`
	Email      string      `json:"email"`
	CreatedAt  shape.Time  `json:"created_at"`
	LastUsedAt *shape.Time `json:"last_used_at"`
}

// KeptBrowser is a browser that gets the user's push messages.
type KeptBrowser struct {
	Endpoint  string     `json:"endpoint"`
	CreatedAt shape.Time `json:"created_at"`
}

// KeptLink is a link that was mailed and works still.
type KeptLink struct {
	Email     string     `json:"email"`
	CreatedAt shape.Time `json:"created_at"`
	ExpiresAt shape.Time `json:"expires_at"`
}

// KeptInvitation is an invitation of the user.
type KeptInvitation struct {
	Tenant    string     `json:"tenant"`
	Status    string     `json:"status"`
	CreatedAt shape.Time `json:"created_at"`
	ExpiresAt shape.Time `json:"expires_at"`
}

// KeptSent is an invitation by the user, without whom it was for.
type KeptSent struct {
	ID        uuid.UUID  `json:"id"`
	Status    string     `json:"status"`
	CreatedAt shape.Time `json:"created_at"`
}

// KeptKey is an API key that the user has made.
type KeptKey struct {
	ID        uuid.UUID  `json:"id"`
	Name      string     `json:"name"`
	CreatedAt shape.Time `json:"created_at"`
}

// KeptChange is something that the user has changed, without its contents, which may be
// others'.
type KeptChange struct {
	Action     string     `json:"action"`
	Resource   string     `json:"resource"`
	ResourceID string     `json:"resource_id"`
	TenantID   *uuid.UUID `json:"tenant_id"`
	IP         string     `json:"ip"`
	UserAgent  string     `json:"user_agent"`
	CreatedAt  shape.Time `json:"created_at"`
}

// KeptActed is when an administrator began or stopped to act as the user.
type KeptActed struct {
	Action    string     `json:"action"`
	CreatedAt shape.Time `json:"created_at"`
}

// Export returns everything that is kept about a user as a JSON document, whose last keys,
// invitations_sent and audit_log, are read while it is sent.
func (s *Service) Export(ctx context.Context, userID int64) (io.ReadCloser, error) {
	kept, err := s.kept(ctx, userID)
	if err != nil {
		return nil, err
	}
	head, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return nil, err
	}
	head = bytes.TrimSuffix(head, []byte("\n}"))
	lists := []longList{s.store.sent(userID), s.store.changes(userID)}
	first := true // nothing of the list was written yet
	return rest.Pages(ctx, func(ctx context.Context, page *bytes.Buffer) (bool, error) {
		entries, more, err := lists[0].next(ctx)
		if err != nil {
			return false, err
		}
		page.Write(head)
		head = nil
		if first {
			page.WriteString(",\n  \"" + lists[0].name + "\": [")
		}
		for i, entry := range entries {
			text, err := json.Marshal(entry)
			if err != nil {
				return false, err
			}
			if i > 0 || !first {
				page.WriteByte(',')
			}
			page.WriteString("\n    ")
			page.Write(text)
		}
		if first = !more; more {
			return true, nil
		}
		page.WriteString("\n  ]")
		if lists = lists[1:]; len(lists) > 0 {
			return true, nil
		}
		page.WriteString("\n}\n")
		return false, nil
	}), nil
}

// kept returns what is kept about a user, but for their changes.
func (s *Service) kept(ctx context.Context, userID int64) (Kept, error) {
	kept, err := s.store.kept(ctx, userID)
	if err != nil {
		return Kept{}, err
	}
	logins, err := s.Logins(ctx, userID)
	if err != nil {
		return Kept{}, err
	}
	kept.ExportedAt, kept.Logins = shape.T(s.deps.Clock.Now()), make([]UserSession, len(logins))
	for i, l := range logins {
		kept.Logins[i] = session(l, uuid.Nil)
	}
	return kept, nil
}
