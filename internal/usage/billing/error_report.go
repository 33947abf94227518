package billing

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/usage"
)

// reportedRetention is how long figures are stored after they were reported. The provider detects
// errors within minutes and repeats notifications about them for three days.
const reportedRetention = 4 * 24 * time.Hour

// ErrorReport handles a notification about figures that the provider first accepted and then could
// not count. The figures named in the report become rejected reports.
func (r *Reporter) ErrorReport(ctx context.Context, e psp.Event) error {
	samples, total, err := r.deps.Reports.UsageErrors(ctx, e.ID)
	if err != nil {
		return psp.MarkPermanent(err)
	}
	if total > len(samples) {
		r.deps.Log.ErrorContext(ctx, "usage rejected by the payment provider; report is incomplete",
			"event", e.ID, "figures", total, "named", len(samples))
	}
	for _, s := range samples {
		f, found, err := r.findReported(ctx, s.Identifier)
		if err != nil {
			return err
		}
		r.deps.Log.ErrorContext(ctx, "usage rejected by the payment provider", "identifier", s.Identifier, "known", found, "tenant", f.TenantID,
			"meter", f.MeterID, "reason", s.Reason)
		if !found {
			continue
		}
		if err := r.store.insertRejection(ctx, rejection{Figure: f, reason: s.Reason}, r.deps.Clock.Now()); err != nil {
			return err
		}
	}
	return nil
}

// findReported returns a reported figure by its ID. The IDs of a figure and of its row in the queue
// are UUIDv7 from one transaction, so the time in the figure's ID locates the row. Carried figures
// have UUIDv5 IDs and are in a few separate rows.
func (r *Reporter) findReported(ctx context.Context, identifier string) (f usage.Figure, found bool, err error) {
	id, err := uuid.Parse(identifier[:min(len(identifier), 36)]) // it may be the idempotency key of the request, which begins with the ID
	if err != nil {
		return usage.Figure{}, false, nil //nolint:nilerr // not an ID of this service, so it is not found
	}
	var figures []usage.Figure
	switch id.Version() {
	case 7:
		figures, err = r.reportedAround(ctx, id)
	case 5:
		figures, err = r.store.reportedCarried(ctx)
	}
	if err != nil {
		return usage.Figure{}, false, err
	}
	i := slices.IndexFunc(figures, func(f usage.Figure) bool { return f.ID == id })
	if i < 0 {
		return usage.Figure{}, false, nil
	}
	return figures[i], true, nil
}

// reportedAround returns the figures that were reported from rows created around the time in an ID.
func (r *Reporter) reportedAround(ctx context.Context, id uuid.UUID) ([]usage.Figure, error) {
	const apart = int64(time.Minute / time.Millisecond)
	made := int64(binary.BigEndian.Uint64(append([]byte{0, 0}, id[:6]...)))
	return r.store.reportedBetween(ctx, boundaryID(made-apart, 0), boundaryID(made+apart, 0xff))
}

// boundaryID returns the lowest (rest 0) or highest (rest 0xff) ID of a millisecond.
func boundaryID(millisecond int64, rest byte) uuid.UUID {
	var id uuid.UUID
	for i := range id {
		id[i] = rest
	}
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(millisecond))
	copy(id[:6], at[2:])
	return id
}
