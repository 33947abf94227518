package billing

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// holdInterval is the interval at which held figures are checked.
const holdInterval = 5 * time.Second

// errHeld means that all figures of a row are on hold.
var errHeld = errors.New("the figures are held")

// holdBack moves the figures of a row that cannot be reported yet to a separate row that is on hold.
// It returns the row with the other figures.
//
// Invariant: usage of a period is reported only after it is decided which prices bill it, so that
// these prices bill all of it (rules: usage#new-prices). Once a figure of a row is reported, the
// row has no held figures.
func (r *run) holdBack(ctx context.Context, row report) (report, error) {
	figures, err := decode(row.figures)
	if err != nil {
		return row, err
	}
	var free, held []usage.Figure
	for _, f := range figures {
		c, err := r.customer(ctx, f.TenantID)
		if err != nil {
			return row, err
		}
		if c.metered.isOnHold(f.At) {
			held = append(held, f)
		} else {
			free = append(free, f)
		}
	}
	until := r.deps.Clock.Now().Add(holdInterval)
	switch {
	case len(held) == 0:
		return row, nil
	case len(free) == 0:
		if err := r.store.holdReport(ctx, row.id, until); err != nil {
			return row, err
		}
		return row, errHeld
	}
	rest, all := row, row.figures
	// The time in the ID links a figure to its row (see findReported).
	rest.id, rest.figures = sqldb.NewID(), encode(held)
	copy(rest.id[:6], row.id[:6])
	row.figures = encode(free)
	return row, r.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := r.store.setFigures(ctx, row, all); err != nil {
			return err
		}
		return r.store.insertHeldReport(ctx, rest, until)
	})
}
