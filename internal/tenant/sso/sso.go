// Package sso implements the single sign-on of tenants: members log in at the OpenID Connect issuer
// of their tenant (rules: tenant#single-sign-on).
//
// Invariant: the identity of a person is the pair of connection and subject, never the email. The
// email is only used at the first login, to find an account to link, and only if the tenant has
// verified the domain of the email.
package sso

import (
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// The defaults and limits of a connection.
const (
	defaultSessionHours = 24
	maxSessionHours     = 720
)

// Connection is the single sign-on of a tenant.
type Connection struct {
	ID       uuid.UUID
	TenantID uuid.UUID
	Terms
	RoleID         int64 // of new members
	setBy          *int64
	setPermissions []string // of the user who set the issuer and the client ID, at that time
	LastLoginAt    *time.Time
	LastError      *string
	LastTestAt     *time.Time
	LastTestResult *string
	Domains        []string // the verified domains of the tenant
}

// Terms are the fields of a connection that a tenant sets.
type Terms struct {
	Issuer, ClientID string
	Secret           string // in plain text in a request, encrypted when read; "" keeps the stored one
	Role             string // name
	ProvisionMembers bool
	Required         bool
	CountsAsMFA      bool
	SessionHours     int64
}

// sameClient reports whether both terms are about the same client of the same issuer.
func (t Terms) sameClient(other Terms) bool {
	return t.Issuer == other.Issuer && t.ClientID == other.ClientID
}

// setFully reports whether the user who set the issuer and the client ID had all of the permissions.
func (c Connection) setFully(permissions []string) bool {
	return !slices.ContainsFunc(permissions, func(p string) bool { return !slices.Contains(c.setPermissions, p) })
}

// isIssuer reports whether a text has the form of an issuer: an absolute URL without user info,
// query and fragment.
func isIssuer(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.Opaque == "" && u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" &&
		text[len(text)-1] != '#'
}

func auditFields(c *Connection) any {
	if c == nil {
		return nil
	}
	return map[string]any{
		"issuer": c.Issuer, "client_id": c.ClientID, "role": c.Role, "provision_members": c.ProvisionMembers,
		"required": c.Required, "counts_as_mfa": c.CountsAsMFA, "session_hours": c.SessionHours,
	}
}

// heldBy returns the permissions of a caller in their tenant.
func heldBy(caller *authz.Caller) []string {
	if caller == nil || caller.Tenant == nil {
		return nil
	}
	return caller.Tenant.Permissions
}
