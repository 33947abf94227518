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

// Export holds the personal data of a user, without data of other people and without credentials.
// Service.Export adds the lists that can be long: sent invitations, audit entries and logged requests.
type Export struct {
	ExportedAt    shape.Time            `json:"exported_at"`
	Account       ExportAccount         `json:"account"`
	Tenants       []ExportMembership    `json:"tenants"`
	Logins        []UserSession         `json:"logins"`
	Identities    []ExportIdentity      `json:"identities"`
	Factors       ExportFactors         `json:"second_factors"`
	Devices       []ExportDevice        `json:"known_browsers"`
	Browsers      []ExportBrowser       `json:"push_subscriptions"`
	Links         []ExportLink          `json:"email_verifications"`
	Invitations   []ExportInvitation    `json:"invitations_received"`
	Keys          []ExportKey           `json:"api_keys_created"`
	Impersonation []ExportImpersonation `json:"impersonations"`
}

// ExportAccount is the account of the user.
type ExportAccount struct {
	ID              int64       `json:"id"`
	Name            string      `json:"name"`
	Email           string      `json:"email"`
	ExternalID      *string     `json:"external_id"`
	EmailVerifiedAt *shape.Time `json:"email_verified_at"`
	Locale          *string     `json:"locale"`
	HasPassword     bool        `json:"has_password"`
	Avatar          *string     `json:"avatar"` // path
	IsPlatformAdmin bool        `json:"is_platform_admin"`
	LastLoginAt     *shape.Time `json:"last_login_at"`
	CreatedAt       shape.Time  `json:"created_at"`
	UpdatedAt       shape.Time  `json:"updated_at"`
}

// ExportMembership is a membership of the user. The tenant can be deleted.
type ExportMembership struct {
	ID        uuid.UUID   `json:"id"`
	Name      string      `json:"name"`
	Role      string      `json:"role"`
	JoinedAt  shape.Time  `json:"joined_at"`
	DeletedAt *shape.Time `json:"deleted_at"`
}

// ExportIdentity is an identity of the user at an identity provider.
type ExportIdentity struct {
	Provider   string      `json:"provider"`
	Subject    string      `json:"subject"`
	Email      string      `json:"email"`
	CreatedAt  shape.Time  `json:"created_at"`
	LastUsedAt *shape.Time `json:"last_used_at"`
}

// ExportFactors are the second factors of the user, without secrets.
type ExportFactors struct {
	TOTP          *ExportFactor  `json:"totp"`
	Passkeys      []ExportFactor `json:"passkeys"`
	RecoveryCodes int64          `json:"recovery_codes_remaining"`
}

// ExportFactor is an authenticator app or a passkey. Only passkeys have names.
type ExportFactor struct {
	Name       string      `json:"name,omitempty"`
	CreatedAt  shape.Time  `json:"created_at"`
	LastUsedAt *shape.Time `json:"last_used_at"`
}

// ExportDevice is a pair of browser and network of the user's logins. Only its hash is stored.
type ExportDevice struct {
	Hash            string      `json:"hash"`
	LastLoginAt     shape.Time  `json:"last_login_at"`
	PreviousLoginAt *shape.Time `json:"previous_login_at"`
}

// ExportBrowser is a browser that receives the user's push messages.
type ExportBrowser struct {
	Endpoint  string     `json:"endpoint"`
	CreatedAt shape.Time `json:"created_at"`
}

// ExportLink is a mailed link that is still valid.
type ExportLink struct {
	Email     string     `json:"email"`
	CreatedAt shape.Time `json:"created_at"`
	ExpiresAt shape.Time `json:"expires_at"`
}

// ExportInvitation is an invitation that the user has received.
type ExportInvitation struct {
	Tenant    string     `json:"tenant"`
	Status    string     `json:"status"`
	CreatedAt shape.Time `json:"created_at"`
	ExpiresAt shape.Time `json:"expires_at"`
}

// ExportSentInvitation is an invitation that the user has sent, without its recipient.
type ExportSentInvitation struct {
	ID        uuid.UUID  `json:"id"`
	Status    string     `json:"status"`
	CreatedAt shape.Time `json:"created_at"`
}

// ExportKey is an API key that the user has created.
type ExportKey struct {
	ID        uuid.UUID  `json:"id"`
	Name      string     `json:"name"`
	CreatedAt shape.Time `json:"created_at"`
}

// ExportChange is an audit entry of the user, without the changed values, which may be data of
// other people.
type ExportChange struct {
	Action     string     `json:"action"`
	Resource   string     `json:"resource"`
	ResourceID string     `json:"resource_id"`
	TenantID   *uuid.UUID `json:"tenant_id"`
	IP         string     `json:"ip"`
	UserAgent  string     `json:"user_agent"`
	CreatedAt  shape.Time `json:"created_at"`
}

// ExportRequest is a request of the user that failed and is in the request log.
type ExportRequest struct {
	Method    string     `json:"method"`
	Route     *string    `json:"route"`
	Path      *string    `json:"path"`
	Status    int32      `json:"status"`
	Code      *string    `json:"code"`
	TenantID  *uuid.UUID `json:"tenant_id"`
	IP        string     `json:"ip"`
	CreatedAt shape.Time `json:"created_at"`
}

// ExportImpersonation records when an admin started or stopped impersonating the user.
type ExportImpersonation struct {
	Action    string     `json:"action"`
	CreatedAt shape.Time `json:"created_at"`
}

// Export returns the personal data of a user as a JSON document. Its last keys, invitations_sent,
// audit_log and request_log, are read page by page while the document is sent.
func (s *Service) Export(ctx context.Context, userID int64) (io.ReadCloser, error) {
	kept, err := s.loadExport(ctx, userID)
	if err != nil {
		return nil, err
	}
	head, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return nil, err
	}
	head = bytes.TrimSuffix(head, []byte("\n}"))
	lists := []longList{s.store.sentInvitations(userID), s.store.changes(userID), s.store.requests(userID)}
	first := true // nothing of the current list has been written
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

// loadExport loads the personal data of a user except the long lists.
func (s *Service) loadExport(ctx context.Context, userID int64) (Export, error) {
	kept, err := s.store.loadExport(ctx, userID)
	if err != nil {
		return Export{}, err
	}
	logins, err := s.Logins(ctx, userID)
	if err != nil {
		return Export{}, err
	}
	if kept.Factors, err = s.exportFactors(ctx, userID); err != nil {
		return Export{}, err
	}
	kept.ExportedAt, kept.Logins = shape.T(s.deps.Clock.Now()), make([]UserSession, len(logins))
	for i, l := range logins {
		kept.Logins[i] = session(l, uuid.Nil)
	}
	return kept, nil
}

// exportFactors loads the second factors of a user.
func (s *Service) exportFactors(ctx context.Context, userID int64) (ExportFactors, error) {
	o, err := s.deps.Factors.Overview(ctx, userID)
	if err != nil {
		return ExportFactors{}, err
	}
	v := ExportFactors{Passkeys: make([]ExportFactor, len(o.Passkeys)), RecoveryCodes: o.Remaining}
	if o.TOTP != nil {
		v.TOTP = &ExportFactor{CreatedAt: shape.T(o.TOTP.CreatedAt), LastUsedAt: shape.TP(o.TOTP.LastUsedAt)}
	}
	for i, p := range o.Passkeys {
		v.Passkeys[i] = ExportFactor{Name: p.Name, CreatedAt: shape.T(p.CreatedAt), LastUsedAt: shape.TP(p.LastUsedAt)}
	}
	return v, nil
}
