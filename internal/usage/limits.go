package usage

import "github.com/tenantry/tenantry/internal/money"

// bounds are the limits of a meter in whole units; nil is unlimited.
type bounds struct {
	limit *int64 // the effective limit: the override, otherwise the plan's quota
	cap   *int64 // the tenant's own limit
}

// Values of limited_by, which names the limit that rejected an event.
const (
	limitedByPlan = "plan"
	limitedByCap  = "cap"
)

// exceededLimit returns the limit that an event would exceed, and whether it is the plan's limit or the
// tenant's cap. isOver reports whether the event exceeds the effective limit, which rejects events
// only on a hard meter. A cap rejects events on every meter. If the event exceeds both, exceededLimit
// returns the lower one, or the effective limit if they are equal.
func (b bounds) exceededLimit(m Meter, isOver bool, level money.Total) (limit int64, by string) {
	isOverCap := b.cap != nil && level.Exceeds(*b.cap)
	if b.limit != nil && m.Enforcement == EnforcementHard && isOver && (!isOverCap || *b.limit <= *b.cap) {
		return *b.limit, limitedByPlan
	}
	if isOverCap {
		return *b.cap, limitedByCap
	}
	return 0, ""
}

// window is the state of a quota window when an event is judged.
type window struct {
	used     Counter
	reserved money.Total // held by open reservations; 0 except in the current window
	grants   money.Total // remaining units of the valid grants
	// isBilled means that the tenant's plan bills the meter, so that grants are drawn from the first
	// unit on, and not only above the limit.
	isBilled bool
	// isSettlement means that the event settles a reservation. It is always stored.
	isSettlement bool
}

// cover returns the part of an event that is drawn from grants, and whether the limit and the
// grants cover the whole event. On a hard meter, the units of open reservations are not available
// to other events. A settlement can draw units that other reservations hold.
func (w window) cover(m Meter, units money.Total, limit *int64) (drawn money.Total, isCovered bool) {
	p := pool{grants: w.grants, grantsFirst: w.isBilled}
	if limit != nil {
		p.room = new(minus(money.Total{Units: *limit}, minus(w.used.Value, w.used.Granted)))
	}
	if m.Enforcement == EnforcementHard {
		p.take(w.reserved)
		if w.isSettlement {
			p.grants = w.grants
		}
	}
	return p.take(units)
}

// pool holds the units that events can use: the room below the limit, and the grants.
type pool struct {
	room        *money.Total // nil: unlimited
	grants      money.Total
	grantsFirst bool
}

// take removes units from the pool, or all its units if it has fewer. It returns the part that is
// drawn from grants, and whether the pool had enough.
func (p *pool) take(units money.Total) (drawn money.Total, isCovered bool) {
	switch {
	case p.grantsFirst:
		drawn = minTotal(units, p.grants)
	case p.room != nil:
		drawn = minTotal(minus(units, *p.room), p.grants)
	}
	p.grants = p.grants.Sub(drawn)
	if p.room == nil {
		return drawn, true
	}
	rest := units.Sub(drawn)
	isCovered = rest.Compare(*p.room) <= 0
	*p.room = minus(*p.room, rest)
	return drawn, isCovered
}

// minus returns a - b, or 0 if b is larger.
func minus(a, b money.Total) money.Total {
	if a.Compare(b) <= 0 {
		return money.Total{}
	}
	return a.Sub(b)
}

func minTotal(a, b money.Total) money.Total {
	if a.Compare(b) < 0 {
		return a
	}
	return b
}

// quotaExceeded is ErrQuotaExceeded with the limit that the event would exceed.
func quotaExceeded(m Meter, limit int64, by string, w window) error {
	return ErrQuotaExceeded.With("meter_code", m.Code).With("limited_by", by).With("limit", limit).
		With("current_usage", shapeTotal(w.used.Value)).With("grants_remaining", shapeTotal(w.grants))
}
