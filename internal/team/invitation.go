package team

import (
	"time"

	"github.com/google/uuid"
)

// Status is the state of an invitation (rules: team#invitations).
type Status string

// The states.
const (
	InvitationPending  Status = "pending"
	InvitationAccepted Status = "accepted"
	InvitationRevoked  Status = "revoked"
	InvitationExpired  Status = "expired"
)

// Invitation asks the owner of an email to join a tenant. Its status is that at the
// time when it was read.
type Invitation struct {
	ID        uuid.UUID
	Tenant    uuid.UUID
	Email     string // in the form of mail.NormalizeAddress
	RoleID    int64
	Role      string // its name
	Status    Status
	IsExpired bool // expires_at has passed, whatever the status
	ExpiresAt time.Time
	// TenantName, InviterID and Inviter say who invites.
	TenantName string
	InviterID  int64
	Inviter    string
	CreatedAt  time.Time
	UpdatedAt  time.Time

	days      int    // how many days it works after it was sent
	tokenHash string // of the token that was mailed last
}

// withStatusAt returns the invitation with the status that it has at now: it expires at
// ExpiresAt.
func (i Invitation) withStatusAt(now time.Time) Invitation {
	i.IsExpired = !i.ExpiresAt.After(now)
	if i.Status == InvitationPending && i.IsExpired {
		i.Status = InvitationExpired
	}
	return i
}

// Valid reports whether it can be accepted.
func (i Invitation) Valid() bool { return i.Status == InvitationPending }

// checkOpen refuses an invitation that was revoked or accepted.
func (i Invitation) checkOpen() error {
	switch i.Status {
	case InvitationRevoked:
		return errRevoked
	case InvitationAccepted:
		return errAccepted
	default:
		return nil
	}
}

// checkAcceptable refuses, in this order, an invitation that was revoked, accepted, has
// expired, or was sent to another email.
func (i Invitation) checkAcceptable(email string) error {
	if err := i.checkOpen(); err != nil {
		return err
	}
	switch {
	case i.Status == InvitationExpired:
		return errExpired
	case i.Email != email:
		return errOtherEmail
	}
	return nil
}

// withNewToken returns the invitation as it is after it was sent with a new token.
func (i Invitation) withNewToken(now time.Time, tokenHash string) Invitation {
	i.Status, i.tokenHash, i.UpdatedAt = InvitationPending, tokenHash, now
	i.ExpiresAt = now.Add(time.Duration(i.days) * 24 * time.Hour)
	return i.withStatusAt(now)
}
