package invoice

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// markingLease is longer than it takes to call the provider and to read the state back. Like
	// markingWait, it is real time.
	markingLease = 45 * time.Second
	// markingWait is the longest wait for another request that marks the same invoice.
	markingWait = 20 * time.Second
	// markingPause is the polling interval while waiting.
	markingPause = 50 * time.Millisecond
)

// marking is the stored form of the platform's request to record the payment of an invoice.
type marking struct {
	ID        uuid.UUID    `json:"id"` // the idempotency key
	PaidOn    string       `json:"paid_on"`
	Reference string       `json:"reference,omitempty"`
	By        authz.Origin `json:"by"`
	// IsDone means that the invoice was marked as paid. IsAnswered means that a response has
	// reported this.
	IsDone     bool `json:"is_done,omitempty"`
	IsAnswered bool `json:"is_answered,omitempty"`
}

// isRetryOf reports whether a request is a retry of an earlier request.
func (m marking) isRetryOf(earlier marking) bool {
	return m.PaidOn == earlier.PaidOn && m.Reference == earlier.Reference && m.By.UserID == earlier.By.UserID && m.By.KeyID == earlier.By.KeyID
}

// setMarking sets the invoice's payment day and reference from its stored marking, if the marking
// is done.
func (inv *Invoice) setMarking(stored sqldb.JSON) error {
	if stored == nil {
		return nil
	}
	var m marking
	if err := json.Unmarshal(stored, &m); err != nil {
		return sqldb.Wrap(err, "read marking of invoice")
	}
	if m.IsDone {
		inv.PaidOn, inv.PaymentReference = m.PaidOn, m.Reference
	}
	return nil
}

// markPaid records that an open invoice was paid outside of the provider, so that the provider does
// not charge it (rules: invoices#marking-as-paid). It returns invoice_not_payable if the invoice is
// not open.
//
// Invariant: an invoice has at most one pending marking. The marking is committed under the
// tenant's lock before the provider is called, and its ID is the idempotency key. The transaction
// that stores the paid invoice, after the response or a notification, also stores the day, the
// reference and the audit entry, once. Only one of several concurrent requests succeeds. A retry
// after an unknown outcome succeeds once, even if a notification has stored the outcome in the
// meantime.
func (s *Service) markPaid(ctx context.Context, tenantID, id uuid.UUID, m marking) (Invoice, error) {
	inv, err := s.source.get(ctx, tenantID, id)
	if err != nil {
		return Invoice{}, err
	}
	m.ID, m.By = uuid.New(), authz.OriginOf(ctx)
	claimed, isDone, err := s.claimMarking(ctx, inv, m)
	if err == nil && !isDone {
		err = s.sendMarking(ctx, inv, claimed)
	}
	if err != nil {
		return Invoice{}, err
	}
	return s.source.get(ctx, tenantID, id)
}

// sendMarking marks the invoice as paid at the provider and stores the outcome.
func (s *Service) sendMarking(ctx context.Context, inv Invoice, m marking) error {
	sent := s.deps.Provider.MarkPaid(ctx, inv.PSPInvoiceID, "mark-"+m.ID.String())
	isRefused := errors.Is(sent, psp.ErrRefused) || errors.Is(sent, psp.ErrNotFound)
	err := sent
	if err == nil || isRefused {
		err = s.refreshPaid(ctx, inv.TenantID, inv.PSPInvoiceID)
	}
	err = errors.Join(err, s.releaseMarking(context.WithoutCancel(ctx), inv, m, err == nil && !isRefused, isRefused))
	if err == nil && isRefused {
		err = errNotPayable.Wrap(sent)
	}
	return err
}

// claimMarking stores a marking, leased to the caller. It waits while another caller works on the
// invoice. isDone means that an earlier attempt of the same request has succeeded.
func (s *Service) claimMarking(ctx context.Context, inv Invoice, asked marking) (m marking, isDone bool, _ error) {
	for began := s.deps.Lease.Now(); ; {
		var isFree bool
		err := s.deps.DB.Tx(ctx, func(ctx context.Context) (err error) {
			m, isFree, isDone, err = s.takeMarking(ctx, inv, asked)
			return err
		})
		switch {
		case err != nil || isDone || isFree && m.isRetryOf(asked):
			return m, isDone, err
		case isFree: // another request with an unknown outcome
			err = s.refreshPaid(ctx, inv.TenantID, inv.PSPInvoiceID)
			err = errors.Join(err, s.releaseMarking(context.WithoutCancel(ctx), inv, m, false, err == nil))
			if err == nil {
				inv, err = s.source.get(ctx, inv.TenantID, inv.ID)
			}
		case s.deps.Lease.Now().Sub(began) >= markingWait:
			err = errNotPayable
		default:
			if !clock.Pause(ctx, markingPause) {
				return m, false, ctx.Err()
			}
			inv, err = s.source.get(ctx, inv.TenantID, inv.ID)
		}
		if err != nil {
			return m, false, err
		}
	}
}

// takeMarking is a step of claimMarking, under the tenant's lock. isFree means that m is leased to
// the caller.
func (s *Service) takeMarking(ctx context.Context, inv Invoice, asked marking) (m marking, isFree, isDone bool, _ error) {
	if _, err := s.deps.Tenants.Lock(ctx, inv.TenantID); err != nil {
		return m, false, false, err
	}
	if err := authz.Recheck(ctx); err != nil {
		return m, false, false, err
	}
	now := s.deps.Lease.Now()
	stored, leasedUntil, err := s.store.findMarking(ctx, inv)
	switch {
	case err != nil:
		return m, false, false, err
	case stored == nil && inv.Status != StatusOpen:
		return m, false, false, errNotPayable
	case stored == nil:
		err := s.store.setMarking(ctx, inv, &asked, now.Add(markingLease))
		return asked, true, false, err
	case leasedUntil.After(now):
		return *stored, false, false, nil
	case stored.IsDone && !stored.IsAnswered && asked.isRetryOf(*stored):
		stored.IsAnswered = true
		return *stored, true, true, s.store.setMarking(ctx, inv, stored, now)
	case stored.IsDone:
		return m, false, false, errNotPayable
	}
	return *stored, true, false, s.store.setMarking(ctx, inv, stored, now.Add(markingLease))
}

// releaseMarking ends the caller's lease of a marking. isAnswered means that the response reports
// the marking as done. A marking that is not done is deleted if it had no effect.
func (s *Service) releaseMarking(ctx context.Context, inv Invoice, m marking, isAnswered, hadNoEffect bool) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, inv.TenantID); err != nil {
			return err
		}
		stored, _, err := s.store.findMarking(ctx, inv)
		if err != nil || stored == nil || stored.ID != m.ID {
			return err
		}
		switch {
		case stored.IsDone:
			stored.IsAnswered = isAnswered
		case hadNoEffect:
			stored = nil
		}
		return s.store.setMarking(ctx, inv, stored, s.deps.Lease.Now())
	})
}

// completeMarking completes the pending marking of an invoice whose state is being stored, and
// returns the invoice with the marking's day and reference.
func (s *Service) completeMarking(ctx context.Context, inv Invoice, in psp.Invoice) (Invoice, error) {
	stored, leasedUntil, err := s.store.findMarking(ctx, inv)
	if err != nil || stored == nil {
		return inv, err
	}
	if !stored.IsDone && in.PaidOutside {
		stored.IsDone = true
		if err := s.store.setMarking(ctx, inv, stored, leasedUntil); err != nil {
			return inv, err
		}
		err := s.deps.Audit.Record(stored.By.NewContext(ctx), audit.Entry{
			Action: "invoice.marked_paid", TenantID: &inv.TenantID, Resource: "invoice", ResourceID: inv.ID.String(),
			Before: map[string]any{"status": StatusOpen},
			After:  map[string]any{"status": StatusPaid, "paid_on": stored.PaidOn, "reference": orNil(stored.Reference)},
		})
		if err != nil {
			return inv, err
		}
	}
	if stored.IsDone {
		inv.PaidOn, inv.PaymentReference = stored.PaidOn, stored.Reference
	}
	return inv, nil
}

// today returns the current day in the seller's time zone, or in UTC if it is unset.
func (s *Service) today() string { return dateOf(s.sellerDay()) }
