package usage

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// maxReservations is the maximum number of open reservations of a tenant.
	maxReservations = 10_000
	// settleAfterExpiry is how long an expired reservation can still be settled.
	settleAfterExpiry = 24 * time.Hour
)

// reservation holds units of a meter for work whose cost is known only afterwards
// (rules: usage#reservations). It is open until it is settled, released or expires.
type reservation struct {
	ID        uuid.UUID
	MeterCode string
	Quantity  money.Quantity
	ExpiresAt time.Time

	stream    StreamKey
	key       string
	released  *time.Time
	eventID   *uuid.UUID // the event that settled it
	isChanged bool       // by the current batch
}

func (r *reservation) isOpen(now time.Time) bool {
	return r != nil && r.eventID == nil && r.released == nil && now.Before(r.ExpiresAt)
}

// settledError returns errSettled with the event that settled the reservation.
func (r *reservation) settledError() error { return errSettled.With("event_id", r.eventID.String()) }

// reserve holds units for a time. The key identifies one reservation per meter: repeating the
// request returns the open reservation, or opens it again after its release or expiry. reserve
// checks, in this order: ErrUnknownMeter, errNotReservable, ErrDuplicate (the key of an event),
// errSettled, errOtherQuantity, errTooManyReservations and ErrQuotaExceeded.
func (s *Service) reserve(ctx context.Context, tenantID uuid.UUID, code string, quantity money.Quantity, key string, ttl time.Duration) (reservation, error) {
	one := &submission{
		Recording: Recording{MeterCode: code, Quantity: quantity, IdempotencyKey: &key}, tenantID: tenantID, at: s.clock.Now(), hold: &ttl,
	}
	verdicts, err := s.writer.Submit(ctx, one)
	if err != nil {
		return reservation{}, err
	}
	if verdicts[0].err != nil {
		return reservation{}, verdicts[0].err
	}
	return *verdicts[0].reservation, nil
}

// settle records the actual usage of a reservation, even if it exceeds the limits. It sets the
// meter and the key of r from the reservation. It returns errNoReservation if the reservation was
// released, or expired more than a day ago, and errSettled if it was already settled.
func (s *Service) settle(ctx context.Context, tenantID, id uuid.UUID, r Recording) (Event, error) {
	reserved, err := s.store.reservation(ctx, tenantID, id)
	if err != nil {
		return Event{}, err
	}
	r.MeterCode, r.IdempotencyKey = reserved.MeterCode, &reserved.key
	one := &submission{Recording: r, tenantID: tenantID, settles: &id}
	if err := one.setTime(s.clock.Now()); err != nil {
		return Event{}, err
	}
	verdicts, err := s.writer.Submit(ctx, one)
	if err != nil {
		return Event{}, err
	}
	if errors.Is(verdicts[0].err, ErrUnknownMeter) { // the meter was deleted
		return Event{}, errNoReservation
	}
	return verdicts[0].event, verdicts[0].err
}

// release makes the units of a reservation available again. It does nothing if the reservation was
// already released, and returns errSettled if it was settled.
func (s *Service) release(ctx context.Context, tenantID, id uuid.UUID) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		r, err := s.store.reservation(ctx, tenantID, id)
		if err != nil {
			return err
		}
		if err := s.lockStream(ctx, r.stream); err != nil {
			return err
		}
		if r, err = s.store.reservation(ctx, tenantID, id); err != nil { // it can have been settled before the lock
			return err
		}
		switch {
		case r.eventID != nil:
			return r.settledError()
		case r.released != nil:
			return nil
		}
		return s.store.releaseReservation(ctx, tenantID, id, s.clock.Now())
	})
}

// DeleteOldReservations deletes up to limit reservations that expired between from (inclusive) and
// before (exclusive), settled or not, and returns their expiry times. If a deleted reservation was
// not settled, a request with its key opens a new reservation afterwards. The key of a settled
// reservation belongs to its event and stays in use.
func (s *Service) DeleteOldReservations(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return s.store.deleteOldReservations(ctx, from, before, limit)
}

// reserve opens the reservation of an entry.
func (s *stream) reserve(e *entry, counters []*Counter, used map[eventKey]bool) verdict {
	r := s.reservations[*e.IdempotencyKey]
	switch {
	case !s.meter.isAdditive():
		return verdict{err: errNotReservable}
	case r == nil && (e.keyUsed || used[e.key(s.key)]):
		return verdict{err: ErrDuplicate}
	case r != nil && r.eventID != nil:
		return verdict{err: r.settledError()}
	case r != nil && r.Quantity != e.Quantity:
		return verdict{err: errOtherQuantity}
	case r.isOpen(s.now):
		return verdict{reservation: new(*r)}
	case *s.canOpen <= 0:
		return verdict{err: errTooManyReservations}
	}
	if _, err := judge(s.meter, s.windowOf(e, s.currentValue(e, counters), true), e.Quantity, s.bounds()); err != nil {
		return verdict{err: err}
	}
	if r == nil {
		r = &reservation{ID: sqldb.NewID(), MeterCode: s.meter.Code, Quantity: e.Quantity, stream: s.key, key: *e.IdempotencyKey}
		if s.reservations == nil {
			s.reservations = map[string]*reservation{}
		}
		s.reservations[r.key] = r
	}
	r.ExpiresAt, r.released, r.isChanged = s.now.Add(*e.hold), nil, true
	s.reserved, _ = s.reserved.Add(s.meter.units(r.Quantity))
	*s.canOpen--
	return verdict{reservation: new(*r)}
}

// checkSettlement returns the reason why an entry cannot settle its reservation, or nil.
func (s *stream) checkSettlement(e *entry) error {
	r := s.reservations[*e.IdempotencyKey]
	switch {
	case r == nil || r.ID != *e.settles:
		return errNoReservation
	case r.eventID != nil:
		return r.settledError()
	case r.released != nil || !s.now.Before(r.ExpiresAt.Add(settleAfterExpiry)):
		return errNoReservation
	}
	return nil
}

// close marks the reservation of an accepted entry as settled.
func (s *stream) close(e *entry) {
	r := s.reservations[*e.IdempotencyKey]
	if r.isOpen(s.now) {
		s.reserved = minus(s.reserved, s.meter.units(r.Quantity))
		*s.canOpen++
	}
	r.eventID, r.isChanged = &e.id, true
}

// openReservations are the open reservations of a stream.
type openReservations struct {
	count int64
	sum   money.Total
}

// units returns the units that the reservations hold.
func (o openReservations) units(m Meter) money.Total {
	if m.Aggregation == Count {
		return money.Total{Units: o.count}
	}
	return o.sum
}
