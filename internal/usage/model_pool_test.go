package usage_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage"
)

// modelPool holds the cap, the grants and the reservations of a stream.
type modelPool struct {
	cap          *int64
	grants       []*modelGrant
	reservations map[string]*modelReservation // by key
	open         map[string]*modelReservation // all open ones, and possibly closed ones
	named        []string                     // keys of reservations with a known ID, first known first
}

type modelGrant struct {
	rest      money.Quantity
	expiresAt time.Time // zero for never
	number    int       // in the order of creation
}

type modelReservation struct {
	id        uuid.UUID // set once it is known
	quantity  money.Quantity
	expiresAt time.Time
	released  bool
	settled   bool
	eventID   uuid.UUID // set once it is known
}

func (m *model) pool(s streamName) *modelPool {
	if m.pools[s] == nil {
		m.pools[s] = &modelPool{reservations: map[string]*modelReservation{}, open: map[string]*modelReservation{}}
	}
	return m.pools[s]
}

// valid returns the valid grants with remaining units, in the order of use.
func (p *modelPool) valid(now time.Time) []*modelGrant {
	valid := slices.DeleteFunc(slices.Clone(p.grants), func(g *modelGrant) bool {
		return g.rest == 0 || !g.expiresAt.IsZero() && !now.Before(g.expiresAt)
	})
	slices.SortFunc(valid, func(a, b *modelGrant) int {
		if a.expiresAt.IsZero() != b.expiresAt.IsZero() {
			if a.expiresAt.IsZero() {
				return 1
			}
			return -1
		}
		return cmp.Or(a.expiresAt.Compare(b.expiresAt), cmp.Compare(a.number, b.number))
	})
	return valid
}

// left returns the remaining units of the valid grants.
func (p *modelPool) left(now time.Time) (left money.Quantity) {
	for _, g := range p.valid(now) {
		left += g.rest
	}
	return left
}

func (p *modelPool) draw(now time.Time, units money.Quantity) {
	for _, g := range p.valid(now) {
		n := min(units, g.rest)
		g.rest, units = g.rest-n, units-n
	}
	if units != 0 {
		panic("more was drawn than there is")
	}
}

func (r *modelReservation) isOpen(now time.Time) bool {
	return !r.settled && !r.released && now.Before(r.expiresAt)
}

// reserved returns the units of the open reservations, excluding the reservation with the key
// except.
func (m *model) reserved(s streamName, now time.Time, except string) (reserved money.Quantity) {
	open := m.pool(s).open
	for key, r := range open {
		switch {
		case !r.isOpen(now):
			delete(open, key)
		case key == except:
		case m.meters[s.code].Aggregation == usage.Count:
			reserved += money.One
		default:
			reserved += r.quantity
		}
	}
	return reserved
}

// judge returns the part of an event that is drawn from grants, or the expected refusal.
func (m *model) judge(now time.Time, s streamName, p usage.Period, r *usage.Submission) (granted money.Quantity, refused *modelRefusal) {
	meter, pool, a := m.meters[s.code], m.pool(s), m.allowances[s.tenantID]
	used, limit, left := m.current(s, p), m.limit(s), pool.left(now)
	isHard, units := meter.Enforcement == usage.EnforcementHard, r.Quantity
	level, isOver, reserved := units, false, money.Quantity(0)
	switch meter.Aggregation {
	case usage.Max:
		level = max(used, units)
		isOver = limit != nil && level > whole(*limit)
	case usage.LastValue:
		isOver = limit != nil && level > whole(*limit)
	case usage.Sum, usage.Count:
		if meter.Aggregation == usage.Count {
			units = money.One
		}
		level = used + units
		if p.Contains(now) {
			own := ""
			if r.Settles != nil {
				own = *r.IdempotencyKey
			}
			reserved = m.reserved(s, now, own)
		}
		isBilled := a.BillsUsage && !a.IsTrial && meter.Code == sold
		available, room := left, money.Quantity(1)<<62
		if limit != nil {
			room = max(0, whole(*limit)-max(0, used-m.sum(s, p).granted))
		}
		if isHard && limit != nil {
			var fromGrants, fromRoom money.Quantity
			if isBilled {
				fromGrants = min(reserved, available)
				fromRoom = reserved - fromGrants
			} else {
				fromRoom = min(reserved, room)
				fromGrants = min(reserved-fromRoom, available)
			}
			room = max(0, room-fromRoom)
			if r.Settles == nil {
				available -= fromGrants
			}
		} else if isHard && isBilled && r.Settles == nil {
			available -= min(reserved, available)
		}
		switch {
		case isBilled:
			granted = min(units, available)
		case limit != nil:
			granted = min(max(0, units-room), available)
		}
		isOver = limit != nil && (units-granted > room || units == 0 && used-m.sum(s, p).granted > whole(*limit))
	}
	if r.Settles != nil {
		return granted, nil
	}
	isOverCap := pool.cap != nil && level+reserved > whole(*pool.cap)
	isOver = isOver && isHard
	switch {
	case isOver && (!isOverCap || *limit <= *pool.cap):
		return 0, &modelRefusal{usage.ErrQuotaExceeded, "plan", *limit, used, left}
	case isOverCap:
		return 0, &modelRefusal{usage.ErrQuotaExceeded, "cap", *pool.cap, used, left}
	}
	return granted, nil
}

func whole(units int64) money.Quantity { return money.Quantity(units) * money.One }

// settlement returns the refusal of a settlement, or closes the reservation.
func (p *modelPool) settlement(now time.Time, r *usage.Submission) *modelRefusal {
	of := p.reservations[*r.IdempotencyKey]
	switch {
	case of.settled:
		return &modelRefusal{err: usage.ErrSettled}
	case of.released || !now.Before(of.expiresAt.Add(day)):
		return &modelRefusal{err: usage.ErrNoReservation}
	}
	of.settled = true
	return nil
}

// reserve performs a reservation and returns the expected error.
func (m *model) reserve(now time.Time, r *usage.Submission) *modelRefusal {
	s := streamName{r.TenantID, r.MeterCode}
	meter, pool := m.meters[s.code], m.pool(s)
	of := pool.reservations[*r.IdempotencyKey]
	switch {
	case !meter.Active:
		return &modelRefusal{err: usage.ErrUnknownMeter}
	case meter.Aggregation != usage.Sum && meter.Aggregation != usage.Count:
		return &modelRefusal{err: usage.ErrNotReservable}
	case of == nil && m.keys[fmt.Sprint(s, *r.IdempotencyKey)] != nil:
		return &modelRefusal{err: usage.ErrDuplicate}
	case of != nil && of.settled:
		return &modelRefusal{err: usage.ErrSettled}
	case of != nil && of.quantity != r.Quantity:
		return &modelRefusal{err: usage.ErrOtherQuantity}
	case of != nil && of.isOpen(now):
		return nil
	}
	if _, refused := m.judge(now, s, m.period(s, now), r); refused != nil {
		return refused
	}
	if of == nil {
		of = &modelReservation{quantity: r.Quantity}
		pool.reservations[*r.IdempotencyKey] = of
	}
	of.expiresAt, of.released = now.Add(*r.Hold), false
	pool.open[*r.IdempotencyKey] = of
	return nil
}

// comparePool returns the difference of a reading's grants, reservations and cap, or "".
func (m *model) comparePool(s streamName, now time.Time, p usage.Period, r usage.Reading) string {
	pool, adds := m.pool(s), m.meters[s.code].Aggregation == usage.Sum || m.meters[s.code].Aggregation == usage.Count
	if left := pool.left(now); r.GrantsRemaining != money.TotalOf(left) {
		return fmt.Sprintf("%s shows %s remaining, want %s", s.code, r.GrantsRemaining, left)
	}
	if reserved := m.reserved(s, now, ""); adds && r.Reserved != money.TotalOf(reserved) {
		return fmt.Sprintf("%s shows %s reserved, want %s", s.code, r.Reserved, reserved)
	}
	if granted := m.sum(s, p).granted; adds && r.Granted != money.TotalOf(granted) {
		return fmt.Sprintf("%s shows %s granted, want %s", s.code, r.Granted, granted)
	}
	if (r.Cap == nil) != (pool.cap == nil) || r.Cap != nil && *r.Cap != *pool.cap {
		return fmt.Sprintf("%s shows another cap", s.code)
	}
	return ""
}
