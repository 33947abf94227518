package team

import (
	"time"

	"github.com/google/uuid"
)

// Status is the status of an invitation (rules: team#invitations).
type Status string

// The statuses.
const (
	InvitationPending  Status = "pending"
	InvitationAccepted Status = "accepted"
	InvitationRevoked  Status = "revoked"
	InvitationExpired  Status = "expired"
)

// Invitation is an invitation to join a tenant. Its status is the status at the time when it was
// read.
type Invitation struct {
	ID        uuid.UUID
	Tenant    uuid.UUID
	Email     string // in the form of mail.NormalizeAddress
	RoleID    int64
	Role      string // name of the role
	Status    Status
	IsExpired bool // the expiry date has passed, whatever the status
	ExpiresAt time.Time
	// TenantName, InviterID and Inviter identify the inviting tenant and user. InviterID is 0, and
	// Inviter empty, for an invitation by a platform key.
	TenantName string
	InviterID  int64
	Inviter    string
	CreatedAt  time.Time
	UpdatedAt  time.Time

	days      int    // validity in days after it was sent
	tokenHash string // hash of the token that was mailed last
}

// withStatusAt returns the invitation with its status at the given time. An invitation expires at
// ExpiresAt.
func (i Invitation) withStatusAt(now time.Time) Invitation {
	i.IsExpired = !i.ExpiresAt.After(now)
	if i.Status == InvitationPending && i.IsExpired {
		i.Status = InvitationExpired
	}
	return i
}

// Valid reports whether the invitation can be accepted.
func (i Invitation) Valid() bool { return i.Status == InvitationPending }

// checkOpen rejects an invitation that was revoked or accepted.
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

// checkAcceptable rejects, in this order, an invitation that was revoked, was accepted, has
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

// withNewToken returns the invitation as sent again with a new token.
func (i Invitation) withNewToken(now time.Time, tokenHash string) Invitation {
	i.Status, i.tokenHash, i.UpdatedAt = InvitationPending, tokenHash, now
	i.ExpiresAt = now.Add(time.Duration(i.days) * 24 * time.Hour)
	return i.withStatusAt(now)
}
