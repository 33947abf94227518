package usage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// A tenant that never had a plan has no quotas. A cap on its events per UTC day limits how much it
// can store (rules: usage#recording). Only events of tenants without a subscription are counted.
//
// Invariant: a batch locks the daily count of a tenant after the tenant's streams. Once the count
// of the day exists, concurrent batches of a tenant on any instances cannot exceed the cap
// together.

func dayOf(now time.Time) int64 { return HourOf(now.UTC().Truncate(24*time.Hour)) / 24 }

// untilTomorrow returns errDailyCap with the time until the next UTC day as RetryAfter.
func untilTomorrow(now time.Time) error {
	refusal := *errDailyCap
	refusal.RetryAfter = now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
	return &refusal
}

// limitDailyEvents sets the remaining events of the day on the streams of tenants whose batch could
// exceed the cap.
func (l *ledger) limitDailyEvents(ctx context.Context, streams []*stream) error {
	batch := map[uuid.UUID]int64{}
	for _, s := range streams {
		if l.dailyCap > 0 && s.allowance.Billing.isOfNoSubscription() {
			batch[s.key.TenantID] += s.events()
		}
	}
	if len(batch) == 0 {
		return nil
	}
	recorded, err := l.store.eventsOfDay(ctx, slices.Collect(maps.Keys(batch)), dayOf(l.clock.Now()))
	if err != nil {
		return err
	}
	for id, events := range batch {
		left := max(0, l.dailyCap-recorded[id])
		if events <= left {
			continue
		}
		switch had, err := l.hadPlan(ctx, id); {
		case err != nil:
			return err
		case had:
			continue
		}
		for _, s := range streams {
			if s.key.TenantID == id {
				s.left = &left
			}
		}
	}
	return nil
}

// events returns the number of entries that record an event.
func (s *stream) events() (n int64) {
	for _, e := range s.entries {
		if e.hold == nil {
			n++
		}
	}
	return n
}

// countDay adds the stored events of tenants without a subscription to their daily counts.
func (l *ledger) countDay(ctx context.Context, streams []*stream, now time.Time) error {
	if l.dailyCap == 0 {
		return nil
	}
	stored := map[uuid.UUID]int64{}
	for _, s := range streams {
		for _, e := range s.entries {
			if s.allowance.Billing.isOfNoSubscription() && e.verdict.err == nil && e.hold == nil {
				stored[s.key.TenantID]++
			}
		}
	}
	if len(stored) == 0 {
		return nil
	}
	return l.store.addEventsOfDay(ctx, dayOf(now), stored)
}

// eventsOfDay returns the number of events that tenants recorded on a day, and locks the counts.
func (s store) eventsOfDay(ctx context.Context, tenantIDs []uuid.UUID, day int64) (map[uuid.UUID]int64, error) {
	found := make(map[uuid.UUID]int64, len(tenantIDs))
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	return found, s.db.QueryAll(ctx, sqldb.Query{
		Doing: "read events of the day",
		Text:  `SELECT tenant_id, day, events FROM usage_days WHERE tenant_id ` + among + ` ORDER BY tenant_id FOR UPDATE`,
		Args:  args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var latest, events int64
			err := scan(&id, &latest, &events)
			if latest == day {
				found[id] = events
			}
			return err
		},
	})
}

// addEventsOfDay adds to the daily counts of at least one tenant.
func (s store) addEventsOfDay(ctx context.Context, day int64, events map[uuid.UUID]int64) error {
	rows := make([]any, 0, 3*len(events))
	for _, id := range slices.SortedFunc(maps.Keys(events), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }) {
		rows = append(rows, id, day, events[id])
	}
	values, args := sqldb.InsertDistinct(s.db, rows, "uuid", "bigint", "bigint")
	err := s.exec(ctx, `INSERT INTO usage_days (tenant_id, day, events)
`+values+`
ON CONFLICT (tenant_id) DO UPDATE
SET events = CASE WHEN usage_days.day = excluded.day THEN usage_days.events ELSE 0 END + excluded.events, day = excluded.day`, args)
	return sqldb.Wrap(err, "count events of the day")
}
