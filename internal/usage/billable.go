package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
)

// Figure is an amount of billable usage to be reported to the payment provider.
type Figure struct {
	ID       uuid.UUID // the ID of the event; the provider counts each ID once
	TenantID uuid.UUID
	MeterID  uuid.UUID
	Quantity money.Quantity // in the unit of the meter
	At       time.Time
}

// billingQueue stores figures until they are reported to the payment provider.
type billingQueue interface {
	// Add stores figures in the transaction of ctx, so that an event and its figure are stored
	// together or not at all. It is called while streams are locked, so it must be fast, and free
	// if there are no figures.
	Add(ctx context.Context, figures []Figure, now time.Time) error
}

// newFigure returns the figure to report for a stored entry and whether there is one. before is the
// value of the counter of the entry's period without the entry. An event is billed if its meter is
// billable when the event is stored: linking the first price bills all events stored afterwards,
// including events that were waiting for the lock of the meter, and removing the link stops that.
// Events that were free when they were recorded are never billed later.
//
// The part of an event that is drawn from grants is free.
//
// The provider cannot compute a maximum, only a sum. An entry is therefore reported as the amount
// by which it raises the maximum. The figures of a period always add up to its maximum, and nothing
// is left to report at the end of the period.
func (s *stream) newFigure(e *entry, before money.Total) (f Figure, needed bool) {
	f = Figure{ID: e.id, TenantID: s.key.TenantID, MeterID: s.key.MeterID, Quantity: e.Quantity, At: e.at}
	switch s.meter.Aggregation {
	case Count:
		f.Quantity = money.One
	case Max:
		highest, _ := before.Quantity() // a maximum always fits into a Quantity
		f.Quantity = e.Quantity - highest
		return f, f.Quantity > 0
	case Sum, LastValue:
	}
	f.Quantity -= e.granted
	return f, e.granted == 0 || f.Quantity > 0
}
