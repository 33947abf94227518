package team

import (
	"time"

	"github.com/google/uuid"
)

// Status is the state of an invitation (spec: Invitation status).
type Status string

// The states.
const (
	Pending  Status = "pending"
	Accepted Status = "accepted"
	Revoked  Status = "revoked"
	Expired  Status = "expired"
)

// Invitation asks the owner of an email to join a tenant. It reads as it is at
// the moment when it was read.
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

	days      int    // how long it works from each sending on
	tokenHash string // of the token that was mailed last
}

// at makes an invitation read as it is at a moment: expired from expires_at on.
func (i Invitation) at(now time.Time) Invitation {
	i.IsExpired = !i.ExpiresAt.After(now)
	if i.Status == Pending && i.IsExpired {
		i.Status = Expired
	}
	return i
}

// Valid tells whether it can be accepted.
func (i Invitation) Valid() bool { return i.Status == Pending }

// open refuses what is over: a revoked invitation and an accepted one.
func (i Invitation) open() error {
	switch i.Status {
	case Revoked:
		return errRevoked
	case Accepted:
		return errAccepted
	default:
		return nil
	}
}

// acceptableBy refuses in the order of the contract: revoked, accepted, expired,
// sent to another email.
func (i Invitation) acceptableBy(email string) error {
	if err := i.open(); err != nil {
		return err
	}
	switch {
	case i.Status == Expired:
		return errExpired
	case i.Email != email:
		return errOtherEmail
	}
	return nil
}

// sent is the invitation after it was sent anew with another token.
func (i Invitation) sent(now time.Time, tokenHash string) Invitation {
	i.Status, i.tokenHash, i.UpdatedAt = Pending, tokenHash, now
	i.ExpiresAt = now.Add(time.Duration(i.days) * 24 * time.Hour)
	return i.at(now)
}
