// Package payments keeps what is known of the payments of invoices, so that figures, failed
// payments and time lines need no call to the provider: what each of the provider's invoices
// came to when it was last read, and what happened to it (rules: invoices#payments).
package payments

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/wallet"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// What happens to invoices and payments, as time lines name it.
const (
	EventIssued         = "invoice.issued"
	EventVoided         = "invoice.voided"
	EventSucceeded      = "payment.succeeded"
	EventFailed         = "payment.failed"
	EventActionRequired = "payment.action_required"
	EventRefunded       = "refund.created"
)

// The states of an invoice in which payments differ (rules: invoices#status).
const (
	draft      = "draft"
	statusOpen = "open"
	statusPaid = "paid"
	void       = "void"
)

var (
	errNoTenant = fault.New(fault.NotFound, "error.not_found")
	errNone     = errors.New("nothing is stored of it")
)

// Book has what is known of payments.
type Book struct {
	store  store
	clock  clock.Clock
	wallet wallet.Wallet
}

// NewBook returns the book. w reads what the book does not keep.
func NewBook(db *sqldb.DB, c clock.Clock, w wallet.Wallet) *Book {
	return &Book{store: store{db}, clock: c, wallet: w}
}

// State is what an invoice of the provider is.
type State struct {
	Invoice psp.Invoice
	// Failure is its last payment, where that has failed.
	Failure wallet.Failure
}

// LoadState returns the state of an invoice that was just read from the provider, from which it
// also learns why a payment failed. It must not be called in a transaction.
func (b *Book) LoadState(ctx context.Context, in psp.Invoice) (State, error) {
	failure, err := b.wallet.Failed(ctx, in)
	return State{in, failure}, err
}

// StoreState stores the state of a tenant's invoice, which has an id and an issue date here, and
// what has happened to it since. The caller holds the tenant's lock in a transaction.
//
// Invariant: what happened to an invoice has a key that every reading of it gives again, so
// it is stored once, however often and in whatever order states are read.
func (b *Book) StoreState(ctx context.Context, tenantID, id uuid.UUID, issued time.Time, s State) error {
	taken, err := b.store.noteState(ctx, tenantID, issued, b.failedAt(s), s)
	if err != nil || !taken || s.Invoice.Status == draft {
		return err
	}
	for _, e := range b.entries(issued, s) {
		if err := b.store.add(ctx, tenantID, id, e); err != nil {
			return err
		}
	}
	return nil
}

// IsBehind reports whether nothing, or another state, is stored of an invoice than the one
// that was read.
func (b *Book) IsBehind(ctx context.Context, tenantID uuid.UUID, in psp.Invoice) (bool, error) {
	row, err := b.store.state(ctx, tenantID, in.ID)
	if errors.Is(err, errNone) || err == nil && row.Status == nil {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return *row.Status != in.Status || row.PaidCents != in.Paid || row.OpenCents != amountDue(in) || int64(row.Attempts) != in.Attempts ||
		!sameTime(row.NextAttemptAt, in.NextAttemptAt), nil
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// amountDue is the amount of an invoice that is due: nothing while a bank debit pays it.
func amountDue(in psp.Invoice) int64 {
	if in.Status != statusOpen || in.InProgress {
		return 0
	}
	return in.Open
}

// failedAt is when the last payment failed, nil where none has.
func (b *Book) failedAt(s State) *time.Time {
	if s.Failure.Key == "" || s.Failure.At != nil {
		return s.Failure.At
	}
	now := b.now()
	return &now
}

// now is the time in the provider's precision, so that what it dates and what is dated here
// stand in one order.
func (b *Book) now() time.Time { return b.clock.Now().Truncate(time.Second) }

// entry is something that has happened to an invoice.
type entry struct {
	key, kind, currency string
	amount              int64
	declineCode         string
	nextAttemptAt       *time.Time
	at                  time.Time
}

// entries lists what is known to have happened to an invoice that is no draft.
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

// OnRefund returns the handler of the notification that some of a charge was given back. It
// reads the refunds, stores them with the invoices that the charge has paid, and calls then in
// the same transaction. It ignores an invoice that is not known here.
func (b *Book) OnRefund(then func(ctx context.Context, tenantID uuid.UUID) error) func(context.Context, psp.Event) error {
	return func(ctx context.Context, e psp.Event) error { return b.refund(ctx, e, then) }
}

func (b *Book) refund(ctx context.Context, e psp.Event, then func(ctx context.Context, tenantID uuid.UUID) error) error {
	invoices, refunds, err := b.wallet.Refunds(ctx, e.ObjectID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	if err != nil || len(refunds) == 0 {
		return err
	}
	for _, pspID := range invoices {
		tenantID, id, err := b.store.find(ctx, pspID)
		if errors.Is(err, errNone) {
			continue
		}
		if err != nil {
			return err
		}
		if err := b.store.db.Tx(ctx, func(ctx context.Context) error {
			if err := b.addRefunds(ctx, tenantID, id, refunds); err != nil {
				return err
			}
			return then(ctx, tenantID)
		}); err != nil {
			return err
		}
	}
	return nil
}

// addRefunds stores refunds, the newest of which comes first.
func (b *Book) addRefunds(ctx context.Context, tenantID, id uuid.UUID, refunds []wallet.Refund) error {
	for _, r := range slices.Backward(refunds) { // the oldest first
		e := entry{key: r.ID, kind: EventRefunded, currency: r.Currency, amount: r.Amount, at: r.At}
		if err := b.store.add(ctx, tenantID, id, e); err != nil {
			return err
		}
	}
	return b.store.sumRefunds(ctx, tenantID, id)
}
