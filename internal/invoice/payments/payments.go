// Package payments stores the payment state and the payment history of the provider's invoices
// (rules: invoices#payments). Totals, failed payments and timelines therefore need no call to the
// provider.
package payments

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Event types of invoices and payments in timelines.
const (
	EventIssued         = "invoice.issued"
	EventVoided         = "invoice.voided"
	EventSucceeded      = "payment.succeeded"
	EventFailed         = "payment.failed"
	EventActionRequired = "payment.action_required"
	EventRefunded       = "refund.created"
	EventRefundFailed   = "refund.failed"
)

// The invoice statuses that matter for payments (rules: invoices#status).
const (
	draft      = "draft"
	statusOpen = "open"
	statusPaid = "paid"
	void       = "void"
)

var (
	errNoTenant = fault.New(fault.NotFound, "error.not_found")
	errNotFound = errors.New("the invoice is not stored")
)

// Book stores and reads payment data.
type Book struct {
	store  store
	clock  clock.Clock
	wallet customers.Wallet
}

// NewBook returns a Book. It uses w to read data that is not stored locally.
func NewBook(db *sqldb.DB, c clock.Clock, w customers.Wallet) *Book {
	return &Book{store: store{db}, clock: c, wallet: w}
}

// State is the state of a provider invoice.
type State struct {
	Invoice psp.Invoice
	// Failure is the failure of the last payment, if it failed.
	Failure customers.Failure
}

// LoadState returns the state of an invoice that was just read from the provider. If a payment
// failed, it calls the provider for the reason, so it must not be called in a transaction.
func (b *Book) LoadState(ctx context.Context, in psp.Invoice) (State, error) {
	failure, err := b.wallet.FailureOf(ctx, in)
	return State{in, failure}, err
}

// StoreState stores the state of a tenant's invoice and adds new entries to its history. id and
// issued are the invoice's ID and issue date in this service. The caller must hold the tenant's
// lock in a transaction.
//
// Invariant: a history entry has the same key each time the invoice is read. It is therefore stored
// once, regardless of the number and order of the states.
//
// StoreState reports whether the state was stored. It discards a state that is older than the
// stored one.
func (b *Book) StoreState(ctx context.Context, tenantID, id uuid.UUID, issued time.Time, s State) (isCurrent bool, err error) {
	taken, err := b.store.noteState(ctx, tenantID, issued, b.failedAt(s), s)
	if err != nil || !taken || s.Invoice.Status == draft {
		return taken, err
	}
	for _, e := range b.entries(issued, s) {
		if _, err := b.store.add(ctx, tenantID, id, e); err != nil {
			return false, err
		}
	}
	return true, nil
}

// IsBehind reports whether the stored state of an invoice is missing or differs from in.
func (b *Book) IsBehind(ctx context.Context, tenantID uuid.UUID, in psp.Invoice) (bool, error) {
	row, err := b.store.state(ctx, tenantID, in.ID)
	if errors.Is(err, errNotFound) || err == nil && row.Status == nil {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return *row.Status != in.Status || row.TotalCents != in.Total || row.PaidCents != in.Paid || row.OpenCents != amountDue(in) || int64(row.Attempts) != in.Attempts ||
		!sameTime(row.NextAttemptAt, in.NextAttemptAt), nil
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// amountDue returns the amount due of an invoice. It is 0 while a bank debit is in progress.
func amountDue(in psp.Invoice) int64 {
	if in.Status != statusOpen || in.InProgress {
		return 0
	}
	return in.Open
}

// failedAt returns the time of the last failed payment, or nil if no payment failed.
func (b *Book) failedAt(s State) *time.Time {
	if s.Failure.Key == "" || s.Failure.At != nil {
		return s.Failure.At
	}
	now := b.now()
	return &now
}

// now returns the time in the provider's precision (seconds), so that timestamps of the provider
// and of this service sort correctly.
func (b *Book) now() time.Time { return b.clock.Now().Truncate(time.Second) }

// entry is an entry in the history of an invoice.
type entry struct {
	key, kind, currency string
	amount              int64
	declineCode         string
	nextAttemptAt       *time.Time
	at                  time.Time
}

// entries returns the history entries that follow from the state of an issued invoice.
func (b *Book) entries(issued time.Time, s State) []entry {
	in, now := s.Invoice, b.now()
	found := []entry{{key: "issued", kind: EventIssued, amount: in.Total, at: timeOr(in.FinalizedAt, issued)}}
	if s.Failure.Key != "" {
		e := entry{key: s.Failure.Key, kind: EventFailed, amount: in.AmountDue, declineCode: s.Failure.Code, nextAttemptAt: in.NextAttemptAt, at: timeOr(s.Failure.At, now)}
		if s.Failure.Confirm {
			e.kind = EventActionRequired
		}
		found = append(found, e)
	}
	switch {
	case in.Status == statusPaid && in.Paid > 0:
		found = append(found, entry{key: "paid", kind: EventSucceeded, amount: in.Paid, at: timeOr(in.PaidAt, now)})
	case in.Status == void:
		found = append(found, entry{key: "void", kind: EventVoided, amount: in.Total, at: timeOr(in.VoidedAt, now)})
	}
	for i := range found {
		found[i].currency = in.Currency
	}
	return found
}

func timeOr(at *time.Time, otherwise time.Time) time.Time {
	if at == nil {
		return otherwise
	}
	return *at
}

// StoreRefunds stores the refunds of a tenant's invoice, oldest first. It reports whether one of
// them is new and has not failed. The caller must hold the tenant's lock in a transaction.
//
// Invariant: a refund counts once. After it has failed, it never counts again, regardless of the
// number and order of its states.
func (b *Book) StoreRefunds(ctx context.Context, tenantID, id uuid.UUID, refunds []invoices.Refund) (isNew bool, _ error) {
	for _, r := range refunds {
		e := entry{key: r.ID, kind: EventRefunded, currency: r.Currency, amount: r.Amount, at: r.At}
		if r.Status == invoices.RefundFailed {
			e.kind = EventRefundFailed
			if err := b.store.failRefund(ctx, tenantID, id, r.ID); err != nil {
				return false, err
			}
		}
		added, err := b.store.add(ctx, tenantID, id, e)
		if err != nil {
			return false, err
		}
		isNew = isNew || added && e.kind == EventRefunded
	}
	return isNew, b.store.sumRefunds(ctx, tenantID, id)
}
