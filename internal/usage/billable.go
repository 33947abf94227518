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

// BillingQueue keeps figures until they are reported to the payment provider.
type BillingQueue interface {
	// Add stores figures in the transaction of ctx, so that an event and its figure
	// are stored together or not at all. It is called while streams are locked: it
	// has to cost nothing where there are no figures, and little where there are.
	Add(ctx context.Context, figures []Figure, now time.Time) error
}

// billedByEvent reports whether each event of the stream is reported to the payment
// provider. An event is billed when its meter is billable as it is stored: linking
// the first price bills everything that is recorded after it, also by callers who
// were waiting for the meter's lock, and removing the link ends that. Nobody is
// billed later for what was free when it was recorded.
//
// The provider cannot compute a maximum, so those meters are reported once a period
// is over.
func (s *stream) billedByEvent() bool { return s.billable && s.meter.Aggregation != Max }

// figure is what is to be reported of a stored entry.
func (s *stream) figure(e *entry) Figure {
	f := Figure{ID: e.id, TenantID: s.key.TenantID, MeterID: s.key.MeterID, Quantity: e.Quantity, At: e.at}
	if s.meter.Aggregation == Count {
		f.Quantity = money.One
	}
	return f
}
