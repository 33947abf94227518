package team

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
)

// What keeps invitations from being used to send mail to strangers (rules:
// team#mail-to-strangers).
const (
	maxPending = 500 // invitations of a tenant that can be accepted

	// mailsWindow is the time in which mails to an address are counted.
	mailsWindow = time.Hour
	// mailsOfTenant is how many of them one tenant may cause: the first of an
	// invitation and those of resending, of all its invitations to the address.
	mailsOfTenant = 3
	// mailsOfAll is how many all tenants together may cause, because anybody can make
	// any number of tenants.
	mailsOfAll = 10
)

// sentMail is a mail of an invitation.
type sentMail struct {
	Tenant uuid.UUID `json:"tenant"`
	At     time.Time `json:"at"`
}

// addMail returns the mails to an address once another is sent, or a refusal (429)
// that says when the next may be sent. Mails that are older than the window are left
// out.
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
		if len(mails) >= most { // in the order in which they were sent
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

// countMail counts a mail to an address, or refuses it (429).
//
// Invariant: never more mails within the window than the constants say, also when
// several tenants invite the address at once, because the address is locked before they
// are counted. It is locked after the tenant, and nothing is locked after it.
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

// needPending refuses another pending invitation where the tenant has as many as
// possible (422 on email). The caller holds the tenant's lock.
func (s *Service) needPending(ctx context.Context, tenantID uuid.UUID, now time.Time) error {
	seats, err := s.store.seats(ctx, tenantID, now)
	if err == nil && seats.Invitations >= maxPending {
		err = errTooManyPending
	}
	return err
}

// Prune deletes what is kept about addresses that were not invited lately.
func (s *Service) Prune(ctx context.Context) error {
	return s.store.pruneMails(ctx, s.deps.Clock.Now().Add(-mailsWindow))
}

var (
	errTooManyMails   = fault.New(fault.TooMany, "error.too_many_mails")
	errTooManyPending = fault.OnField("email", "validation.pending_invitations")
)
