package team

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
)

// Limits that prevent invitations from being used to send mail to strangers
// (rules: team#mail-to-strangers).
const (
	maxPending = 500 // maximum number of pending invitations of a tenant

	// mailsWindow is the window in which mails to an address are counted.
	mailsWindow = time.Hour
	// mailsOfTenant is the maximum number of mails from one tenant to an address. It includes
	// resent mails and all invitations of the tenant to the address.
	mailsOfTenant = 3
	// mailsOfAll is the maximum number of mails from all tenants to an address. It is needed
	// because anyone can create any number of tenants.
	mailsOfAll = 10
)

// sentMail is an invitation mail that was sent.
type sentMail struct {
	Tenant uuid.UUID `json:"tenant"`
	At     time.Time `json:"at"`
}

// addMail returns the mails to an address including a new one, or an error (429) with the time
// until the next mail is allowed. It drops mails that are older than the window.
func addMail(sent []sentMail, tenantID uuid.UUID, now time.Time) ([]sentMail, error) {
	var recent, own []sentMail
	for _, m := range sent {
		if !m.At.Add(mailsWindow).After(now) {
			continue
		}
		recent = append(recent, m)
		if m.Tenant == tenantID {
			own = append(own, m)
		}
	}
	var wait time.Duration
	for most, mails := range map[int][]sentMail{mailsOfTenant: own, mailsOfAll: recent} {
		if len(mails) >= most { // mails are in the order in which they were sent
			wait = max(wait, mails[len(mails)-most].At.Add(mailsWindow).Sub(now))
		}
	}
	if wait > 0 {
		refusal := *errTooManyMails
		refusal.RetryAfter = wait
		return nil, &refusal
	}
	return append(recent, sentMail{Tenant: tenantID, At: now}), nil
}

// countMail counts a mail to an address, or rejects it (429).
//
// Invariant: within the window, the limits above are never exceeded, even if several tenants invite
// the address concurrently, because the address is locked before its mails are counted. The address
// is locked after the tenant, and is the last lock.
func (s *Service) countMail(ctx context.Context, tenantID uuid.UUID, email string, now time.Time) error {
	sent, err := s.store.lockMails(ctx, email, now)
	if err != nil {
		return err
	}
	if sent, err = addMail(sent, tenantID, now); err != nil {
		return err
	}
	return s.store.setMails(ctx, email, sent, now)
}

// requirePendingSlot rejects another pending invitation if the tenant has reached the maximum (422 on
// email). The caller must hold the tenant's lock.
func (s *Service) requirePendingSlot(ctx context.Context, tenantID uuid.UUID, now time.Time) error {
	seats, err := s.store.seats(ctx, tenantID, now)
	if err == nil && seats.Invitations >= maxPending {
		err = errTooManyPending
	}
	return err
}

// Prune deletes the records of addresses that were not invited recently.
func (s *Service) Prune(ctx context.Context) error {
	return s.store.pruneMails(ctx, s.deps.Clock.Now().Add(-mailsWindow))
}

var (
	errTooManyMails   = fault.New(fault.TooMany, "error.too_many_mails")
	errTooManyPending = fault.OnField("email", "validation.pending_invitations")
)
