package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
)

// Figure is an amount of billable usage to be reported to the payment provider.
type Figure struct {
	ID       uuid.UUID // of the event: the provider counts each id once
	TenantID uuid.UUID
	MeterID  uuid.UUID
	Quantity money.Quantity // in the unit of the meter
	At       time.Time
}

// billingQueue keeps figures until they are reported to the payment provider.
type billingQueue interface {
	// Add stores figures in the transaction of ctx, so that an event and its figure
	// are stored together or not at all. It is called while streams are locked: it
	// has to cost nothing where there are no figures, and little where there are.
	Add(ctx context.Context, figures []Figure, now time.Time) error
}

// newFigure is what is to be reported of a stored entry on a billable meter, and whether
// anything is; before is what the counter of its period showed without it. An event is
// billed when its meter is billable as it is stored: linking the first price bills
// everything that is recorded after it, also by callers who were waiting for the
// meter's lock, and removing the link ends that. Nobody is billed later for what was
// free when it was recorded.
//
// The provider cannot compute a maximum, but it adds up: an entry is reported as what
// it raised the maximum by. So at any time the figures of a period come to its maximum,
// and nothing is left for the period's end, however it ends.
func (s *stream) newFigure(e *entry, before money.Total) (f Figure, needed bool) {
	f = Figure{ID: e.id, TenantID: s.key.TenantID, MeterID: s.key.MeterID, Quantity: e.Quantity, At: e.at}
	switch s.meter.Aggregation {
	case Count:
		f.Quantity = money.One
	case Max:
		highest, _ := before.Quantity() // a maximum is that of one quantity
		f.Quantity = e.Quantity - highest
		return f, f.Quantity > 0
	case Sum, LastValue:
	}
	return f, true
}
